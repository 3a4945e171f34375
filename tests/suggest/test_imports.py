"""Imports that come along with an edit: which they are, and what they do to the other files."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest

import editvec
from editvec.core.edit import Demonstration
from editvec.core.match import Suggestion
from editvec.core.splice import splice
from editvec.suggest.finish import FinishReview
from editvec.suggest.imports import BroughtImports, ImportChanges, accompanies, bring_imports, changes_of_edits
from editvec.suggest.intents import shown_edits
from editvec.syntax.imports import ImportBlock
from editvec.syntax.languages import Language, language_of
from tests.cli.run import run
from tests.conftest import Repo


def changes(path: str, before: str, after: str) -> ImportChanges:
    """The imports that came along with what was shown in a file."""
    return changes_of_edits(shown_edits(Demonstration(path, before.encode(), after.encode())))


def brought(found: ImportChanges, path: str, before: str, after: str) -> tuple[str, BroughtImports]:
    """What a file becomes that is edited alike."""
    result = bring_imports(found, path, before.encode(), after.encode())
    return splice(after.encode(), result.edits).decode(), result


CASES = [
    (
        "a.py",
        "import json\n\n\ndef f(x):\n    return json.dumps(x)\n",
        "import orjson\n\n\ndef f(x):\n    return orjson.dumps(x)\n",
        "b.py",
        "import json\nimport sys\n\n\ndef g(y):\n    return json.dumps(y) + sys.argv[0]\n",
        "import sys\n\nimport orjson\n\n\ndef g(y):\n    return orjson.dumps(y) + sys.argv[0]\n",
    ),
    (
        "A.java",
        "import java.util.ArrayList;\n\nclass A { List x = new ArrayList<>(); }\n",
        "import com.google.common.collect.Lists;\n\nclass A { List x = Lists.newArrayList(); }\n",
        "B.java",
        "package b;\n\nimport java.util.ArrayList;\nimport java.util.Map;\n\nclass B { List y = new ArrayList<>(); }\n",
        "package b;\n\nimport com.google.common.collect.Lists;\nimport java.util.Map;\n\n"
        "class B { List y = Lists.newArrayList(); }\n",
    ),
    (
        "a.js",
        "import { old } from './lib';\n\nold(1);\n",
        "import { fresh } from './lib';\n\nfresh(1);\n",
        "deep/b.js",
        "import { kept, old } from '../lib';\n\nold(2);\nkept();\n",
        "import { fresh, kept } from '../lib';\n\nfresh(2);\nkept();\n",
    ),
    (
        "a.ts",
        "export const x = read('a')\n",
        "import { load } from 'loader'\n\nexport const x = load('a')\n",
        "b.ts",
        "import z from 'z'\n\nexport const y = read('b', z)\n",
        "import { load } from 'loader'\nimport z from 'z'\n\nexport const y = load('b', z)\n",
    ),
    (
        "a.go",
        'package p\n\nimport "errors"\n\nfunc f() error { return errors.New("a") }\n',
        'package p\n\nimport "fmt"\n\nfunc f() error { return fmt.Errorf("a") }\n',
        "b.go",
        'package p\n\nimport (\n\t"errors"\n\t"os"\n)\n\nfunc g() error { os.Exit(1); return errors.New("b") }\n',
        'package p\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc g() error { os.Exit(1); return fmt.Errorf("b") }\n',
    ),
    (
        "a.rs",
        "use std::sync::Mutex;\n\nfn f() { Mutex::new(1); }\n",
        "use parking_lot::Mutex as Lock;\n\nfn f() { Lock::new(1); }\n",
        "b.rs",
        "use std::sync::{Arc, Mutex};\n\nfn g(a: Arc<i32>) { Mutex::new(2); }\n",
        "use std::sync::Arc;\nuse parking_lot::Mutex as Lock;\n\nfn g(a: Arc<i32>) { Lock::new(2); }\n",
    ),
    (
        "a.cs",
        "using System;\n\nclass A { int N(int[] x) { return Count(x); } }\n",
        "using System;\nusing System.Linq;\n\nclass A { int N(int[] x) { return x.Sum(); } }\n",
        "B.cs",
        "using System;\nusing Abc;\n\nclass B { int M(int[] y) { return Count(y); } }\n",
        "using System;\nusing System.Linq;\nusing Abc;\n\nclass B { int M(int[] y) { return y.Sum(); } }\n",
    ),
    (
        "a.cpp",
        "#include <vector>\n\nint f() { return abs_of(1); }\n",
        "#include <cstdlib>\n#include <vector>\n\nint f() { return std::abs(1); }\n",
        "b.cpp",
        '#include "b.h"\n\n#include <string>\n\nint g() { return abs_of(2); }\n',
        '#include "b.h"\n\n#include <cstdlib>\n#include <string>\n\nint g() { return std::abs(2); }\n',
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_every_name_is_bound_as_it_was_shown(case: tuple[str, str, str, str, str, str]) -> None:
    shown, before, after, path, text, wanted = case
    found = changes(shown, before, after)
    language = language_of(path)
    assert isinstance(language, Language)
    edited = without_imports(language, text, wanted)
    result, _ = brought(found, path, text, edited)
    assert result == wanted
    block = ImportBlock(language, result.encode())
    for companion in found.gained:
        assert {name for each in block.imports for name in each.names} >= set(companion.imported.names)
    again = bring_imports(found, path, text.encode(), result.encode())
    assert again.edits == []


def without_imports(language: Language, text: str, wanted: str) -> str:
    """The text with those changes of `wanted` that are behind its imports."""
    end = max((high for _, high in ImportBlock(language, text.encode()).all), default=0)
    matcher = SequenceMatcher(None, text, wanted, autojunk=False)
    parts = []
    for _, low, high, start, stop in matcher.get_opcodes():
        parts.append(wanted[start:stop] if low > end else text[low:high])
    return "".join(parts)


def test_an_import_that_is_still_used_stays() -> None:
    found = changes(*CASES[0][:3])
    text = "import json\n\nx = json.dumps(1)\ny = json.loads(z)\n"
    result, _ = brought(found, "b.py", text, text.replace("json.dumps", "orjson.dumps"))
    assert result == "import json\n\nimport orjson\n\nx = orjson.dumps(1)\ny = json.loads(z)\n"
    package, _ = brought(found, "p/__init__.py", "import json\nx = json.a\n", "import json\nx = orjson.a\n")
    assert package == "import json\n\nimport orjson\nx = orjson.a\n"


def test_an_import_of_another_edit_does_not_come_along() -> None:
    before = "def f():\n    a()\n    old(1)\n"
    after = "import os\nimport new\n\n\ndef f():\n    a(os.name)\n    new.run(1)\n"
    edits = shown_edits(Demonstration("a.py", before.encode(), after.encode()))
    found = changes_of_edits([each for each in edits if b"new" in each.added and b"def" not in each.added])
    assert {each.imported.module for each in found.gained} == {"new"}
    result, _ = brought(found, "b.py", "old(2)\n", "new.run(2)\n")
    assert result == "import new\n\nnew.run(2)\n"


def test_a_name_that_means_something_else_is_not_imported() -> None:
    found = changes(*CASES[0][:3])
    text = "from x import orjson\n\nx = json.dumps(1)\n"
    result, said = brought(found, "b.py", text, text.replace("json.dumps(1)", "orjson.dumps(1)"))
    assert "import orjson\n\nx" in result and said.edits == [] and said.clashes == ["orjson"]


def test_lines_of_imports_accompany_the_edit_that_needs_them() -> None:
    edits = shown_edits(Demonstration("a.py", *(text.encode() for text in CASES[0][1:3])))
    imports, place = edits
    found = changes_of_edits([place])
    assert accompanies(imports, [found]) and not accompanies(place, [found])
    assert not changes_of_edits([imports])
    moved = shown_edits(Demonstration("a.py", b"from a import f\n\nf()\n", b"from b import f\n\nf()\n"))
    assert not accompanies(moved[0], [changes_of_edits(moved)])


OLD = (
    '"""Part {0}."""\n\nimport os\n\nfrom equals import close\n\n\ndef test_one_{0}(self):\n'
    '    close(os.total({0}), {0})\n\n\ndef test_two_{0}(self):\n    close(os.name({0}), "n{0}")\n'
)
NEW = OLD.replace(" close(", " check.equal(").replace("from equals import close", "import check")


@pytest.fixture
def begun(repo: Repo) -> Repo:
    """A work tree in which four of eight files call another function."""
    repo.commit({f"part{n}.py": text(OLD, n) for n in range(8)})
    repo.write({f"part{n}.py": text(NEW, n) for n in range(4)})
    return repo


def text(template: str, number: int) -> str:
    """A file, one of which has the other line ends."""
    return template.format(number).replace("\n", "\r\n" if number == 7 else "\n")


def is_due(suggestion: Suggestion) -> bool:
    """Whether a suggestion is one of the calls that are left."""
    return suggestion.before == "close" and suggestion.after == "check.equal"


def test_finish_brings_imports_counts_places_and_takes_all_back(begun: Repo) -> None:
    before = {n: (begun.path / f"part{n}.py").read_bytes() for n in range(8)}
    found = editvec.finish(repo=begun.path)
    assert [each.summary for each in found.edits if "import" in each.summary] == []
    due = [each for each in found.suggestions if is_due(each)]
    assert {(each.path, each.line) for each in due} == {(f"part{n}.py", line) for n in range(4, 8) for line in (9, 13)}
    listed = found.as_json()["suggestions"]
    for each in (listed[found.suggestions.index(one)] for one in due):
        data = (begun.path / each["path"]).read_bytes()
        assert [one["after"].strip() for one in each["imports"]] == ["import check"]
        assert all(data[one["start"] : one["end"]].decode() == one["before"] for one in each["imports"])

    def take(review: FinishReview) -> None:
        while due := [each for each in review.remaining() if is_due(each)]:
            assert not review.accept(due[0])

    done = editvec.finish(repo=begun.path, decide=take)
    assert (done.num_written, len(done.written), done.problems) == (8, 4, [])
    for number in range(4, 8):
        assert (begun.path / f"part{number}.py").read_bytes() == text(NEW, number).encode()
    editvec.undo(begun.path)
    assert before == {n: (begun.path / f"part{n}.py").read_bytes() for n in range(8)}


def test_all_places_of_a_file_share_their_imports(begun: Repo) -> None:
    found = editvec.finish(repo=begun.path)
    plans = found.plans(each for each in found.suggestions if is_due(each))
    assert [(len(plan.edits), len(plan.imports), plan.problem) for plan in plans] == [(2, 1, "")] * 4
    assert [plan.after for plan in plans] == [text(NEW, number).encode() for number in range(4, 8)]


def test_a_review_shows_the_imports(begun: Repo) -> None:
    shown = run("finish", "-i", cwd=begun.path, stdin="y\ny\nq\n").stdout
    assert "+import check" in shown and "2 places in 1 file written" in shown
