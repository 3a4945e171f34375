"""The types that describe a language by facts; the facts of each language are in a module of its own.

Node kinds and queries are those of the language's tree-sitter grammar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Spacing:
    """The usual white space of a language, where languages differ."""

    words_apart: frozenset[str] = frozenset()
    """Keywords that are neither called nor operands: a space separates them from a bracket or a sign after them."""
    joining: frozenset[str] = frozenset({"::"})
    """Signs without white space on either side."""
    prefixes: frozenset[str] = frozenset({"@"})
    """Signs that stand directly in front of the next token, whatever stands before them."""
    quotes: frozenset[str] = frozenset()
    """Signs, single or repeated, that stand directly around the text that they enclose."""
    roles: bool = False
    """Whether :role:`text`_ is read as one unit: a role with its colons, a quote, and underscores behind it."""
    merging: bool = True
    """Whether two adjacent signs without white space are read as one token: `- -` is not `--`."""
    calls: bool = True
    """Whether an opening bracket stands directly behind a name."""
    colon_apart: bool = False
    """Whether a colon usually has a space in front of it, as in `class A : B`."""
    tight_arguments: bool = False
    """Whether `=` has no spaces around it inside brackets, as in `f(a=1)`."""
    line_a_statement: bool = True
    """Whether the text after a semicolon outside all brackets usually begins a new line."""


PROSE = Spacing(
    joining=frozenset("-/—"),
    prefixes=frozenset(),
    quotes=frozenset("`*"),
    merging=False,
    calls=False,
    line_a_statement=False,
)


@dataclass(frozen=True, slots=True, eq=False)
class ImportForm:
    """One way to import, for reading and for writing."""

    name: str
    query: str
    """Query with one match for each imported thing.

    It captures as @item what stands for the thing alone and as @module where it comes from. The bound name is @name
    if that is captured, and the text of the form's `binds` otherwise.
    """
    text: str
    """A new statement: {head} are its first keywords, {module} and {item} what is captured.

    {quote} and {end} stand for the quotation mark and the terminator that the file uses.
    """
    binds: str = ""
    """Segment of the module that is bound if there is no @name: "first", "last", or "package" for a guess."""
    style: str = ""
    """Name of the module system, where a language has several."""
    same: str = ""
    """The form of the other module system that means the same."""
    joins: Mapping[str, str] = field(default_factory=dict)
    """For forms that can share a statement with this one: what a captured {there} becomes together with {item}."""


@dataclass(frozen=True, slots=True, eq=False)
class ImportFacts:
    """The facts about the imports of a language: their forms, and where they usually stand."""

    forms: tuple[ImportForm, ...]
    statements: frozenset[str]
    """Kinds that stand on a line of their own and import something."""
    lists: frozenset[str] = frozenset()
    """Kinds in which several imports of the same module share a statement."""
    paths: Mapping[str, str] = field(default_factory=dict)
    """Kinds around an item that have the beginning of its path in a field."""
    scopes: frozenset[str] = frozenset()
    """Kinds, besides the root, in which imports hold for the rest of the file."""
    header: frozenset[str] = frozenset()
    """Kinds that stand before the imports of a file; comments at the start of a file do, too."""
    separator: str = "."
    """The text between the segments of a module."""
    ranks: tuple[str, ...] = ()
    """Patterns of modules in the order in which they usually stand; all other modules stand where "" is."""
    apart: bool = False
    """Whether blank lines separate the ranks."""
    heads_first: tuple[str, ...] = ()
    """The first keywords of statements in the order in which they stand within a rank."""
    list_orders: tuple[str, ...] = ("lower", "exact", "type")
    """The orders in which the items of a list may be sorted, the usual one first."""
    relative: str = ""
    """How a module is named relative to the file: "path" as in `./a`, "dots" as in `..a`; "" for not at all."""
    package: str = ""
    """Query that captures as @package the packages whose names the file sees without an import."""
    outer: bool = False
    """Whether the file also sees the names of the packages around its own."""
    group: tuple[str, str] = ("", "")
    """The lines before and behind statements that are grouped in brackets."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The facts about a programming language that other packages need."""

    name: str
    extensions: tuple[str, ...]
    grammar: str
    """The source of the tree-sitter grammar, as `module:function`."""
    comments: frozenset[str]
    """Kinds of nodes that yield no tokens: comments, and doc strings if the grammar marks them."""
    comment_marks: tuple[bytes, ...]
    """Beginnings of a line that holds only a comment; a cheap test before anything is parsed."""
    literals: frozenset[str]
    """Kinds that are one token each, canonically LITERAL: whole strings (also interpolated), characters, numbers."""
    units: frozenset[str]
    """Kinds that people edit as a whole: statements, members, headers."""
    imports: frozenset[str]
    """The units that import names from elsewhere; they are edited together with the uses of those names."""
    bodies: frozenset[str]
    """Kinds that contain further units; a body that spans several lines is not part of the unit around it."""
    importing: ImportFacts
    """How the language imports."""
    functions: frozenset[str]
    """Kinds that open a scope for local names."""
    locals_query: str
    """Query that captures as @name what a function declares: locals, parameters, loop and pattern variables."""
    members_query: str
    """Query that captures what a type or the file declares.

    Names that are reached as they are, without a receiver, are captured as @name: top-level variables, and fields if
    the language allows it. Names that are reached through `this` or `self` are captured as @member.
    """
    declared: tuple[tuple[bytes, bytes], ...] = ()
    """Patterns of the text before and behind a name that declares a variable or a member.

    The text before the name is matched without the white space at its end. This is a cheap test before anything is
    parsed. Without any patterns, every occurrence of a name may be a declaration.
    """
    inline_units: frozenset[str] = frozenset()
    """Units that are expressions; outside a body they belong to the unit around them."""
    identifiers: frozenset[str] = frozenset({"identifier"})
    """Kinds of leaves that can name a variable."""
    member_identifiers: frozenset[str] = frozenset()
    """Kinds of leaves that name a member after a receiver."""
    member_places: frozenset[str] = frozenset()
    """Kinds of parents in which such a leaf declares or initialises a member of the file's own types."""
    accesses: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Kinds of member accesses, each with the field of the receiver and the field of the member."""
    modules: frozenset[str] = frozenset()
    """Names of standard modules that are seldom names of variables, too."""
    selves: frozenset[str] = frozenset({"this"})
    """Receivers whose members belong to the file's own types."""
    fixed: frozenset[tuple[str, ...]] = frozenset()
    """Positions in which an identifier is not a variable.

    Each is (kind, field) of the parent, or (grandparent's kind, parent's kind, field). The kind "*" stands for any
    kind.
    """
    type_places: frozenset[str] = frozenset()
    """Kinds of nodes in which a capitalised name is that of a type or of an attribute."""
    promises: frozenset[str] = frozenset()
    """Modifiers such as `readonly` whose validity depends on other code, not only on the declaration."""
    braces: bool = True
    """Whether the file's layout can be read from its braces without a parser.

    This needs blocks in braces, strings and comments as in C, and a grammar that quickly parses a file without its
    blocks. TypeScript's grammar takes seconds for empty type literals.
    """
    type_brackets: bool = False
    """Whether the grammar tries to read every `<` as a bracket of types, which takes long if thousands are open."""
    terminator: bytes = b";"
    """The bytes that end a statement; empty if the end of the line does."""
    single_line_statements: frozenset[str] = frozenset()
    """Kinds that the recipe `iclr19` accepts: local declarations and expression statements."""
    other_lines: bytes = b"(?!)"
    """Pattern of the beginning of a line that holds none of these statements.

    This is a cheap test before anything is parsed.
    """
    authors_query: str = ""
    """Query that captures as @name the declarations whose names the recipe `iclr19` renames everywhere.

    It captures as @kept the identifiers that the recipe never renames. "" stands for all declarations.
    """
    member_wrapper: tuple[bytes, bytes] = (b"", b"")
    """The text to put before and behind a member so that it can be parsed alone."""
    wrappers: tuple[tuple[str, str], ...] = (("", ""),)
    """The texts to put before and behind a fragment so that it can be parsed alone; tried in order."""
    import_wrapper: tuple[str, str] = ("", "")
    """The text to put before and behind imports so that they can be parsed alone."""
    spacing: Spacing = Spacing()
    empty_body: str = " { }"
    """The text that completes a header."""
    primaries: frozenset[str] = frozenset()
    """Kinds of expressions that can replace a variable anywhere, whatever the operators around it."""
    loose: str = "a || b"
    """An expression that needs parentheses in most places."""
    places: tuple[tuple[str, str], ...] = (("", ""),)
    """Texts to put before and behind an ast-grep pattern, an expression or a member; tried in order.

    They make the parser read it as the construct that it is.
    """

    @property
    def header_wrappers(self) -> tuple[tuple[str, str], ...]:
        """Return the wrappers for a header, completed by an empty body."""
        return tuple((opening, self.empty_body + closing) for opening, closing in self.wrappers)


@dataclass(frozen=True, slots=True, eq=False)
class Markup:
    """The facts about a prose format: which parts of a file are not sentences."""

    name: str
    extensions: tuple[str, ...]
    is_markdown: bool = False
    """Whether a parser of Markdown finds the blocks; then the patterns below are not used."""
    fences: tuple[tuple[str, str], ...] = ()
    """Pairs of line patterns (opening, closing) of blocks to leave out, such as code and tables.

    `{opened}` in a closing pattern stands for the text that the group of the opening pattern matched.
    """
    skip: str = "(?!)"
    """Pattern of single lines to leave out."""
    starts: str = "(?!)"
    """Pattern of lines that always begin a new paragraph, such as list items and headings."""
    follows: str = "(?!)"
    """Pattern of lines that begin a new paragraph only inside a list, as further items.

    They do so only behind a paragraph that began by this pattern or by `starts`. Elsewhere they continue a paragraph.
    """
    marker: str = ""
    """Pattern of the marks at the start of such a line that are not text, such as bullets and hashes."""
    indented_code: bool = False
    """Whether an indented block after a blank line is code."""
    spacing: Spacing = PROSE
