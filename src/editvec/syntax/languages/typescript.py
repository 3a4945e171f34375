"""Facts about TypeScript and TSX, its dialect with markup; they build on those of JavaScript."""

from editvec.syntax.languages import javascript as js
from editvec.syntax.languages.base import Language, Spacing


def _dialect(name: str, extensions: tuple[str, ...], grammar: str) -> Language:
    return Language(
        name=name,
        extensions=extensions,
        grammar=grammar,
        comments=js.COMMENTS,
        comment_marks=(b"//", b"/*", b"*"),
        literals=js.LITERALS,
        units=(js.UNITS - {"field_definition"})
        | frozenset(
            [
                "public_field_definition",
                "interface_declaration",
                "type_alias_declaration",
                "enum_declaration",
                "property_signature",
                "method_signature",
                "abstract_class_declaration",
                "abstract_method_signature",
                "function_signature",
                "enum_assignment",
                "ambient_declaration",
            ]
        ),
        imports=js.IMPORTS,
        importing=js.IMPORTING,
        bodies=js.BODIES | {"interface_body", "enum_body", "object_type"},
        functions=js.FUNCTIONS | {"arrow_function"},
        locals_query=js.LOCALS
        + "(required_parameter pattern: (identifier) @name) (optional_parameter pattern: (identifier) @name)",
        members_query=js.MEMBERS + "(public_field_definition name: (property_identifier) @member)",
        identifiers=js.IDENTIFIERS,
        member_identifiers=js.MEMBER_IDENTIFIERS,
        member_places=frozenset({"public_field_definition"}),
        accesses=js.ACCESSES,
        modules=js.MODULES,
        type_places=frozenset({"decorator", "type", "type_arguments"}),
        promises=frozenset({"readonly", "const", "static"}),
        spacing=Spacing(words_apart=js.WORDS_APART | {"is"}),
        fixed=js.FIXED | {("nested_type_identifier", "module")},
        braces=False,
        terminator=b"",
        single_line_statements=js.SINGLE_LINE,
        wrappers=js.WRAPPERS,
        primaries=js.PRIMARIES | {"non_null_expression"},
        places=(*js.PLACES, ("type T = ", ";"), ("interface I { ", " }"), ("let v", ";")),
    )


LANGUAGES = (
    _dialect("typescript", (".ts", ".mts", ".cts"), "tree_sitter_typescript:language_typescript"),
    _dialect("tsx", (".tsx",), "tree_sitter_typescript:language_tsx"),
)
