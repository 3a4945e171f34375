"""Facts about JavaScript; those about TypeScript build on them."""

from editvec.syntax.languages.base import ImportFacts, ImportForm, Language, Spacing

_FROM = "source: (string (string_fragment) @module)"
_REQUIRE = """value: (call_expression function: (identifier) @_require
    arguments: (arguments . (string (string_fragment) @module) .)) (#eq? @_require "require"))"""
_SOURCE = "{quote}{module}{quote}"
_IMPORT_FORMS = (
    ImportForm(
        "default",
        f"(import_statement (import_clause (identifier) @item @name) {_FROM})",
        "{head} {item} from " + _SOURCE + "{end}",
        style="import",
        same="require",
        joins={"named": "{item}, {there}"},
    ),
    ImportForm(
        "all",
        f"(import_statement (import_clause (namespace_import (identifier) @name) @item) {_FROM})",
        "{head} {item} from " + _SOURCE + "{end}",
        style="import",
    ),
    ImportForm(
        "named",
        f"""
        (import_statement (import_clause (named_imports (import_specifier name: (_) @name !alias) @item)) {_FROM})
        (import_statement (import_clause (named_imports (import_specifier alias: (_) @name) @item)) {_FROM})
        """,
        "{head} {{ {item} }} from " + _SOURCE + "{end}",
        style="import",
        same="require names",
        joins={"default": "{there}, {{ {item} }}"},
    ),
    ImportForm(
        "effect", f'(import_statement . "import" . {_FROM}) @item', "{head} " + _SOURCE + "{end}", style="import"
    ),
    ImportForm(
        "require",
        f"(variable_declarator name: (identifier) @item @name {_REQUIRE}",
        "{head} {item} = require(" + _SOURCE + "){end}",
        style="require",
        same="default",
    ),
    ImportForm(
        "require names",
        f"""
        (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @item @name) {_REQUIRE}
        (variable_declarator name: (object_pattern (pair_pattern value: (identifier) @name) @item) {_REQUIRE}
        """,
        "{head} {{ {item} }} = require(" + _SOURCE + "){end}",
        style="require",
        same="named",
    ),
)
IMPORTING = ImportFacts(
    forms=_IMPORT_FORMS,
    statements=frozenset({"import_statement", "lexical_declaration", "variable_declaration"}),
    lists=frozenset({"named_imports", "object_pattern"}),
    header=frozenset({"hash_bang_line", "expression_statement string"}),
    separator="/",
    ranks=("node:", "", r"[@~]/", r"\.\.", r"\."),
    relative="path",
)

COMMENTS = frozenset({"comment", "html_comment", "hash_bang_line"})
LITERALS = frozenset({"string", "template_string", "number", "regex"})
FUNCTIONS = frozenset(
    [
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    ]
)
UNITS = (
    frozenset(
        [
            "lexical_declaration",
            "variable_declaration",
            "expression_statement",
            "return_statement",
            "throw_statement",
            "break_statement",
            "continue_statement",
            "if_statement",
            "for_statement",
            "for_in_statement",
            "while_statement",
            "do_statement",
            "switch_statement",
            "switch_case",
            "try_statement",
            "catch_clause",
            "with_statement",
            "debugger_statement",
            "labeled_statement",
            "import_statement",
            "export_statement",
            "class_declaration",
            "field_definition",
            "decorator",
        ]
    )
    | FUNCTIONS
)
IMPORTS = frozenset({"import_statement"})
BODIES = frozenset(["program", "statement_block", "class_body", "switch_body", "switch_default", "else_clause"])
LOCALS = """
    (variable_declarator name: (identifier) @name)
    (object_pattern (shorthand_property_identifier_pattern) @name)
    (pair_pattern value: (identifier) @name)
    (array_pattern (identifier) @name)
    (rest_pattern (identifier) @name)
    (assignment_pattern left: (identifier) @name)
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)
    (arrow_function parameter: (identifier) @name)
    (for_in_statement left: (identifier) @name)
    (catch_clause parameter: (identifier) @name)
"""
MEMBERS = """
    (program (lexical_declaration (variable_declarator name: (identifier) @name)))
    (program (variable_declaration (variable_declarator name: (identifier) @name)))
    (assignment_expression left: (member_expression object: (this) property: (property_identifier) @member))
"""
IDENTIFIERS = frozenset({"identifier", "shorthand_property_identifier_pattern"})
MEMBER_IDENTIFIERS = frozenset({"property_identifier", "private_property_identifier"})
MODULES = frozenset("assert child_process console crypto fs http https os path process querystring util zlib".split())
ACCESSES = {"member_expression": ("object", "property")}
FIXED = frozenset(
    {
        ("function_declaration", "name"),
        ("function_expression", "name"),
        ("class_declaration", "name"),
        ("new_expression", "constructor"),
        ("import_specifier", "name"),
        ("import_specifier", "alias"),
        ("import_clause", ""),
        ("namespace_import", ""),
    }
)
WORDS_APART = frozenset("if for while switch return in catch yield await case throw else from import".split())
SINGLE_LINE = frozenset({"lexical_declaration", "variable_declaration", "expression_statement"})
WRAPPERS = (("", ""), ("class C { ", " }"), ("function f() { ", " }"))
PRIMARIES = frozenset(
    [
        "identifier",
        "member_expression",
        "call_expression",
        "subscript_expression",
        "this",
        "parenthesized_expression",
        "string",
        "number",
        "template_string",
        "array",
        "object",
        "true",
        "false",
        "null",
        "undefined",
    ]
)
PLACES = (
    ("", ""),
    ("return ", ";"),
    ("f", ";"),
    ("const ", ";"),
    ("class C { ", " }"),
    ("({ ", " })"),
    ("function f", " { }"),
    ("function f(", ") { }"),
    ("import ", ' from "m";'),
    ("if (b) { } ", ""),
    ("switch (x) { ", " }"),
    ("try { } ", ""),
)

JAVASCRIPT = Language(
    name="javascript",
    extensions=(".js", ".mjs", ".cjs", ".jsx"),
    grammar="tree_sitter_javascript:language",
    comments=COMMENTS,
    comment_marks=(b"//", b"/*", b"*"),
    literals=LITERALS,
    units=UNITS,
    imports=IMPORTS,
    importing=IMPORTING,
    bodies=BODIES,
    functions=FUNCTIONS | {"arrow_function"},
    locals_query=LOCALS + "(formal_parameters (identifier) @name)",
    members_query=MEMBERS + "(field_definition property: (property_identifier) @member)",
    identifiers=IDENTIFIERS,
    member_identifiers=MEMBER_IDENTIFIERS,
    member_places=frozenset({"field_definition"}),
    accesses=ACCESSES,
    modules=MODULES,
    fixed=FIXED,
    type_places=frozenset({"decorator"}),
    promises=frozenset({"const", "static"}),
    spacing=Spacing(words_apart=WORDS_APART),
    braces=False,
    terminator=b"",
    single_line_statements=SINGLE_LINE,
    wrappers=WRAPPERS,
    primaries=PRIMARIES,
    places=PLACES,
)

LANGUAGES = (JAVASCRIPT,)
