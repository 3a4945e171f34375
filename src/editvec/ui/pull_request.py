"""What is said of a pull request: patterns that are due on its lines, and the places that its own edits left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from editvec.core.errors import GitError, UserError
from editvec.core.match import Suggestion
from editvec.core.text import FileText
from editvec.data.project import project_of
from editvec.patterns.find import Found, find
from editvec.rewrite.patch import unified_diff
from editvec.suggest.complete import LIKELY
from editvec.suggest.finish import Finished, finish, plans_of
from editvec.suggest.imports import ImportChanges
from editvec.suggest.intents import changed_lines
from editvec.suggest.session import ShownLine
from editvec.syntax.lexer import LexedText
from editvec.syntax.token import encode
from editvec.vcs.changes import read_changes
from editvec.vcs.git import open_repository, shallow_commits, top_of

_MAX_LISTED = 100
"""Maximum number of places in a text; GitHub refuses longer comments and summaries."""
_MAX_CODE = 120
MARK = "<!-- editvec -->"
"""The mark by which a comment is found again."""


@dataclass(frozen=True, slots=True)
class PullRequestReview:
    """What there is to say of a pull request."""

    top: Path
    found: Found
    """The places on changed lines where patterns are due."""
    finished: Finished
    """The places that the edits of the pull request left out."""

    @property
    def num_places(self) -> int:
        """Return the number of all places."""
        return self.found.num_suggestions + len(self.finished.suggestions)

    @property
    def seed(self) -> ShownLine | None:
        """Return a changed line for the comment: of the edit with the surest place, else of a place that is due."""
        shown = {edit.id: edit.demonstrations for edit in self.finished.edits}
        for each in self.finished.suggestions:
            return shown[each.edit][0]
        places = [each for pattern in self.found.patterns for each in pattern.suggestions]
        return ShownLine(places[0].path, places[0].line) if places else None

    def text(self) -> str:
        """Return the list of places as Markdown."""
        lines = [MARK]
        if self.finished.suggestions:
            lines += ["**The edits of this pull request are still due elsewhere:**", ""]
            for edit in self.finished.edits:
                own = [each for each in self.finished.suggestions if each.edit == edit.id]
                lines += [f"- {_code(edit.summary)}", *(f"  {each}" for each in _listed(own))] if own else []
        for pattern in self.found.patterns:
            if pattern.suggestions:
                lines += ["", f"**{_escaped(pattern.title or pattern.name)}** ({_code(pattern.name)}):", ""]
                lines += _listed(list(pattern.suggestions))
        if not self.num_places:
            lines.append("No place is due.")
        return "\n".join(lines) + "\n"

    def patch(self) -> bytes:
        """Return the likely places as a patch for `git apply`; of overlapping places, the surest is taken."""
        places = self.finished.places(self.finished.likely) | self.found.writable()
        chosen: dict[Suggestion, ImportChanges] = {}
        for each in sorted(places, key=lambda place: -place.confidence):
            if all(each.path != o.path or each.end <= o.start or o.end <= each.start for o in chosen):
                chosen[each] = places[each]
        parts = []
        for plan in plans_of(self.top, chosen):
            if not plan.problem and plan.path is not None:
                name = encode(plan.path.relative_to(self.top).as_posix())
                parts.append(unified_diff(name, plan.before, plan.all_edits))
        return b"".join(parts)


def review_pull_request(
    repo: str | Path = ".",
    *,
    base: str,
    patterns: Path | None = None,
    config: Path | None = None,
    with_finish: bool = True,
) -> PullRequestReview:
    """Return what there is to say of the changes between the branch point with `base` and the files of a work tree.

    Patterns are searched for if a folder of patterns is given or named in the settings; nothing is learned.

    Raises:
        UserError: The clone is too shallow, so that the changes are unknown, or there are no patterns.
    """
    repository = open_repository(repo)
    top = top_of(repository)
    done = repository.attempt("merge-base", "--end-of-options", base, "HEAD")
    if done.returncode:
        if shallow_commits(repository):
            raise UserError(f"the clone is shallow: it does not hold {base}. Use actions/checkout with fetch-depth: 0.")
        raise GitError(f"there is no branch point with {base}. Give the branch that the pull request is for.")
    since = done.stdout.decode().strip()
    project = project_of(repo, config)
    found = Found((), {}, project=project)
    if patterns is not None or project.patterns_folder is not None:
        found = find(repo=repo, patterns=patterns, changed_since=since, config=config)
        changed = _changed(top, since)
        found.patterns = tuple(
            each.with_suggestions(tuple(place for place in each.suggestions if _touches(place, changed)))
            for each in found.patterns
        )
    finished = finish(repo=repo, changed_since=base, config=config) if with_finish else Finished(top)
    return PullRequestReview(top, found, finished)


def _changed(top: Path, since: str) -> dict[str, list[tuple[int, int]]]:
    """Return the changed lines [first, end) of each changed file, counted from 1; new files are left out."""
    changes = read_changes(open_repository(top), since=since)
    lines = {}
    for file in changes.files:
        if file.before is not None and file.after is not None:
            before, after = LexedText(FileText(file.before).utf8), LexedText(FileText(file.after).utf8)
            lines[file.path] = [(start + 1, end + 1) for _, _, start, end in changed_lines(before, after)]
    return lines


def _touches(place: Suggestion, changed: dict[str, list[tuple[int, int]]]) -> bool:
    """Return whether a place is on a changed line; a file that is not listed is new."""
    last = place.line + place.before.count("\n")
    return place.path not in changed or any(place.line < end and start <= last for start, end in changed[place.path])


def _listed(places: list[Suggestion]) -> Iterator[str]:
    for each in places[:_MAX_LISTED]:
        possible = "" if each.confidence >= LIKELY else ", possible"
        change = f"{_code(each.before)} → {_code(each.after)}"
        yield f"- {_code(f'{each.path}:{each.line}')} ({each.confidence:.0%}{possible}): {change}"
    if len(places) > _MAX_LISTED:
        yield f"- and {len(places) - _MAX_LISTED} more"


def _code(text: str) -> str:
    """Return text as inline code of Markdown, in one line and shortened."""
    line = " ".join(text.encode("utf-8", "replace").decode().split()) or "(nothing)"
    line = line if len(line) <= _MAX_CODE else line[: _MAX_CODE - 1] + "…"
    # More backquotes than the text has in all are longer than any run of them.
    fence = "`" * (line.count("`") + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`"


def _escaped(text: str) -> str:
    marks = r"\`*_[]<>#|~@"
    return "".join("\\" + mark if mark in marks else mark for mark in " ".join(text.split()))
