"""A rule: a pattern written down so that people can read it and ast-grep can run it; rule ↔ YAML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from hashlib import blake2b
from typing import Any

from editvec.core.errors import BadInputError, UserError
from editvec.syntax import languages


@dataclass(frozen=True, slots=True)
class Metavariable:
    """What stands for anything in a rule, and what the examples say about it."""

    name: str
    many: bool = False
    kinds: tuple[str, ...] = ()
    """The kinds of node that it may be; empty for any."""
    wrapped: bool = False
    """Whether the kinds are those of the only child of what is taken (an argument's expression)."""
    regex: str = ""
    """What its text must match."""

    @property
    def constraint(self) -> dict[str, Any]:
        """What ast-grep calls a constraint; empty for none."""
        kinds: dict[str, Any] = {}
        if self.kinds:
            kinds = (
                {"kind": self.kinds[0]} if len(self.kinds) == 1 else {"any": [{"kind": each} for each in self.kinds]}
            )
            kinds = {"has": kinds} if self.wrapped else kinds
        if self.regex:
            return {"all": [kinds, {"regex": self.regex}]} if kinds else {"regex": self.regex}
        return kinds


@dataclass(frozen=True, slots=True)
class RulePiece:
    """A piece of code with metavariables, in a place where it is parsed as the kind of node that it is."""

    text: str
    kind: str
    place: tuple[str, str] = ("", "")

    def as_dict(self) -> dict[str, Any]:
        """As ast-grep reads it. Nothing in the code may be skipped: a fix would lose it."""
        return {"context": self.text.join(self.place), "selector": self.kind, "strictness": "cst"}


@dataclass(frozen=True, slots=True)
class InducedRule:
    """Where `before` stands and the conditions hold, write `after`."""

    id: str
    language: str
    before: RulePiece
    after: str
    metavariables: tuple[Metavariable, ...] = ()
    inside: str = ""
    """The kind of the parent, where the examples need it."""
    field: str = ""
    """What the place is called in that parent."""
    unlike: tuple[RulePiece, ...] = ()
    """What is no place for the rule although `before` matches."""
    also: tuple[RulePiece, ...] = ()
    """The same text as it is read in other places."""
    message: str = ""
    weight: float = dataclass_field(default=0.0, compare=False)
    """How much `before` says."""

    @property
    def summary(self) -> str:
        """The rule in one line."""
        return " ".join(f"{self.before.text}  →  {self.after}".split(" ")).replace("\n", "⏎")

    @property
    def sides(self) -> tuple[str, str]:
        """What it finds and what it leaves there, as people read it."""
        return self.before.text, self.after

    def as_dict(self) -> dict[str, Any]:
        """The rule as ast-grep reads it."""
        readings = [{"pattern": piece.as_dict()} for piece in (self.before, *self.also)]
        rule: dict[str, Any] = readings[0] if len(readings) == 1 else {"any": readings}
        if self.inside:
            rule["inside"] = {"kind": self.inside, **({"field": self.field} if self.field else {})}
        if self.unlike:
            nots = [{"pattern": pattern.as_dict()} for pattern in self.unlike]
            rule["not"] = nots[0] if len(nots) == 1 else {"any": nots}
        found: dict[str, Any] = {
            "id": self.id,
            "language": self.language,
            "message": self.message or self.summary,
            "severity": "hint",
            "rule": rule,
        }
        constraints = {each.name: each.constraint for each in self.metavariables if each.constraint}
        if constraints:
            found["constraints"] = constraints
        return found | {"fix": self.after}

    def as_yaml(self) -> str:
        """The rule as a file for `ast-grep scan --rule`."""
        return dump(self.as_dict())


def test_file(rule: InducedRule, texts: Sequence[tuple[str, str]]) -> str:
    """The tests of a rule for `ast-grep test`: it must find every text before and none after."""
    return dump({"id": rule.id, "valid": [after for _, after in texts], "invalid": [before for before, _ in texts]})


def dump(value: Any) -> str:
    """YAML as people write it: in order, lines unbroken, several lines as a block."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        block = (
            "\n" in value and value == value.rstrip() and not any(line != line.rstrip() for line in value.split("\n"))
        )
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if block else None)

    Dumper.add_representer(str, text)
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10_000)


@dataclass(frozen=True, slots=True)
class ProseRule:
    """Words that become other words where the words around them are the given ones; white space does not matter."""

    language: str
    find: str
    after: str
    left: str = ""
    right: str = ""

    @property
    def id(self) -> str:
        """A name that depends on the rule alone."""
        return digest(self.language, self.find, self.after, self.left, self.right)

    @property
    def summary(self) -> str:
        """The rule in one line."""
        return "  →  ".join(side or "∅" for side in self.sides)

    @property
    def sides(self) -> tuple[str, str]:
        """What it finds and what it leaves there, as people read it."""
        before, after = ((self.left, text.strip(), self.right) for text in (self.find, self.after))
        return " ".join(filter(None, before)), " ".join(filter(None, after))

    def as_dict(self) -> dict[str, Any]:
        """The rule in a form of our own; ast-grep has none for prose."""
        return {
            "id": self.id,
            "language": self.language,
            "message": self.summary,
            "severity": "hint",
            "prose": {"left": self.left, "find": self.find, "right": self.right},
            "fix": self.after,
        }

    def as_yaml(self) -> str:
        """The rule as a file."""
        return dump(self.as_dict())


def digest(*parts: str) -> str:
    """A rule's name, by what it says."""
    return "editvec-" + blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that can be run: any that ast-grep understands, or one for prose."""

    id: str
    language: str
    yaml: str
    message: str = ""
    prose: ProseRule | None = None


def runnable(rule: InducedRule | ProseRule, name: str = "", message: str = "") -> Rule:
    """Return an induced rule as one that can be run, under another name and with another message if they are given."""
    found = rule.as_dict()
    found |= {"id": name or rule.id, "message": message or found["message"]}
    return Rule(
        found["id"], rule.language, dump(found), found["message"], rule if isinstance(rule, ProseRule) else None
    )


def load_rules(text: str, name: object = "the rule") -> list[Rule]:
    """The rules of a YAML text; BadInputError where it holds something else."""
    import yaml

    try:
        documents = [each for each in yaml.safe_load_all(text) if each is not None]
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise BadInputError(name, None, f"this is not YAML: {reason}") from None
    if not documents:
        raise BadInputError(name, None, "there is no rule in it. Make one with editvec rule.")
    return [_load(each, name) for each in documents]


def _load(found: Any, name: object) -> Rule:
    if not isinstance(found, dict) or not isinstance(found.get("language"), str):
        raise BadInputError(name, None, "a rule needs a language. Make one with editvec rule.")
    spoken = str(found["language"]).lower()
    language = languages.get(_ALIASES.get(spoken, spoken))
    identity, message = str(found.get("id", "rule")), str(found.get("message", ""))
    if not isinstance(found.get("fix"), (str, dict)):
        raise UserError(f"{name}: the rule {identity} has no fix, so there is nothing to apply. Add fix: to it.")
    prose = found.get("prose")
    if isinstance(language, languages.Markup):
        if not isinstance(prose, dict) or not isinstance(found["fix"], str):
            raise BadInputError(name, None, f"a rule for {language.name} needs prose: with find:, left: or right:.")
        words = {key: str(prose.get(key, "")) for key in ("find", "left", "right")}
        if not any(words.values()):
            raise BadInputError(name, None, "the rule matches everything. Add find:, left: or right:.")
        return Rule(
            identity, language.name, dump(found), message, ProseRule(language.name, after=found["fix"], **words)
        )
    if "rule" not in found:
        raise BadInputError(name, None, f"the rule {identity} has no rule: part.")
    return Rule(identity, language.name, dump(found | {"language": language.name}), message)


_ALIASES = {
    "cs": "csharp",
    "c#": "csharp",
    "py": "python",
    "js": "javascript",
    "jsx": "javascript",
    "ts": "typescript",
    "golang": "go",
    "rs": "rust",
    "c++": "cpp",
    "cc": "cpp",
    "md": "markdown",
}
"""What ast-grep also calls the languages."""
