"""Rules for code and for prose, and their conversion to and from YAML.

A rule is a pattern that people can read. Rules for code are run by ast-grep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from hashlib import blake2b
from typing import Any

from editvec.core.errors import BadInputError, UserError
from editvec.rules.yaml import read_yaml
from editvec.syntax import languages


@dataclass(frozen=True, slots=True)
class Metavariable:
    """A metavariable of a rule, with the constraints that the examples support."""

    name: str
    many: bool = False
    kinds: tuple[str, ...] = ()
    """Node kinds that it may match; empty if it may match any kind."""
    wrapped: bool = False
    """Whether `kinds` apply to the only child of the matched node, such as an argument's expression."""
    regex: str = ""
    """Regular expression that the matched text must match; empty for none."""

    @property
    def constraint(self) -> dict[str, Any]:
        """Return the constraint in ast-grep's form; empty if there is none."""
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
    """A code fragment with metavariables, and the code around it in which it parses as a node of `kind`."""

    text: str
    kind: str
    place: tuple[str, str] = ("", "")

    def as_dict(self) -> dict[str, Any]:
        """Return the fragment as an ast-grep pattern.

        The strictness is `cst`, so ast-grep skips no token of the code: the fix would lose it.
        """
        return {"context": self.text.join(self.place), "selector": self.kind, "strictness": "cst"}


@dataclass(frozen=True, slots=True)
class InducedRule:
    """A rule that replaces a match of `before` by `after` if all its conditions hold."""

    id: str
    language: str
    before: RulePiece
    after: str
    metavariables: tuple[Metavariable, ...] = ()
    inside: str = ""
    """Required kind of the parent node; empty if the examples do not need this condition."""
    field: str = ""
    """Required field of the match in that parent; empty if any field is accepted."""
    unlike: tuple[RulePiece, ...] = ()
    """Patterns that exclude code which `before` matches."""
    also: tuple[RulePiece, ...] = ()
    """The same text, parsed as the other kinds of node that it can be in another context."""
    message: str = ""
    weight: float = dataclass_field(default=0.0, compare=False)
    """The weight of `before`: how specific it is (see `template.weigh`)."""

    @property
    def summary(self) -> str:
        """Return the rule as one line."""
        return " ".join(f"{self.before.text}  →  {self.after}".split(" ")).replace("\n", "⏎")

    @property
    def sides(self) -> tuple[str, str]:
        """Return what the rule matches and what it writes, as readable texts."""
        return self.before.text, self.after

    def as_dict(self) -> dict[str, Any]:
        """Return the rule as the mapping that ast-grep reads."""
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
        """Return the rule as YAML for `ast-grep scan --rule`."""
        return dump(self.as_dict())


def test_file(rule: InducedRule, texts: Sequence[tuple[str, str]]) -> str:
    """Return a rule's tests as YAML for `ast-grep test`.

    `texts` are pairs of before and after. The rule must match every before and no after.
    """
    return dump({"id": rule.id, "valid": [after for _, after in texts], "invalid": [before for before, _ in texts]})


def dump(value: Any) -> str:
    """Return a value as readable YAML.

    Keys keep their order, long lines are not wrapped, and a text of several lines is a block.
    """
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
    """A rule that replaces words of prose if the words around them are the given ones.

    Differences in white space are ignored.
    """

    language: str
    find: str
    after: str
    left: str = ""
    right: str = ""

    @property
    def id(self) -> str:
        """Return an id that depends on the rule's content alone."""
        return digest(self.language, self.find, self.after, self.left, self.right)

    @property
    def summary(self) -> str:
        """Return the rule as one line."""
        return "  →  ".join(side or "∅" for side in self.sides)

    @property
    def sides(self) -> tuple[str, str]:
        """Return what the rule matches and what it writes, as readable texts."""
        before, after = ((self.left, text.strip(), self.right) for text in (self.find, self.after))
        return " ".join(filter(None, before)), " ".join(filter(None, after))

    def as_dict(self) -> dict[str, Any]:
        """Return the rule as a mapping in editvec's own form; ast-grep has no form for prose."""
        return {
            "id": self.id,
            "language": self.language,
            "message": self.summary,
            "severity": "hint",
            "prose": {"left": self.left, "find": self.find, "right": self.right},
            "fix": self.after,
        }

    def as_yaml(self) -> str:
        """Return the rule as YAML."""
        return dump(self.as_dict())


def digest(*parts: str) -> str:
    """Return a rule id computed from the parts that define the rule."""
    return "editvec-" + blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that can be run: any rule that ast-grep understands, or a rule for prose."""

    id: str
    language: str
    yaml: str
    message: str = ""
    prose: ProseRule | None = None


def runnable(rule: InducedRule | ProseRule, name: str = "", message: str = "") -> Rule:
    """Return an induced rule as a rule that can be run.

    `name` and `message` replace the rule's own id and message if they are not empty.
    """
    found = rule.as_dict()
    found |= {"id": name or rule.id, "message": message or found["message"]}
    return Rule(
        found["id"], rule.language, dump(found), found["message"], rule if isinstance(rule, ProseRule) else None
    )


def load_rules(text: str, name: object = "the rule") -> list[Rule]:
    """Return the rules in a YAML text.

    `name` names the text in error messages.

    Raises:
        BadInputError: The text is not YAML, or it holds something other than rules.
        UserError: A rule has no fix, or its language is unknown.
    """
    documents = [each for each in read_yaml(text, name) if each is not None]
    if not documents:
        raise BadInputError(name, None, "it contains no rule. Make one with editvec rule.")
    return [_load(each, name) for each in documents]


def _load(found: Any, name: object) -> Rule:
    if not isinstance(found, dict) or not isinstance(found.get("language"), str):
        raise BadInputError(name, None, "a rule must be a mapping with a language:. Make one with editvec rule.")
    spoken = str(found["language"]).lower()
    language = languages.get(_ALIASES.get(spoken, spoken))
    identity, message = str(found.get("id", "rule")), str(found.get("message", ""))
    if not isinstance(found.get("fix"), (str, dict)):
        raise UserError(f"{name}: the rule {identity} has no fix, so there is nothing to apply. Add fix: to it.")
    prose = found.get("prose")
    if isinstance(language, languages.Markup):
        if not isinstance(prose, dict) or not isinstance(found["fix"], str):
            raise BadInputError(
                name,
                None,
                f"a rule for {language.name} needs fix: with a text, and prose: with find:, left: or right:.",
            )
        words = {key: str(prose.get(key, "")) for key in ("find", "left", "right")}
        if not any(words.values()):
            raise BadInputError(name, None, "the rule would match everything. Add find:, left: or right:.")
        return Rule(
            identity, language.name, dump(found), message, ProseRule(language.name, after=found["fix"], **words)
        )
    if "rule" not in found:
        raise BadInputError(name, None, f"the rule {identity} has no rule: part. Add the pattern that it matches.")
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
"""Other names that ast-grep accepts for languages, mapped to editvec's names."""
