"""Facts about Rust."""

from editvec.syntax.languages.base import ImportFacts, ImportForm, Language, Spacing

IMPORTING = ImportFacts(
    forms=(
        ImportForm(
            "use",
            """
            (use_declaration argument: [(identifier) (scoped_identifier) (use_wildcard)] @item)
            (use_list [(identifier) (scoped_identifier) (self) (use_wildcard)] @item)
            (use_as_clause alias: (_) @name) @item
            """,
            "{head} {module}::{item};",
        ),
    ),
    statements=frozenset({"use_declaration"}),
    lists=frozenset({"use_list"}),
    paths={"scoped_use_list": "path"},
    header=frozenset({"inner_attribute_item", "extern_crate_declaration"}),
    separator="::",
    ranks=(r"(?:std|core|alloc)\b", "", r"(?:crate|self|super)\b"),
    list_orders=("exact", "lower", "type"),
)

RUST = Language(
    name="rust",
    extensions=(".rs",),
    grammar="tree_sitter_rust:language",
    comments=frozenset({"line_comment", "block_comment"}),
    comment_marks=(b"//", b"/*", b"*"),
    literals=frozenset(["string_literal", "raw_string_literal", "char_literal", "integer_literal", "float_literal"]),
    units=frozenset(
        [
            "let_declaration",
            "expression_statement",
            "if_expression",
            "match_expression",
            "for_expression",
            "while_expression",
            "loop_expression",
            "return_expression",
            "match_arm",
            "function_item",
            "function_signature_item",
            "struct_item",
            "enum_item",
            "union_item",
            "trait_item",
            "impl_item",
            "mod_item",
            "const_item",
            "static_item",
            "type_item",
            "use_declaration",
            "extern_crate_declaration",
            "field_declaration",
            "enum_variant",
            "attribute_item",
            "inner_attribute_item",
            "macro_definition",
            "associated_type",
        ]
    ),
    imports=frozenset({"use_declaration"}),
    importing=IMPORTING,
    bodies=frozenset(
        [
            "source_file",
            "block",
            "declaration_list",
            "field_declaration_list",
            "enum_variant_list",
            "match_block",
            "else_clause",
        ]
    ),
    functions=frozenset({"function_item"}),
    inline_units=frozenset(
        """if_expression match_expression for_expression while_expression loop_expression
        return_expression""".split()
    ),
    locals_query="""
        (let_declaration pattern: (identifier) @name)
        (parameter pattern: (identifier) @name)
        (parameter pattern: (mut_pattern (identifier) @name))
        (closure_parameters (identifier) @name)
        (for_expression pattern: (identifier) @name)
        (tuple_pattern (identifier) @name)
        (tuple_struct_pattern type: (_) (identifier) @name)
        (field_pattern pattern: (identifier) @name)
        (field_pattern name: (shorthand_field_identifier) @name)
        (ref_pattern (identifier) @name)
        (reference_pattern (identifier) @name)
        (captured_pattern . (identifier) @name)
        ((match_pattern (identifier) @name) (#match? @name "^[a-z_]"))
        (let_declaration pattern: (mut_pattern (identifier) @name))
    """,
    members_query="""
        (field_declaration name: (field_identifier) @member)
        (source_file (const_item name: (identifier) @name))
        (source_file (static_item name: (identifier) @name))
    """,
    identifiers=frozenset({"identifier", "shorthand_field_identifier"}),
    member_identifiers=frozenset({"field_identifier"}),
    member_places=frozenset({"field_declaration"}),
    accesses={"field_expression": ("value", "field")},
    selves=frozenset({"self"}),
    fixed=frozenset(
        {
            ("*", "type"),
            ("function_item", "name"),
            ("macro_invocation", "macro"),
            ("scoped_identifier", "name"),
            ("scoped_identifier", "path"),
            ("scoped_type_identifier", "path"),
            ("use_declaration", "argument"),
            ("use_list", ""),
            ("enum_variant", "name"),
            ("attribute", ""),
        }
    ),
    type_places=frozenset({"attribute", "type_arguments"}),
    promises=frozenset({"const", "static"}),
    spacing=Spacing(
        words_apart=frozenset("if for while match return in else".split()),
        joining=frozenset({"::", "..", "..="}),
        prefixes=frozenset({"'", "#"}),
    ),
    single_line_statements=frozenset({"let_declaration", "expression_statement"}),
    member_wrapper=(b"impl C {", b"}"),
    wrappers=(("fn f() { ", " }"), ("", ""), ("struct S { ", " }"), ("impl S { ", " }")),
    primaries=frozenset(
        [
            "identifier",
            "field_expression",
            "call_expression",
            "index_expression",
            "self",
            "parenthesized_expression",
            "scoped_identifier",
            "string_literal",
            "integer_literal",
            "float_literal",
            "boolean_literal",
            "char_literal",
            "macro_invocation",
        ]
    ),
    places=(
        ("fn f() { return ", "; }"),
        ("fn f() { ", " }"),
        ("fn f() ", ""),
        ("", ""),
        ("fn f() { f", "; }"),
        ("fn f() { match x { ", " } }"),
        ("struct S { ", " }"),
        ("impl S { ", " }"),
        ("type T = ", ";"),
        ("fn f(", ") { }"),
        ("fn f", " { }"),
        ("fn f() { let ", " = x; }"),
        ("fn f() { m!", "; }"),
        ("use ", ";"),
    ),
)

LANGUAGES = (RUST,)
