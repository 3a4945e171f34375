"""Apply a rule, a learned pattern or an edit shown once to files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from editvec.core.errors import UserError
from editvec.core.match import Match
from editvec.core.splice import TextEdit
from editvec.data.progress import Stages, silent
from editvec.data.project import Project, project_of
from editvec.patterns.folder import load, pick, used_folder
from editvec.patterns.pattern import MIN_CONFIDENCE, Pattern
from editvec.patterns.verify import judge_plans, remember, verdicts, with_judgement, with_verdicts
from editvec.rewrite.journal import Journal
from editvec.rewrite.plan import FilePlan
from editvec.rewrite.review import Bring, Choose, Reviewed, review
from editvec.rewrite.writer import find_files, is_worth_reading, stopped, write_file
from editvec.rules.rule import Rule, load_rules
from editvec.suggest.complete import LIKELY
from editvec.suggest.examples import finders_like, rules_like, without_imports
from editvec.suggest.imports import NO_IMPORTS, ImportChanges, import_edits, with_imports
from editvec.suggest.match import Finder, plan_files
from editvec.suggest.suppression import silence_of
from editvec.suggest.verify import Judgement
from editvec.syntax.languages import Language, known, language_of
from editvec.vcs.git import open_repository, top_of
from editvec.vcs.worktree import File

if TYPE_CHECKING:
    from editvec.neural.model import EditModel

_FILES_AT_ONCE = 500
Like = Sequence[tuple[str, str]]
Watch = Callable[[FilePlan], None]
"""A function that sees the plan of each file that changes."""


@dataclass(slots=True)
class Applied:
    """The result of applying rules or examples; files are written only if that was requested."""

    plans: list[FilePlan] = field(default_factory=list)
    """The plans of the files that change, in order."""
    num_matches: int = 0
    num_files: int = 0
    written: list[Path] = field(default_factory=list)
    """The files that were written, in order."""
    problems: list[str] = field(default_factory=list)
    """Reasons why files were not written, one line per file."""
    filtered: int = 0
    """Number of files that were skipped because a git filter rewrites them."""
    verification: Judgement | None = None
    """What the command said of the places, if one judged them."""
    refused: list[str] = field(default_factory=list)
    """The places that the command refused or had no time for, each with the reason, one line each."""


class _Means(NamedTuple):
    """What finds matches: rules, and optionally a finder per language."""

    rules: list[Rule]
    finders: Mapping[str, Finder]
    imports: ImportChanges = NO_IMPORTS
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
    verify: str | None = None,
    choose: Choose | None = None,
    watch: Watch | None = None,
    progress: Stages = silent,
) -> Applied:
    """Apply a rule, a learned pattern, or examples to files; write only with `update` or `choose`.

    `rule` is the number or name of a pattern learned in `repo`, or a file of ast-grep rules; `like` gives examples as
    pairs of before and after. `paths` are files and folders; for a pattern, the default is the work tree of `repo`.
    With `editor`, the neural editor also rewrites statements where no rule matches, if they are like the examples and
    its confidence is at least `sure`. A pattern for which the evidence is insufficient (`Pattern.is_due`) is refused
    unless `everywhere` is True. With `update`, the places of a learned pattern are written only if they are likely, or
    with `possible`. Places that a comment or the settings suppress are left out; `config`, `isolated` and
    `force_exclude` are as in `find`. With `verify`, a command (empty: that of the settings) judges the places in a
    scratch copy of the work tree, and those that it refuses are left out. The edits that `choose` returns for a match
    are written at once. `watch` is called with the plan of each file that changes. `undo` takes back what was written.

    Raises:
        UserError: The rule, the pattern or a path does not exist, or no rule can be induced from the examples.

    Examples:
        >>> import editvec
        >>> editvec.apply("1").plans[0].edits[0].text
        b'nameof(order)'
    """
    project = project_of(repo, config, isolated)
    verify = project.verify_command(verify)
    files = _files(rule, paths, repo, like, editor)
    spoken = [language] if language else _languages(files) if like else []
    means = _means(rule, like, spoken, editor, model, sure, repo, patterns, everywhere, project)
    if update or choose is not None:
        _check_writable(means.pattern, project, possible or everywhere or choose is not None)
    applied, top = Applied(), _top(means, repo, files, verify)
    plans: Iterable[FilePlan] = _plans(means, files, applied, progress, project, force_exclude)
    if verify is not None:
        plans = _verified(plans, means, top, patterns, project, verify, applied, progress)
    plans = (with_imports(plan, _path_below(top, plan.path), means.imports) for plan in plans)
    with Journal("apply", files) as journal:
        if choose is not None:
            _ask(plans, choose, applied, journal, partial(_imports, means.imports, top))
        else:
            _take_all(plans, applied, journal if update else None, watch)
    return applied


def _top(means: _Means, repo: str | Path, files: Sequence[Path], verify: str | None) -> Path:
    """Return the folder to which paths are relative: the top of the work tree, if it is needed."""
    if means.pattern is not None:
        return top_of(open_repository(repo))
    return Path.cwd() if verify is None else top_of(open_repository(_folder_of(files[0])))


def _verified(
    plans: Iterable[FilePlan],
    means: _Means,
    top: Path,
    folder: Path | None,
    project: Project,
    command: str,
    applied: Applied,
    progress: Stages,
) -> list[FilePlan]:
    """Return plans without the places that a command refuses; of a pattern, its folder keeps what it said."""
    named = [(_path_below(top, plan.path), plan) for plan in plans]
    passed, applied.refused, said = judge_plans(top, named, means.imports, command, progress)
    applied.verification = said
    if means.pattern is not None and said.num_places:
        remember(used_folder(folder, project, open_repository(top)), [with_judgement(means.pattern, said)])
    return passed


def _take_all(plans: Iterable[FilePlan], applied: Applied, journal: Journal | None, watch: Watch | None) -> None:
    """Record plans, and write their files if there is a journal; raise StoppedError if the person interrupts."""
    try:
        for plan in plans:
            _take(plan, applied, journal, watch)
    except KeyboardInterrupt:
        raise stopped(applied.written) from None


def _ask(plans: Iterable[FilePlan], choose: Choose, applied: Applied, journal: Journal, bring: Bring) -> None:
    """Review plans; what was accepted is counted even if the person interrupts."""
    reviewed = Reviewed(problems=applied.problems)
    try:
        review(plans, choose, reviewed, journal, bring)
    finally:
        applied.num_matches, applied.num_files = reviewed.num_matches, reviewed.num_files


def _files(
    rule: str | Path | None, paths: Sequence[str | Path], repo: str | Path, like: Like, editor: bool
) -> list[Path]:
    """Return the files and folders to change: `paths`, or for a pattern the work tree."""
    if editor and not like:
        raise UserError("--editor needs examples. Give some with --like BEFORE AFTER.")
    if rule is None and not like:
        raise UserError("nothing to apply. Give a pattern, a rule file or examples.")
    if paths:
        return [Path(path) for path in paths]
    if rule is not None and is_pattern(rule):
        return [top_of(open_repository(repo))]
    raise UserError("no files to change. Give files or folders, or - for stdin.")


def _take(plan: FilePlan, applied: Applied, journal: Journal | None, watch: Watch | None) -> None:
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
            write_file(plan.path, plan.before, plan.after, journal, plan.all_edits)
        except (OSError, UserError) as error:
            applied.problems.append(f"{plan.path}: not written: {error}")
            applied.plans.pop()
            applied.num_matches -= len(plan.edits)
            applied.num_files -= 1
        else:
            applied.written.append(plan.path)


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
    if not found:
        return FilePlan(None, data, ())
    return with_imports(found[0], f"stdin{known()[name].extensions[0]}", means.imports)


def _folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _path_below(top: Path, path: Path | None) -> str:
    """Return the path of a file relative to a folder, with slashes; as it is if it is elsewhere."""
    if path is None:
        return ""
    real = path.resolve()
    return real.relative_to(top).as_posix() if real.is_relative_to(top) else real.as_posix()


def _imports(changes: ImportChanges, top: Path, plan: FilePlan, data: bytes) -> list[TextEdit]:
    """Return the edits of imports that a file needs after some of its places were accepted."""
    try:
        return import_edits(changes, _path_below(top, plan.path), plan.before, data)
    except UnicodeEncodeError:
        return []


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
    like, imports = without_imports(like, languages)
    finders = finders_like(like, languages, model, sure) if editor else {}
    return _Means(rules_like(like, languages, needed=not finders), finders, imports)


def _keep(means: _Means, language: str, project: Project) -> Callable[[Path | None, bytes, Match], bool]:
    """Return a function that says of a match whether neither a comment nor the settings suppress it."""

    def keep(path: Path | None, data: bytes, match: Match) -> bool:
        file = File("" if path is None else str(path.resolve()), language, data)
        return silence_of(project, means.names(match), file, match.start, match.end) is None

    return keep


def _check_writable(pattern: Pattern | None, project: Project, possible: bool) -> None:
    """Check that the places of a pattern may be written: unseen only if they are likely or `possible` is allowed."""
    if pattern is None:
        return
    if project.pattern(pattern.names).report_only:
        raise UserError(f"the settings only report pattern {pattern.name} (report-only). Leave out -U and -i.")
    if pattern.confidence < LIKELY and not possible:
        raise UserError(
            f"the places of pattern {pattern.name} are possible, not likely ({pattern.confidence:.0%})."
            " Use -i to review each place, or -U --possible to write all."
        )


def _means_of(name: str, repo: str | Path, folder: Path | None, everywhere: bool, project: Project) -> _Means:
    """Return the rules of a file, or the rule of a learned pattern with the imports that come along."""
    path = Path(name)
    if path.is_file():
        try:
            return _Means(load_rules(path.read_text(encoding="utf-8"), name), {})
        except UnicodeDecodeError:
            raise UserError(f"{name} is not UTF-8. Give a YAML file with rules.") from None
    if path.suffix in (".yml", ".yaml") or len(path.parts) > 1:
        raise UserError(f"{name} is not a rule file. Create one with editvec rule, or give --like BEFORE AFTER.")
    folder = used_folder(folder, project, open_repository(repo))
    (pattern,) = with_verdicts(pick(load(folder), [name]), verdicts(folder))
    if not pattern.rules:
        raise UserError(f"pattern {name} has no verified rule. Give an example instead: --like BEFORE AFTER.")
    least = project.min_confidence(pattern.names, None, MIN_CONFIDENCE)
    chosen = [each for each in pattern.rules if everywhere or each.is_due(least)]
    if not chosen:
        evidence = pattern.rules[0].evidence
        said = "no evidence"
        if pattern.reserved:
            said = pattern.reserved
        elif evidence is not None:
            said = f"people edited {evidence.edited} of {evidence.matched + evidence.left} such places"
        if pattern.judged is not None and pattern.judged.refused:
            said = f"{said}; {pattern.judged.why}"
        raise UserError(
            f"the history does not show that all matches of pattern {name} should be edited ({said})."
            " Use --everywhere to apply it anyway."
        )
    return _Means([each.rule for each in chosen if each.rule], {}, pattern.imports, pattern)


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
