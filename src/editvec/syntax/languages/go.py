"""Facts about Go.

Fields are reached through a receiver of any name, so only the local names of functions become canonical.
"""

from editvec.syntax.languages.base import ImportFacts, ImportForm, Language, Spacing

IMPORTING = ImportFacts(
    forms=(
        ImportForm(
            "package",
            """
            (import_spec !name path: (interpreted_string_literal (interpreted_string_literal_content) @module)) @item
            (import_spec
              name: (_) @name path: (interpreted_string_literal (interpreted_string_literal_content) @module)) @item
            """,
            "{item}",
            binds="package",
        ),
    ),
    statements=frozenset({"import_spec"}),
    scopes=frozenset({"import_declaration", "import_spec_list"}),
    header=frozenset({"package_clause"}),
    separator="/",
    ranks=(r"[^./]+(?:/|$)", ""),
    apart=True,
    group=("import (", ")"),
)

GO = Language(
    name="go",
    extensions=(".go",),
    grammar="tree_sitter_go:language",
    comments=frozenset({"comment"}),
    comment_marks=(b"//", b"/*"),
    literals=frozenset(
        [
            "interpreted_string_literal",
            "raw_string_literal",
            "rune_literal",
            "int_literal",
            "float_literal",
            "imaginary_literal",
        ]
    ),
    units=frozenset(
        [
            "short_var_declaration",
            "var_declaration",
            "var_spec",
            "const_declaration",
            "const_spec",
            "type_declaration",
            "assignment_statement",
            "expression_statement",
            "return_statement",
            "if_statement",
            "for_statement",
            "expression_switch_statement",
            "type_switch_statement",
            "select_statement",
            "expression_case",
            "type_case",
            "communication_case",
            "go_statement",
            "defer_statement",
            "send_statement",
            "inc_statement",
            "dec_statement",
            "break_statement",
            "continue_statement",
            "goto_statement",
            "labeled_statement",
            "function_declaration",
            "method_declaration",
            "field_declaration",
            "method_elem",
            "import_spec",
            "import_declaration",
            "package_clause",
        ]
    ),
    imports=frozenset({"import_spec", "import_declaration"}),
    importing=IMPORTING,
    bodies=frozenset(
        [
            "source_file",
            "block",
            "statement_list",
            "field_declaration_list",
            "interface_type",
            "import_spec_list",
            "var_spec_list",
            "default_case",
        ]
    ),
    functions=frozenset({"function_declaration", "method_declaration"}),
    locals_query="""
        (short_var_declaration left: (expression_list (identifier) @name))
        (var_spec name: (identifier) @name)
        (const_spec name: (identifier) @name)
        (range_clause left: (expression_list (identifier) @name))
        (parameter_declaration name: (identifier) @name)
        (variadic_parameter_declaration name: (identifier) @name)
        (type_switch_statement alias: (expression_list (identifier) @name))
    """,
    members_query="""
        (source_file (var_declaration (var_spec name: (identifier) @name)))
        (source_file (const_declaration (const_spec name: (identifier) @name)))
    """,
    accesses={"selector_expression": ("operand", "field")},
    modules=frozenset(
        "atomic base64 binary bufio bytes context csv errors exec filepath fmt gob gzip hex http httptest io ioutil "
        "json log maps math md5 net os rand reflect regexp runtime sha1 sha256 slices slog sort sql strconv strings "
        "sync syscall tar testing time tls unicode utf8 xml zip".split()
    ),
    selves=frozenset(),
    fixed=frozenset(
        {
            ("function_declaration", "name"),
            ("keyed_element", "literal_element", ""),
        }
    ),
    type_places=frozenset({"type_arguments"}),
    promises=frozenset({"const"}),
    spacing=Spacing(
        words_apart=frozenset("if for switch return case else import".split()),
        line_a_statement=False,
    ),
    terminator=b"",
    single_line_statements=frozenset(
        {"short_var_declaration", "var_declaration", "assignment_statement", "expression_statement"}
    ),
    wrappers=(("package p; func f() { ", " }"), ("package p; ", ""), ("package p; type T struct { ", " }")),
    import_wrapper=("package p; import (\n", "\n)"),
    primaries=frozenset(
        [
            "identifier",
            "selector_expression",
            "call_expression",
            "index_expression",
            "parenthesized_expression",
            "interpreted_string_literal",
            "raw_string_literal",
            "int_literal",
            "float_literal",
            "rune_literal",
            "true",
            "false",
            "nil",
        ]
    ),
    places=(
        ("package p; func f() { return ", " }"),
        ("package p; func f() { ", " }"),
        ("package p; func f() ", ""),
        ("package p; ", ""),
        ("package p; func f() { f", " }"),
        ("package p; type T struct { ", " }"),
        ("package p; func f(", ") { }"),
        ("package p; func f", " { }"),
        ("package p; var v ", ""),
        ("package p; import ", ""),
        ("package p; func f() { return T", " }"),
        ("package p; func f() { switch { ", " } }"),
    ),
)

LANGUAGES = (GO,)
