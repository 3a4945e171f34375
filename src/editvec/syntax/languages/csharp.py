"""Facts about C#.

The tokens are those of Roslyn (`?.` is two tokens), so that mined edits agree with the published data.
"""

from editvec.syntax.languages.base import ImportFacts, ImportForm, Language, Spacing

IMPORTING = ImportFacts(
    forms=(
        ImportForm(
            "namespace",
            "(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @item @module)",
            "{head} {module};",
        ),
        ImportForm("alias", "(using_directive name: (_) @name (_) @module .) @item", "{head} {name} = {module};"),
    ),
    statements=frozenset({"using_directive"}),
    scopes=frozenset({"namespace_declaration", "file_scoped_namespace_declaration", "declaration_list"}),
    header=frozenset({"extern_alias_directive", "preproc_if"}),
    ranks=(r"System(?:\.|$)", ""),
    package="""
        (namespace_declaration name: (_) @package)
        (file_scoped_namespace_declaration name: (_) @package)
    """,
    outer=True,
)

_FUNCTIONS = [
    "method_declaration",
    "constructor_declaration",
    "destructor_declaration",
    "operator_declaration",
    "conversion_operator_declaration",
    "indexer_declaration",
    "property_declaration",
    "event_declaration",
    "accessor_declaration",
]

_STATEMENTS = [
    "local_declaration_statement",
    "expression_statement",
    "return_statement",
    "throw_statement",
    "yield_statement",
    "break_statement",
    "continue_statement",
    "goto_statement",
    "if_statement",
    "for_statement",
    "foreach_statement",
    "while_statement",
    "do_statement",
    "using_statement",
    "lock_statement",
    "fixed_statement",
    "switch_statement",
    "try_statement",
    "catch_clause",
    "checked_statement",
    "unsafe_statement",
    "local_function_statement",
    "global_statement",
]

_MEMBERS = [
    "field_declaration",
    "event_field_declaration",
    "class_declaration",
    "struct_declaration",
    "interface_declaration",
    "record_declaration",
    "enum_declaration",
    "enum_member_declaration",
    "delegate_declaration",
    "using_directive",
    "namespace_declaration",
    "file_scoped_namespace_declaration",
    "attribute_list",
]

CSHARP = Language(
    name="csharp",
    extensions=(".cs",),
    type_brackets=True,
    grammar="tree_sitter_c_sharp:language",
    comments=frozenset({"comment", "preproc_region", "preproc_endregion", "preproc_pragma", "preproc_nullable"}),
    comment_marks=(b"//", b"/*", b"*", b"#"),
    literals=frozenset(
        [
            "string_literal",
            "verbatim_string_literal",
            "raw_string_literal",
            "interpolated_string_expression",
            "character_literal",
            "integer_literal",
            "real_literal",
        ]
    ),
    units=frozenset(_STATEMENTS + _MEMBERS + _FUNCTIONS),
    imports=frozenset({"using_directive"}),
    importing=IMPORTING,
    bodies=frozenset(
        [
            "compilation_unit",
            "declaration_list",
            "block",
            "accessor_list",
            "enum_member_declaration_list",
            "switch_body",
            "switch_section",
            "preproc_if",
            "preproc_elif",
            "preproc_else",
        ]
    ),
    functions=frozenset(_FUNCTIONS),
    locals_query="""
        (variable_declarator name: (identifier) @name)
        (parameter name: (identifier) @name)
        (parameter_list name: (identifier) @name)
        (implicit_parameter) @name
        (foreach_statement left: (identifier) @name)
        (catch_declaration name: (identifier) @name)
        (declaration_expression name: (identifier) @name)
        (declaration_pattern name: (identifier) @name)
        (var_pattern name: (identifier) @name)
        (recursive_pattern name: (identifier) @name)
        (parenthesized_variable_designation (identifier) @name)
        (from_clause name: (identifier) @name)
        (let_clause . (identifier) @name)
    """,
    members_query="""
        (field_declaration (variable_declaration (variable_declarator name: (identifier) @name @member)))
        (event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name @member)))
        (property_declaration name: (identifier) @name @member)
    """,
    declared=(
        # A type stands in front: no operator, no opening bracket and no keyword that an expression follows.
        (
            rb"(?<=[\w>\])?*/\x80-\xff])(?<!\breturn)(?<!\bnew)(?<!\bthrow)(?<!\bin)(?<!\bis)(?<!\bas)(?<!\bawait)"
            rb"(?<!\bout)(?<!\bref)(?<!\bcase)(?<!\belse)",
            rb"\s*(?:=(?!=)|[;,){\[]|in\b|/[/*])",
        ),
        # A further variable of the same type; a list of arguments never continues in this way.
        (rb"(?<=,)", rb"(?:\s*+,\s*+@?\w++){0,30}+\s*+(?:[;\[]|=(?!=)|/[/*])"),
        # A property that implements an interface explicitly.
        (rb"(?<=\.)", rb"\s*\{"),
        # A parameter of a lambda.
        (rb"", rb"(?:\s*+,\s*+@?\w++){0,30}+\s*+\)?\s*=>"),
    ),
    authors_query="""
        (variable_declarator name: (identifier) @name)
        (method_declaration parameters: (parameter_list (parameter name: (identifier) @name)))
        (method_declaration parameters: (parameter_list name: (identifier) @name))
        (constructor_declaration parameters: (parameter_list (parameter name: (identifier) @name)))
        (constructor_declaration parameters: (parameter_list name: (identifier) @name))
        (lambda_expression parameters: (parameter_list (parameter name: (identifier) @name)))
        (implicit_parameter) @name
        (foreach_statement left: (identifier) @name)
        (catch_declaration name: (identifier) @name)
        (property_declaration name: (identifier) @name)
        (generic_name (identifier) @kept)
        (declaration_expression name: (identifier) @kept)
        (declaration_pattern name: (identifier) @kept)
        (from_clause name: (identifier) @kept)
        (method_declaration name: (identifier) @kept)
        (class_declaration name: (identifier) @kept)
    """,
    identifiers=frozenset({"identifier", "implicit_parameter"}),
    accesses={"member_access_expression": ("expression", "name")},
    selves=frozenset({"this"}),
    fixed=frozenset(
        {
            ("*", "type"),
            ("*", "returns"),
            ("member_binding_expression", "name"),
            ("argument", "name"),
            ("attribute_argument", "name"),
            ("attribute", "name"),
            ("generic_name", ""),
            ("type_argument_list", ""),
            ("base_list", ""),
            ("qualified_name", "name"),
            ("qualified_name", "qualifier"),
            ("using_directive", ""),
            ("typeof_expression", "type"),
            ("as_expression", "right"),
            ("is_expression", "right"),
            ("method_declaration", "name"),
            ("class_declaration", "name"),
            ("initializer_expression", "assignment_expression", "left"),
        }
    ),
    type_places=frozenset({"attribute", "base_list", "type", "type_argument_list"}),
    promises=frozenset({"readonly", "const", "static", "sealed"}),
    spacing=Spacing(
        words_apart=frozenset(
            "if for foreach while switch return in and or not is catch using lock yield await case throw else"
            " from".split()
        ),
        colon_apart=True,
    ),
    single_line_statements=frozenset({"local_declaration_statement", "expression_statement"}),
    other_lines=rb"(?:return|public|private|protected|internal|void|yield\s+(?:return|break))\b|using\s+[\w.]+;|[gs]et;",
    member_wrapper=(b"class C {", b"}"),
    wrappers=(("class C { void M() { ", " } }"), ("class C { ", " }"), ("", "")),
    primaries=frozenset(
        [
            "identifier",
            "member_access_expression",
            "invocation_expression",
            "element_access_expression",
            "parenthesized_expression",
            "generic_name",
            "object_creation_expression",
            "string_literal",
            "integer_literal",
            "real_literal",
            "character_literal",
            "boolean_literal",
            "null_literal",
            "typeof_expression",
            "verbatim_string_literal",
            "interpolated_string_expression",
        ]
    ),
    places=(
        ("class C { object M() { return ", "; } }"),
        ("class C { void M() { ", " } }"),
        ("class C { void M() ", " }"),
        ("class C { ", " }"),
        ("class C { void M() { F(", "); } }"),
        ("class C { void M() { F", "; } }"),
        ("class C { void M() { var ", "; } }"),
        ("class C { void M() { ", "; } }"),
        ("class C { void M(", ") { } }"),
        ("class C { void M", " { } }"),
        ("class C { ", " F; }"),
        ("class C { object M() { return x", "; } }"),
        ("class C { object M() { return x?", "; } }"),
        ("class C { object M() { return new T ", "; } }"),
        ('class C { string M() { return $"', '"; } }'),
        ("class C { void M() { try { } ", " } }"),
        ("class C { void M() { if (b) { } ", " } }"),
        ("class C { object M() ", " }"),
        ("[A", " ] class C { }"),
        ("[", "] class C { }"),
        ("", ""),
    ),
)

LANGUAGES = (CSHARP,)
