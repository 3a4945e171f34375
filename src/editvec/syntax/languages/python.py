"""Facts about Python."""

import re
import sys

from editvec.syntax.languages.base import ImportFacts, ImportForm, Language, Spacing

_STANDARD = "|".join(sorted(map(re.escape, sys.stdlib_module_names)))

IMPORTING = ImportFacts(
    forms=(
        ImportForm(
            "future",
            "(future_import_statement name: (dotted_name) @item)",
            "from __future__ import {item}",
        ),
        ImportForm(
            "module",
            """
            (import_statement name: (dotted_name) @item @module)
            (import_statement name: (aliased_import name: (dotted_name) @module alias: (identifier) @name) @item)
            """,
            "import {item}",
            binds="first",
        ),
        ImportForm(
            "from",
            """
            (import_from_statement module_name: (_) @module name: (dotted_name) @item @name)
            (import_from_statement module_name: (_) @module name: (aliased_import alias: (identifier) @name) @item)
            (import_from_statement module_name: (_) @module (wildcard_import) @item)
            """,
            "from {module} import {item}",
        ),
    ),
    statements=frozenset({"import_statement", "import_from_statement", "future_import_statement"}),
    lists=frozenset({"import_from_statement", "future_import_statement"}),
    header=frozenset({"expression_statement string"}),
    ranks=("__future__$", rf"(?:{_STANDARD})(?:\.|$)", "", r"\."),
    apart=True,
    heads_first=("import", "from"),
    list_orders=("type", "lower", "exact"),
    relative="dots",
)

PYTHON = Language(
    name="python",
    extensions=(".py", ".pyi"),
    grammar="tree_sitter_python:language",
    comments=frozenset({"comment"}),
    comment_marks=(b"#",),
    literals=frozenset({"string", "integer", "float", "concatenated_string"}),
    units=frozenset(
        [
            "expression_statement",
            "return_statement",
            "raise_statement",
            "assert_statement",
            "delete_statement",
            "pass_statement",
            "break_statement",
            "continue_statement",
            "global_statement",
            "nonlocal_statement",
            "import_statement",
            "print_statement",
            "exec_statement",
            "import_from_statement",
            "future_import_statement",
            "if_statement",
            "elif_clause",
            "for_statement",
            "while_statement",
            "with_statement",
            "try_statement",
            "except_clause",
            "except_group_clause",
            "function_definition",
            "class_definition",
            "decorator",
            "type_alias_statement",
            "match_statement",
            "case_clause",
        ]
    ),
    imports=frozenset({"import_statement", "import_from_statement", "future_import_statement"}),
    importing=IMPORTING,
    bodies=frozenset({"module", "block", "decorated_definition"}),
    functions=frozenset({"function_definition"}),
    locals_query="""
        (parameters (identifier) @name)
        (lambda_parameters (identifier) @name)
        (default_parameter name: (identifier) @name)
        (typed_parameter (identifier) @name)
        (typed_default_parameter name: (identifier) @name)
        (list_splat_pattern (identifier) @name)
        (dictionary_splat_pattern (identifier) @name)
        (assignment left: (identifier) @name)
        (assignment left: (pattern_list (identifier) @name))
        (assignment left: (tuple_pattern (identifier) @name))
        (assignment left: (list_pattern (identifier) @name))
        (augmented_assignment left: (identifier) @name)
        (named_expression name: (identifier) @name)
        (for_statement left: (identifier) @name)
        (for_statement left: (pattern_list (identifier) @name))
        (for_statement left: (tuple_pattern (identifier) @name))
        (for_in_clause left: (identifier) @name)
        (for_in_clause left: (pattern_list (identifier) @name))
        (for_in_clause left: (tuple_pattern (identifier) @name))
        (as_pattern_target (identifier) @name)
    """,
    members_query="""
        (assignment left: (attribute object: (identifier) @_self attribute: (identifier) @member)
          (#eq? @_self "self"))
        (class_definition body: (block (expression_statement (assignment left: (identifier) @name @member))))
        (module (expression_statement (assignment left: (identifier) @name)))
    """,
    accesses={"attribute": ("object", "attribute")},
    modules=frozenset(
        "argparse ast asyncio base64 bisect collections configparser contextlib copy csv ctypes dataclasses datetime "
        "decimal difflib functools gc glob gzip hashlib heapq hmac html http importlib inspect io itertools json "
        "logging math mimetypes multiprocessing operator os pathlib pickle pkgutil platform pprint random re secrets "
        "shlex shutil signal socket sqlite3 ssl statistics struct subprocess sys tarfile tempfile textwrap threading "
        "time traceback typing unicodedata unittest urllib uuid warnings weakref xml zipfile zlib".split()
    ),
    selves=frozenset({"self", "cls"}),
    fixed=frozenset(
        {
            ("type", ""),
            ("keyword_argument", "name"),
            ("function_definition", "name"),
            ("class_definition", "name"),
            ("dotted_name", ""),
        }
    ),
    type_places=frozenset({"attribute", "decorator", "type"}),
    braces=False,
    spacing=Spacing(
        words_apart=frozenset(
            "if elif for while match return in and or not is except with yield await assert case raise else from"
            " import".split()
        ),
        prefixes=frozenset(),
        tight_arguments=True,
        line_a_statement=False,
    ),
    terminator=b"",
    single_line_statements=frozenset({"expression_statement"}),
    primaries=frozenset(
        [
            "identifier",
            "attribute",
            "call",
            "subscript",
            "parenthesized_expression",
            "string",
            "integer",
            "float",
            "list",
            "dictionary",
            "tuple",
            "set",
            "true",
            "false",
            "none",
        ]
    ),
    empty_body=" pass",
    loose="a or b",
    places=(
        ("", ""),
        ("return ", ""),
        ("f", ""),
        ("f(", ")"),
        ("def f", ": pass"),
        ("def f(", "): pass"),
        ("class C:\n    ", ""),
        ("from m import ", ""),
        ("try:\n    pass\n", ""),
        ("if b:\n    pass\n", ""),
        ("with ", " as v: pass"),
        ("{", "}"),
    ),
)

LANGUAGES = (PYTHON,)
