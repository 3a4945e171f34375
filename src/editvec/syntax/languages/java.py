"""Facts about Java."""

from editvec.syntax.languages.base import ImportFacts, ImportForm, Language, Spacing

IMPORTING = ImportFacts(
    forms=(
        ImportForm(
            "name",
            "(import_declaration [(identifier) (scoped_identifier)] @item @module .)",
            "{head} {module};",
            binds="last",
        ),
        ImportForm(
            "all",
            "(import_declaration [(identifier) (scoped_identifier)] @module (asterisk) @item)",
            "{head} {module}.*;",
        ),
    ),
    statements=frozenset({"import_declaration"}),
    header=frozenset({"package_declaration"}),
    package="(package_declaration (_) @package)",
)

_FUNCTIONS = ["method_declaration", "constructor_declaration", "compact_constructor_declaration", "static_initializer"]

JAVA = Language(
    name="java",
    extensions=(".java",),
    type_brackets=True,
    grammar="tree_sitter_java:language",
    comments=frozenset({"line_comment", "block_comment"}),
    comment_marks=(b"//", b"/*", b"*"),
    literals=frozenset(
        [
            "string_literal",
            "character_literal",
            "decimal_integer_literal",
            "hex_integer_literal",
            "octal_integer_literal",
            "binary_integer_literal",
            "decimal_floating_point_literal",
            "hex_floating_point_literal",
        ]
    ),
    units=frozenset(
        [
            "local_variable_declaration",
            "expression_statement",
            "return_statement",
            "throw_statement",
            "yield_statement",
            "break_statement",
            "continue_statement",
            "if_statement",
            "for_statement",
            "enhanced_for_statement",
            "while_statement",
            "do_statement",
            "synchronized_statement",
            "switch_expression",
            "try_statement",
            "try_with_resources_statement",
            "catch_clause",
            "assert_statement",
            "explicit_constructor_invocation",
            "field_declaration",
            "constant_declaration",
            "class_declaration",
            "interface_declaration",
            "enum_declaration",
            "record_declaration",
            "enum_constant",
            "annotation_type_declaration",
            "import_declaration",
            "package_declaration",
            "annotation",
            "marker_annotation",
        ]
        + _FUNCTIONS
    ),
    imports=frozenset({"import_declaration"}),
    importing=IMPORTING,
    bodies=frozenset(
        [
            "program",
            "block",
            "class_body",
            "interface_body",
            "enum_body",
            "enum_body_declarations",
            "annotation_type_body",
            "constructor_body",
            "switch_block",
            "switch_block_statement_group",
            "switch_rule",
        ]
    ),
    functions=frozenset(_FUNCTIONS),
    locals_query="""
        (variable_declarator name: (identifier) @name)
        (formal_parameter name: (identifier) @name)
        (catch_formal_parameter name: (identifier) @name)
        (enhanced_for_statement name: (identifier) @name)
        (resource name: (identifier) @name)
        (lambda_expression parameters: (identifier) @name)
        (inferred_parameters (identifier) @name)
        (instanceof_expression name: (identifier) @name)
    """,
    members_query="(field_declaration declarator: (variable_declarator name: (identifier) @name @member))",
    declared=(
        # A type stands in front: no operator, no opening bracket and no keyword that an expression follows.
        (
            rb"(?<=[\w>\])?.*/$\x80-\xff])(?<!\w\.)(?<!\breturn)(?<!\bnew)(?<!\bthrow)(?<!\bcase)(?<!\belse)(?<!\bassert)",
            rb"\s*(?:=(?!=)|[;,)\[:]|/[/*])",
        ),
        # A further variable of the same type; a list of arguments never continues in this way.
        (rb"(?<=,)", rb"(?:\s*+,\s*+[\w$]++){0,30}+\s*+(?:[;\[]|=(?!=)|/[/*])"),
        # A parameter of a lambda.
        (rb"", rb"(?:\s*+,\s*+[\w$]++){0,30}+\s*+\)?\s*->"),
    ),
    accesses={"field_access": ("object", "field")},
    fixed=frozenset(
        {
            ("method_invocation", "name"),
            ("method_declaration", "name"),
            ("constructor_declaration", "name"),
            ("class_declaration", "name"),
            ("method_reference", ""),
            ("scoped_identifier", "name"),
            ("scoped_identifier", "scope"),
            ("annotation", "name"),
            ("marker_annotation", "name"),
            ("element_value_pair", "key"),
            ("enum_constant", "name"),
            ("switch_label", ""),
        }
    ),
    type_places=frozenset({"annotation", "marker_annotation", "type_arguments"}),
    promises=frozenset({"final", "static", "sealed"}),
    spacing=Spacing(
        words_apart=frozenset("if for while switch return catch yield assert case throw else import".split()),
        colon_apart=True,
    ),
    single_line_statements=frozenset({"local_variable_declaration", "expression_statement"}),
    other_lines=rb"(?:return|public|private|protected|void|import|package)\b",
    member_wrapper=(b"class C {", b"}"),
    wrappers=(("class C { void m() { ", " } }"), ("class C { ", " }"), ("", "")),
    primaries=frozenset(
        [
            "identifier",
            "field_access",
            "method_invocation",
            "array_access",
            "this",
            "parenthesized_expression",
            "object_creation_expression",
            "string_literal",
            "decimal_integer_literal",
            "decimal_floating_point_literal",
            "character_literal",
            "true",
            "false",
            "null_literal",
        ]
    ),
    places=(
        ("class C { Object m() { return ", "; } }"),
        ("class C { void m() { ", " } }"),
        ("class C { void m() ", " }"),
        ("class C { ", " }"),
        ("class C { void m() { f", "; } }"),
        ("class C { void m() { var ", "; } }"),
        ("class C { void m() { ", "; } }"),
        ("class C { void m(", ") { } }"),
        ("class C { void m", " { } }"),
        ("class C { ", " f; }"),
        ("class C { void m() { try { } ", " } }"),
        ("", ""),
    ),
)

LANGUAGES = (JAVA,)
