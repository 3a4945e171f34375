"""Apply a rule, a learned pattern or an edit shown once to files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from editvec.core.errors import UserError
from editvec.core.match import Match
from editvec.data.progress import Stages, silent
from editvec.data.project import Project, project_of
from editvec.patterns.folder import load, pick, top_of, used_folder
from editvec.patterns.pattern import MIN_CONFIDENCE, Pattern
from editvec.rewrite.journal import Journal
from editvec.rewrite.plan import FilePlan
from editvec.rewrite.review import Choose, Reviewed, review
from editvec.rewrite.writer import find_files, is_worth_reading, write_file
from editvec.rules.rule import Rule, load_rules
from editvec.suggest.complete import LIKELY
from editvec.suggest.examples import finders_like, rules_like
from editvec.suggest.match import Finder, plan_files
from editvec.suggest.suppression import silence_of
from editvec.syntax.languages import Language, known, language_of
from editvec.vcs.git import open_repository
from editvec.vcs.worktree import File

if TYPE_CHECKING:
    from editvec.neural.model import EditModel

_FILES_AT_ONCE = 500
Like = Sequence[tuple[str, str]]


@dataclass(slots=True)
class Applied:
    """The result of applying rules or examples; files are written only if that was requested."""

    plans: list[FilePlan] = field(default_factory=list)
    """The plans of the files that change, in order."""
    num_matches: int = 0
    num_files: int = 0
    problems: list[str] = field(default_factory=list)
    """Reasons why files were not written, one line per file."""
    filtered: int = 0
    """Number of files that were skipped because a git filter rewrites them."""


class _Means(NamedTuple):
    """What finds matches: rules, and optionally a finder per language."""

    rules: list[Rule]
    finders: Mapping[str, Finder]
    pattern: Pattern | None = None
    """The learned pattern that the rule is of."""

    @property
    def languages(self) -> set[str]:
        """Return the languages of the rules and the finders."""
        return {rule.language for rule in self.rules} | self.finders.keys()

    def names(self, match: Match) -> frozenset[str]:
        """Return the names by which settings and comments refer to what found a match."""
        return self.pattern.names if self.pattern is not None else frozenset({match.rule})


def apply(
    rule: str | Path | None = None,
    paths: Sequence[str | Path] = (),
    *,
    like: Like = (),
    editor: bool = False,
    model: EditModel | str | Path | None = None,
    sure: float = 0.8,
    language: str | None = None,
    repo: str | Path = ".",
    patterns: Path | None = None,
    everywhere: bool = False,
    force_exclude: bool = False,
    config: Path | None = None,
    isolated: bool = False,
    update: bool = False,
    possible: bool = False,
    choose: Choose | None = None,
    watch: Callable[[FilePlan], None] | None = None,
    progress: Stages = silent,
) -> Applied:
    """Apply a rule, a learned pattern, or examples to files; write only with `update` or `choose`.

    `rule` is the number or name of a pattern learned in `repo`, or a file of ast-grep rules; `like` gives examples as
    pairs of before and after. `paths` are files and folders; for a pattern, the default is the work tree of `repo`.
    With `editor`, the neural editor also rewrites statements where no rule matches, if they are like the examples and
    its confidence is at least `sure`. A pattern for which the evidence is insufficient (`Pattern.is_due`) is refused
    unless `everywhere` is True. With `update`, the places of a learned pattern are written only if they are likely, or
    with `possible`. Places that a comment or the settings suppress are left out. The settings are those of the nearest
    file; `config`, `isolated` and `force_exclude` are as in `find`. `choose` is called for every match, and the edits
    that it returns are written at once. `watch` is called with the plan of each file that changes. `undo` takes back
    what was written.

    Raises:
        UserError: The rule, the pattern or a path does not exist, or no rule can be induced from the examples.

    Examples:
        >>> import editvec
        >>> done = editvec.apply("2")
        >>> done.num_matches, done.num_files
        (5, 3)
        >>> done.plans[0].edits[0].text
        b'nameof(order)'
    """
    _check_given(rule, like, editor)
    project = project_of(repo, config, isolated)
    files = _files(rule, paths, repo)
    spoken = [language] if language else _languages(files) if like else []
    means = _means(rule, like, spoken, editor, model, sure, repo, patterns, everywhere, project)
    if means.pattern is not None and (update or choose is not None):
        _check_writable(means.pattern, project, possible or everywhere or choose is not None)
    applied = Applied()
    plans = _plans(means, files, applied, progress, project, force_exclude)
    with Journal("apply", files) as journal:
        if choose is None:
            for plan in plans:
                _take(plan, applied, journal if update else None, watch)
            return applied
        _review(plans, choose, applied, journal)
    return applied


def _check_given(rule: str | Path | None, like: Like, editor: bool) -> None:
    if editor and not like:
        raise UserError("--editor needs examples. Give some with --like BEFORE AFTER.")
    if rule is None and not like:
        raise UserError("nothing to apply. Give a pattern, a rule file or examples.")


def _review(plans: Iterator[FilePlan], choose: Choose, applied: Applied, journal: Journal) -> None:
    reviewed = Reviewed(problems=applied.problems)
    try:
        review(plans, choose, reviewed, journal)
    finally:
        applied.num_matches, applied.num_files = reviewed.num_matches, reviewed.num_files


def _files(rule: str | Path | None, paths: Sequence[str | Path], repo: str | Path) -> list[Path]:
    """Return the files and folders to change: `paths`, or for a pattern the work tree."""
    if paths:
        return [Path(path) for path in paths]
    if rule is not None and is_pattern(rule):
        return [top_of(repo)]
    raise UserError("no files to change. Give files or folders, or - for stdin.")


def _take(plan: FilePlan, applied: Applied, journal: Journal | None, watch: Callable[[FilePlan], None] | None) -> None:
    """Record a plan, pass it to `watch`, and write the file if there is a journal."""
    if plan.problem:
        applied.problems.append(f"{plan.path}: not written: {plan.problem}.")
        return
    applied.plans.append(plan)
    applied.num_matches += len(plan.edits)
    applied.num_files += 1
    if watch is not None:
        watch(plan)
    if journal is not None and plan.path is not None:
        try:
            write_file(plan.path, plan.before, plan.after, journal, plan.edits)
        except (OSError, UserError) as error:
            applied.problems.append(f"{plan.path}: not written: {error}")


def apply_to_text(
    data: bytes,
    rule: str | Path | None = None,
    *,
    like: Like = (),
    editor: bool = False,
    model: EditModel | str | Path | None = None,
    sure: float = 0.8,
    language: str | None = None,
    repo: str | Path = ".",
    patterns: Path | None = None,
    everywhere: bool = False,
    config: Path | None = None,
    isolated: bool = False,
) -> FilePlan:
    """Return the plan of applying a rule, a pattern or examples to a text; the parameters are those of `apply`.

    Raises:
        UserError: As in `apply`; also if the rules are for several languages.
    """
    spoken = [language] if language else []
    project = project_of(repo, config, isolated)
    means = _means(rule, like, spoken, editor, model, sure, repo, patterns, everywhere, project)
    if len(means.languages) > 1:
        raise UserError("the rules are for several languages. Give files, not stdin.")
    (name,) = means.languages
    found = plan_files(
        means.rules, [(None, data)], name, also=means.finders.get(name), keep=_keep(means, name, project)
    )
    return found[0] if found else FilePlan(None, data, ())


def is_pattern(rule: str | Path) -> bool:
    """Return whether a rule argument is the number or name of a learned pattern, not a file."""
    return not Path(rule).suffix and not Path(rule).exists() and len(Path(rule).parts) == 1


def _means(
    rule: str | Path | None,
    like: Like,
    languages: Sequence[str],
    editor: bool,
    model: EditModel | str | Path | None,
    sure: float,
    repo: str | Path,
    folder: Path | None,
    everywhere: bool,
    project: Project,
) -> _Means:
    if not like:
        return _means_of(str(rule), repo, folder, everywhere, project)
    finders = finders_like(like, languages, model, sure) if editor else {}
    return _Means(rules_like(like, languages, needed=not finders), finders)


def _keep(means: _Means, language: str, project: Project) -> Callable[[Path | None, bytes, Match], bool]:
    """Return a function that says of a match whether neither a comment nor the settings suppress it."""

    def keep(path: Path | None, data: bytes, match: Match) -> bool:
        file = File("" if path is None else str(path.resolve()), language, data)
        return silence_of(project, means.names(match), file, match.start, match.end) is None

    return keep


def _check_writable(pattern: Pattern, project: Project, possible: bool) -> None:
    """Check that the places of a pattern may be written: unseen only if they are likely or `possible` is allowed."""
    if project.pattern(pattern.names).report_only:
        raise UserError(f"the settings only report pattern {pattern.name} (report-only). Leave out -U and -i.")
    if pattern.confidence < LIKELY and not possible:
        raise UserError(
            f"the places of pattern {pattern.name} are possible, not likely ({pattern.confidence:.0%})."
            " Use -i to review each place, or -U --possible to write all."
        )


def _means_of(name: str, repo: str | Path, folder: Path | None, everywhere: bool, project: Project) -> _Means:
    """Return the rules of a file, or the rule of a learned pattern."""
    path = Path(name)
    if path.is_file():
        try:
            return _Means(load_rules(path.read_text(encoding="utf-8"), name), {})
        except UnicodeDecodeError:
            raise UserError(f"{name} is not UTF-8. Give a YAML file with rules.") from None
    if path.suffix in (".yml", ".yaml") or len(path.parts) > 1:
        raise UserError(f"{name} is not a rule file. Create one with editvec rule, or give --like BEFORE AFTER.")
    learned = load(used_folder(folder, project, open_repository(repo)))
    (pattern,) = pick(learned, [name])
    least = project.min_confidence(pattern.names, None, MIN_CONFIDENCE)
    if pattern.rule is None:
        raise UserError(f"pattern {name} has no verified rule. Give an example instead: --like BEFORE AFTER.")
    if not everywhere and not pattern.is_due(least):
        evidence = pattern.evidence
        said = "no evidence"
        if evidence is not None:
            said = f"people edited {evidence.edited} of {evidence.matched + evidence.left} such places"
        raise UserError(
            f"the history does not show that all matches of pattern {name} should be edited ({said})."
            " Use --everywhere to apply it anyway."
        )
    return _Means([pattern.rule], {}, pattern)


def _plans(
    means: _Means, paths: Sequence[Path], applied: Applied, progress: Stages, project: Project, force_exclude: bool
) -> Iterator[FilePlan]:
    """Yield the plans of the files that change; a rule is applied only to files of its language.

    Files that the settings exclude are left out unless they are named, and with `force_exclude` always.
    """
    named = set() if force_exclude else {file for file in paths if file.is_file()}
    wanted = means.languages
    files: dict[str, list[Path]] = {}
    tally: Counter[str] = Counter()
    for file in find_files(paths, wanted, tally):
        if file not in named and not project.covers(file.resolve()):
            continue
        found = language_of(file.name)
        name = found.name if found is not None and found.name in wanted else next(iter(wanted))
        files.setdefault(name, []).append(file)
    applied.filtered = tally["filtered"]
    total = sum(len(each) for each in files.values())
    with progress("Looking", "files") as advance:
        done = num_matches = 0
        for name in (each for each in known() if each in files):
            chosen = [rule for rule in means.rules if rule.language == name]
            for start in range(0, len(files[name]), _FILES_AT_ONCE):
                part = files[name][start : start + _FILES_AT_ONCE]
                texts = [(file, data) for file in part if is_worth_reading(data := file.read_bytes())]
                keep = _keep(means, name, project)
                for plan in plan_files(chosen, texts, name, also=means.finders.get(name), keep=keep):
                    num_matches += len(plan.edits)
                    yield plan
                done += len(part)
                advance(done, total, num_matches)


def _languages(paths: Sequence[Path]) -> list[str]:
    """Return the languages of the files: code before prose, each sorted by descending frequency."""
    counts: Counter[str] = Counter()
    for file in find_files(paths, set(known()), Counter()):
        if (found := language_of(file.name)) is not None:
            counts[found.name] += 1
    return sorted(counts, key=lambda name: (not isinstance(known()[name], Language), -counts[name]))
