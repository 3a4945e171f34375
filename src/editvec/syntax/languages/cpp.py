"""Facts about C++, and about C, which its grammar also reads."""

from editvec.syntax.languages.base import ImportFacts, ImportForm, Language, Spacing

IMPORTING = ImportFacts(
    forms=(
        ImportForm(
            "include",
            "(preproc_include path: [(system_lib_string) (string_literal)] @item @module)",
            "#include {module}",
        ),
    ),
    statements=frozenset({"preproc_include"}),
    scopes=frozenset({"preproc_ifdef", "linkage_specification", "declaration_list"}),
    header=frozenset({"preproc_call", "preproc_def"}),
    separator="/",
    ranks=("<[^./]+>", "<", ""),
    apart=True,
)

CPP = Language(
    name="cpp",
    extensions=(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h", ".c", ".ipp", ".inl"),
    type_brackets=True,
    grammar="tree_sitter_cpp:language",
    comments=frozenset({"comment"}),
    comment_marks=(b"//", b"/*", b"*"),
    literals=frozenset(
        [
            "string_literal",
            "raw_string_literal",
            "concatenated_string",
            "char_literal",
            "number_literal",
            "user_defined_literal",
        ]
    ),
    units=frozenset(
        [
            "declaration",
            "expression_statement",
            "return_statement",
            "throw_statement",
            "co_return_statement",
            "break_statement",
            "continue_statement",
            "goto_statement",
            "if_statement",
            "for_statement",
            "for_range_loop",
            "while_statement",
            "do_statement",
            "switch_statement",
            "case_statement",
            "try_statement",
            "catch_clause",
            "function_definition",
            "field_declaration",
            "class_specifier",
            "struct_specifier",
            "enum_specifier",
            "union_specifier",
            "enumerator",
            "alias_declaration",
            "using_declaration",
            "namespace_definition",
            "type_definition",
            "template_declaration",
            "static_assert_declaration",
            "preproc_include",
            "preproc_def",
            "preproc_function_def",
            "friend_declaration",
            "field_initializer",
        ]
    ),
    imports=frozenset({"preproc_include", "using_declaration"}),
    importing=IMPORTING,
    bodies=frozenset(
        [
            "translation_unit",
            "compound_statement",
            "field_declaration_list",
            "declaration_list",
            "enumerator_list",
            "else_clause",
            "preproc_if",
            "preproc_ifdef",
            "preproc_else",
            "preproc_elif",
            "linkage_specification",
            "template_declaration",
        ]
    ),
    functions=frozenset({"function_definition"}),
    locals_query="""
        (init_declarator declarator: (identifier) @name)
        (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
        (init_declarator declarator: (reference_declarator (identifier) @name))
        (declaration declarator: (identifier) @name)
        (declaration declarator: (pointer_declarator declarator: (identifier) @name))
        (declaration declarator: (array_declarator declarator: (identifier) @name))
        (structured_binding_declarator (identifier) @name)
        (parameter_declaration declarator: (identifier) @name)
        (parameter_declaration declarator: (pointer_declarator declarator: (identifier) @name))
        (parameter_declaration declarator: (reference_declarator (identifier) @name))
        (optional_parameter_declaration declarator: (identifier) @name)
        (optional_parameter_declaration declarator: (reference_declarator (identifier) @name))
        (for_range_loop declarator: (identifier) @name)
        (for_range_loop declarator: (reference_declarator (identifier) @name))
    """,
    members_query="""
        (field_declaration declarator: (field_identifier) @name @member)
        (field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name @member))
        (field_declaration declarator: (array_declarator declarator: (field_identifier) @name @member))
        (translation_unit (declaration declarator: (init_declarator declarator: (identifier) @name)))
    """,
    member_identifiers=frozenset({"field_identifier"}),
    member_places=frozenset({"field_declaration", "field_initializer", "pointer_declarator", "array_declarator"}),
    accesses={"field_expression": ("argument", "field")},
    fixed=frozenset(
        {
            ("function_declarator", "declarator"),
            ("qualified_identifier", "name"),
            ("preproc_def", "name"),
            ("enumerator", "name"),
        }
    ),
    type_places=frozenset({"attribute"}),
    promises=frozenset({"const", "constexpr", "static", "final"}),
    spacing=Spacing(
        words_apart=frozenset("if for while switch return catch using case throw else".split()),
        joining=frozenset({"::", "->"}),
        colon_apart=True,
    ),
    single_line_statements=frozenset({"declaration", "expression_statement"}),
    member_wrapper=(b"class C {", b"};"),
    wrappers=(("void f() { ", " }"), ("", ""), ("class C { ", " };")),
    primaries=frozenset(
        [
            "identifier",
            "field_expression",
            "call_expression",
            "subscript_expression",
            "this",
            "parenthesized_expression",
            "qualified_identifier",
            "string_literal",
            "number_literal",
            "char_literal",
            "true",
            "false",
            "null",
        ]
    ),
    places=(
        ("void f() { return ", "; }"),
        ("void f() { ", " }"),
        ("void f() ", ""),
        ("", ""),
        ("void f() { f", "; }"),
        ("void f() { int ", "; }"),
        ("class C { ", " };"),
        ("void f() { ", "; }"),
        ("void f(", ") { }"),
        ("void f", " { }"),
        ("", " f();"),
        ("class C { C() : ", " { } };"),
        ("void f() { switch (x) { ", " } }"),
    ),
)

LANGUAGES = (CPP,)
