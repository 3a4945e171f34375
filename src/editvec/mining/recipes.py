"""Recipes: what counts as an edit, as data. And the names of all filters, with what each one drops.

`default` is broad and useful; `iclr19` is the paper's extraction as its released extractor does it (same number of
lines, single-line local declarations and expression statements, wrapped in one block); `prose` yields sentences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from editvec.core.errors import UserError
from editvec.syntax.canonical import Naming

FILTERS: dict[str, str] = {
    "unreadable": "commits with objects that this clone does not have",
    "vendored": "files of other projects (vendor/, third_party/, node_modules/ …)",
    "generated": "files that a program wrote",
    "lfs-pointer": "pointers to files in Git LFS",
    "filtered": "edits of files that a filter of git rewrites (filter= in HEAD's .gitattributes)",
    "too-large": "files over the size limit, missing, or not text",
    "mass-reformatting": "commits that mostly change white space in many places",
    "too-many-lines": "hunks with more changed lines than --max-lines",
    "line-counts-differ": "hunks with another number of lines after than before",
    "pure-insertion": "hunks that only add whole statements or sentences",
    "pure-deletion": "hunks that only take away whole statements or sentences",
    "crowded": "hunks with another change among the lines of context",
    "formatting": "white space and line breaks only",
    "comment": "comments only",
    "no-unit": "no statement, member or header covers the lines",
    "unaligned": "statements before and after that do not correspond",
    "syntax-error": "code that does not parse",
    "too-long": "edits with as many tokens as --max-tokens or more, on either side",
    "trivial": "edits without a single telling token",
    "rewrite": "before and after have too little in common to be one edit",
    "scattered": "sentences in which more than one phrase differs",
    "rename-only": "nothing but names of variables differs",
    "literal-only": "nothing but literals differs",
    "cherry-pick": "an edit made by the same author at the same time in an earlier commit",
    "near-duplicate": "the same edit in the same surroundings in an earlier commit or a copied file",
    "frequent": "edits seen more often than --max-repeats",
    "commit-cap": "edits beyond --max-per-commit",
}

SWITCHABLE = frozenset(
    [
        "vendored",
        "generated",
        "mass-reformatting",
        "crowded",
        "rewrite",
        "scattered",
        "trivial",
        "rename-only",
        "literal-only",
        "cherry-pick",
        "near-duplicate",
        "frequent",
        "commit-cap",
    ]
)
"""Filters that `--keep` can turn off; without the others there is nothing to make an edit of."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How edits are cut from hunks, and which of them are kept."""

    name: str
    prose: bool = False
    naming: Naming = Naming.SCOPED
    single_line_statements: bool = False
    same_line_count: bool = False
    renames: bool = True
    max_lines: int = 3
    context_lines: int = 3
    max_tokens: int = 100
    min_similarity: float = 0.4
    max_repeats: int = 30
    max_per_commit: int = 50
    max_file_bytes: int = 1_000_000
    kept: frozenset[str] = frozenset()
    """Filters that are turned off."""

    def drops(self, name: str) -> bool:
        """Whether a switchable filter is on."""
        return name not in self.kept


RECIPES = {
    "default": Recipe("default", kept=frozenset({"crowded", "trivial"})),
    "iclr19": Recipe(
        "iclr19",
        naming=Naming.BY_NAME,
        single_line_statements=True,
        same_line_count=True,
        renames=False,
        kept=frozenset({"rewrite", "rename-only"}),
    ),
    "prose": Recipe("prose", prose=True, max_lines=10, kept=frozenset({"crowded", "trivial", "rename-only"})),
}


def get_recipe(name: str, *, keep: tuple[str, ...] = (), **changes: int | None) -> Recipe:
    """A recipe by its name, with limits changed and filters turned off."""
    for filter_name in keep:
        if filter_name not in SWITCHABLE:
            raise UserError(
                f"--keep {filter_name}: not a filter that can be off. Known: {', '.join(sorted(SWITCHABLE))}."
            )
    recipe = RECIPES[name]
    given = {key: value for key, value in changes.items() if value is not None}
    return replace(recipe, kept=recipe.kept | frozenset(keep), **given)  # type: ignore[arg-type]
