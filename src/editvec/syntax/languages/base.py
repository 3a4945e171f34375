"""What a language is, as facts: what one language alone has stands in its own file of facts.

Node kinds and queries are those of the language's tree-sitter grammar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Spacing:
    """How most people space a language, where languages differ."""

    words_apart: frozenset[str] = frozenset()
    """Keywords that are not called and are no operands: a bracket or a sign behind one stands apart from it."""
    joining: frozenset[str] = frozenset({"::"})
    """Signs without white space on either side."""
    prefixes: frozenset[str] = frozenset({"@"})
    """Signs that stand directly in front of what follows, whatever stands before them."""
    quotes: frozenset[str] = frozenset()
    """Signs, one or several of a kind, that stand directly around what they hold."""
    roles: bool = False
    """Whether a name between colons before a quote belongs to it, as do underscores behind it: :role:`text`, `text`_"""
    merging: bool = True
    """Whether two of a sign side by side are read as one: `- -` is not `--`."""
    calls: bool = True
    """Whether a bracket stands directly behind a name."""
    colon_apart: bool = False
    """Whether a colon mostly has a space in front of it, as in `class A : B`."""
    tight_arguments: bool = False
    """Whether `=` has no spaces around it in brackets, as in `f(a=1)`."""
    line_a_statement: bool = True
    """Whether what follows a semicolon outside all brackets mostly begins a line of its own."""


PROSE = Spacing(
    joining=frozenset("-/—"),
    prefixes=frozenset(),
    quotes=frozenset("`*"),
    merging=False,
    calls=False,
    line_a_statement=False,
)


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The facts about a programming language that the rooms above need."""

    name: str
    extensions: tuple[str, ...]
    grammar: str
    """Where its tree-sitter grammar comes from: `module:function`."""
    comments: frozenset[str]
    """Kinds that are no tokens: comments, doc strings that the grammar marks as such."""
    comment_marks: tuple[bytes, ...]
    """How a line begins that is nothing but comment: the cheap test, before anything is parsed."""
    literals: frozenset[str]
    """Kinds that are one token, canonically LITERAL: strings (interpolated ones whole), characters, numbers."""
    units: frozenset[str]
    """Kinds that people edit as a whole: statements, members, headers."""
    imports: frozenset[str]
    """Those of them that bring in names from elsewhere: edited when their uses are."""
    bodies: frozenset[str]
    """Kinds that hold further units; one that spans lines is not part of the unit around it."""
    functions: frozenset[str]
    """Kinds that open a scope for local names."""
    locals_query: str
    """Captures as @name what a function declares: locals, parameters, loop and pattern variables."""
    members_query: str
    """Captures what a type or the file declares: as @name what is reached by its bare name (top-level variables,
    and fields where the language allows it), as @member what is reached through `this` or `self`."""
    declared: tuple[tuple[bytes, bytes], ...] = ()
    """Patterns of what stands before a name and behind it where a variable or a member is declared, white space before
    it left out: the cheap test, before anything is parsed. Without any, every place may be one."""
    inline_units: frozenset[str] = frozenset()
    """Units that are expressions: outside a body they belong to the unit around them."""
    identifiers: frozenset[str] = frozenset({"identifier"})
    """Leaf kinds that can name a variable."""
    member_identifiers: frozenset[str] = frozenset()
    """Leaf kinds that name a member after a receiver."""
    member_places: frozenset[str] = frozenset()
    """Kinds of the parents in which such a leaf declares or initialises a member of the file's own."""
    accesses: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Kind of a member access → (field of the receiver, field of the member)."""
    selves: frozenset[str] = frozenset({"this"})
    """Receivers whose members are the file's own."""
    fixed: frozenset[tuple[str, ...]] = frozenset()
    """Places whose identifier is no variable: (kind, field) of the parent, or (grandparent, kind, field);
    "*" for any kind."""
    type_places: frozenset[str] = frozenset()
    """Kinds of nodes in which a capitalised name is that of a type or of an attribute."""
    promises: frozenset[str] = frozenset()
    """Words that promise something about code elsewhere: whether one can be kept, its place does not say."""
    braces: bool = True
    """Whether blocks stand in braces, with strings and comments as in C, and a file whose blocks are left out still
    parses in good time: TypeScript's grammar takes seconds over empty type literals."""
    terminator: bytes = b";"
    """What a statement ends with; empty where a line's end does."""
    single_line_statements: frozenset[str] = frozenset()
    """Kinds that the recipe `iclr19` takes: local declarations and expression statements."""
    other_lines: bytes = b"(?!)"
    """Pattern of how a line begins that belongs to none of them: the cheap test, before anything is parsed."""
    authors_query: str = ""
    """Captures as @name what the recipe `iclr19` renames wherever the name stands, and as @kept identifiers that it
    leaves alone all the same; "" for all declarations."""
    member_wrapper: tuple[bytes, bytes] = (b"", b"")
    """What to put around a member so that it parses alone."""
    wrappers: tuple[tuple[str, str], ...] = (("", ""),)
    """What to put around a fragment so that it parses alone; tried in turn."""
    import_wrapper: tuple[str, str] = ("", "")
    """What to put around imports so that they parse alone."""
    spacing: Spacing = Spacing()
    empty_body: str = " { }"
    """What makes a header whole."""
    primaries: frozenset[str] = frozenset()
    """Kinds of expressions that can stand wherever a variable can, whatever the operators around it."""
    loose: str = "a || b"
    """An expression that can stand in few places without parentheses."""
    places: tuple[tuple[str, str], ...] = (("", ""),)
    """What to put around a pattern, an expression or a member, so that it is parsed as what it is; tried in turn."""

    @property
    def header_wrappers(self) -> tuple[tuple[str, str], ...]:
        """The same for a header, which lacks its body."""
        return tuple((opening, self.empty_body + closing) for opening, closing in self.wrappers)


@dataclass(frozen=True, slots=True, eq=False)
class Markup:
    """The facts about a prose format: what stands in a file and is not sentences."""

    name: str
    extensions: tuple[str, ...]
    fences: tuple[tuple[str, str], ...] = ()
    """(opening, closing) line patterns of blocks to leave out: code, tables. `{opened}` in a closing pattern stands for
    what the group of the opening one matched."""
    preamble: str = "(?!)"
    """Pattern of the first line of a file and of the line that ends what it begins, to leave out: front matter."""
    quote: str = "(?!)"
    """Pattern of what stands in front of every line of a quotation, with a `>` for each that is around it."""
    skip: str = "(?!)"
    """Pattern of single lines to leave out."""
    starts: str = "(?!)"
    """Pattern of lines that begin a new paragraph, whatever stands before them: list items, headings."""
    follows: str = "(?!)"
    """Pattern of lines that begin a new paragraph only behind one that began so too, or by `starts`: further items of a
    list. Elsewhere they are lines of a paragraph that happen to begin so."""
    marker: str = ""
    """Pattern of what stands at the start of such a line and is no text: bullets, hashes."""
    indented_code: bool = False
    """Whether an indented block after a blank line is code."""
    spacing: Spacing = PROSE
