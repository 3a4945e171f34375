"""The laws of imports, in all languages: added once, removed whole, and nothing else changes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.splice import splice
from editvec.syntax.cst import num_errors
from editvec.syntax.import_edits import adding
from editvec.syntax.import_removal import removing
from editvec.syntax.imports import ImportBlock
from editvec.syntax.languages import Language, code_languages, get
from editvec.syntax.module_paths import moved

HEADERS = {
    "python": ['"""A module."""\n\n', "# A licence.\n\n", ""],
    "java": ["package a.b;\n\n", "// A licence.\n\npackage a.b;\n\n"],
    "csharp": ["// A licence.\n\n", ""],
    "go": ["package p\n\n", "// Package p is one.\npackage p\n\n"],
    "rust": ["//! A crate.\n\n", "#![allow(dead_code)]\n\n", ""],
    "cpp": ["#ifndef A_H\n#define A_H\n\n", "#pragma once\n\n", ""],
    "javascript": ["'use strict';\n\n", "// A licence.\n\n", ""],
    "typescript": ["", "/* A licence. */\n\n"],
    "tsx": [""],
}
BODIES = {
    "python": "\ndef main():\n    return run()\n",
    "java": "\nclass A {\n}\n",
    "csharp": "\nnamespace X\n{\n    class A { }\n}\n",
    "go": "\nfunc main() {\n\trun()\n}\n",
    "rust": "\nfn main() {\n    run();\n}\n",
    "cpp": "\nint main();\n",
    "javascript": "\nrun();\n",
    "typescript": "\nrun();\n",
    "tsx": "\nrun();\n",
}
SCRIPT = [
    "import React from 'react';",
    "import { useState, useMemo } from 'react';",
    "import * as path from 'path';",
    "import { a as b } from './a';",
    "import {\n  one,\n  two,\n} from '../many';",
    "import './style.css';",
    "const fs = require('fs');",
    "const { join: joined, sep } = require('path');",
]
LINES = {
    "python": [
        "import os",
        "import os.path",
        "import numpy as np",
        "from typing import Any",
        "from a.b import c, D as E",
        "from .local import (\n    one,\n    two,  # why\n)",
        "from .. import above",
        "import sys; import re",
    ],
    "java": [
        "import java.util.List;",
        "import java.util.Map;",
        "import org.junit.Test;",
        "import static org.junit.Assert.assertEquals;",
        "import org.mock.*;",
    ],
    "csharp": [
        "using System;",
        "using System.Linq;",
        "using Xunit;  // tests",
        "using static System.Math;",
        "using Json = System.Text.Json;",
        "global using Shared;",
    ],
    "go": ['import "fmt"', 'import (\n\t"os"\n\t"io" // in and out\n\n\ty "gopkg.in/yaml.v3"\n)', 'import _ "embed"'],
    "rust": [
        "use std::fmt;",
        "use std::io::{self, Read};",
        "use a::{b::{c, d as e}, f};",
        "use crate::local::*;",
        "pub use crate::open::Door;",
    ],
    "cpp": ["#include <vector>", "#include <string>  // text", '#include "a/own.h"', '#include "b.h"'],
    "javascript": SCRIPT,
    "typescript": [*SCRIPT, "import type { Kind } from './kinds';", "import { type T, u } from 'types';"],
    "tsx": SCRIPT,
}
LANGUAGES = code_languages()


def files(language: Language) -> st.SearchStrategy[bytes]:
    """Files with some imports, in some order, with blank lines between some of them, and either line end."""
    lines = st.lists(st.sampled_from(LINES[language.name]), unique=True, max_size=5)

    def text(header: str, imports: list[str], gaps: int, newline: str, is_ended: bool) -> bytes:
        block = "".join(line + ("\n\n" if gaps >> at & 1 else "\n") for at, line in enumerate(imports))
        guard = "#endif\n" if "#ifndef" in header else ""
        whole = header + block + BODIES[language.name] + guard
        return (whole if is_ended or guard else whole.rstrip("\n")).replace("\n", newline).encode()

    return st.builds(
        text,
        st.sampled_from(HEADERS[language.name]),
        lines,
        st.integers(0, 31),
        st.sampled_from(["\n", "\r\n"]),
        st.booleans(),
    )


def others(block: ImportBlock) -> list[bytes]:
    """The lines of a file that import nothing and hold something."""
    text = bytearray(block.data)
    for low, high in block.all:
        text[low:high] = re.sub(rb"[^\n]", b" ", text[low:high])
    kept = [line for line in bytes(text).split(b"\n") if line.strip()]
    if block.language.name == "go":
        kept = [line for line in kept if line.strip() not in (b"import", b"import (", b")")]
    return [line.rstrip() for line in kept]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
@given(data=st.data())
def test_an_import_is_added_once_and_nothing_else_changes(language: Language, data: st.DataObject) -> None:
    before = data.draw(files(language))
    line = data.draw(st.sampled_from(LINES[language.name]))
    package = "package p\n" if language.name == "go" else ""
    block = ImportBlock(language, before)
    for imported in ImportBlock(language, (package + line + "\n").encode()).imports:
        if block.status(imported) != "missing":
            continue
        had = block.imports
        after = splice(block.data, [adding(block, imported)])
        new = ImportBlock(language, after)
        assert new.status(imported) == "bound", after
        assert len(new.imports) == len(had) + 1
        assert [each for each in new.imports if each in had] == had or set(new.imports) > set(had)
        assert others(new) == others(block), after
        assert num_errors(language, after) <= num_errors(language, block.data), after
        assert after.count(b"\r\n") in (0, after.count(b"\n"))
        assert after.endswith(b"\n") == block.data.endswith(b"\n")
        block = new


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
@given(data=st.data())
def test_an_import_is_removed_and_nothing_else_changes(language: Language, data: st.DataObject) -> None:
    block = ImportBlock(language, data.draw(files(language)))
    if not block.imports:
        return
    imported = data.draw(st.sampled_from(block.imports))
    edit = removing(block, imported)
    if edit is None:
        assert imported.head.startswith("pub") or b"; import" in block.data
        return
    after = splice(block.data, [edit])
    new = ImportBlock(language, after)
    rest = list(block.imports)
    rest.remove(imported)
    assert sorted(map(repr, new.imports)) == sorted(map(repr, rest)), after
    assert [re.sub(rb"\s*(//|#).*", b"", each) for each in others(new) if each.strip()[:2] not in (b"//", b"# ")] == [
        re.sub(rb"\s*(//|#).*", b"", each) for each in others(block) if each.strip()[:2] not in (b"//", b"# ")
    ]
    assert num_errors(language, after) <= num_errors(language, block.data), after
    assert after.count(b"\r\n") in (0, after.count(b"\n"))


@pytest.mark.parametrize(
    ("language", "before", "new", "after"),
    [
        ("python", "import os\n\nimport numpy\n", "import sys", "import os\nimport sys\n\nimport numpy\n"),
        ("python", "import os\n\nf()\n", "import numpy", "import os\n\nimport numpy\n\nf()\n"),
        ("python", "from m import a, c\n", "from m import b", "from m import a, b, c\n"),
        (
            "python",
            "from m import (\n    a,\n    c,\n)\n",
            "from m import b",
            "from m import (\n    a,\n    b,\n    c,\n)\n",
        ),
        ("python", '"""Doc."""\n\nf()\n', "import os", '"""Doc."""\n\nimport os\n\nf()\n'),
        ("go", 'package p\n\nimport "os"\n', 'import "fmt"', 'package p\n\nimport (\n\t"fmt"\n\t"os"\n)\n'),
        (
            "go",
            'package p\n\nimport (\n\t"os"\n\n\t"a.b/c"\n)\n',
            'import "a.b/d"',
            'package p\n\nimport (\n\t"os"\n\n\t"a.b/c"\n\t"a.b/d"\n)\n',
        ),
        ("rust", "use a::{b, d};\n", "use a::c;", "use a::{b, c, d};\n"),
        ("rust", "use a::b;\n", "use a::c;", "use a::b;\nuse a::c;\n"),
        ("java", "import a.B;\nimport a.D;\n", "import a.C;", "import a.B;\nimport a.C;\nimport a.D;\n"),
        (
            "csharp",
            "using System;\nusing Abc;\n",
            "using System.IO;",
            "using System;\nusing System.IO;\nusing Abc;\n",
        ),
        (
            "cpp",
            '#include "own.h"\n\n#include <vector>\n\n#include "a.h"\n',
            "#include <string>",
            '#include "own.h"\n\n#include <string>\n#include <vector>\n\n#include "a.h"\n',
        ),
        ("javascript", "import a from 'm'\n", 'import { b } from "m";', "import a, { b } from 'm'\n"),
        (
            "javascript",
            "const a = require('a');\n",
            "import b from 'b'",
            "const a = require('a');\nconst b = require('b');\n",
        ),
        (
            "typescript",
            "import { a } from 'm';\n",
            "import type { T } from 'm'",
            "import { a } from 'm';\nimport type { T } from 'm';\n",
        ),
    ],
)
def test_an_import_stands_where_the_language_and_the_file_put_it(
    language: str, before: str, new: str, after: str
) -> None:
    facts = get(language)
    assert isinstance(facts, Language)
    package = "package p\n" if language == "go" else ""
    (imported,) = ImportBlock(facts, (package + new + "\n").encode()).imports
    block = ImportBlock(facts, before.encode())
    assert splice(block.data, [adding(block, imported)]).decode() == after


@pytest.mark.parametrize(
    ("language", "text", "new", "status"),
    [
        ("python", "from m import *\n", "from m import a", "bound"),
        ("python", "from n import a\n", "from m import a", "clash"),
        ("python", "def a(): pass\n", "from m import a", "bound"),
        ("python", "f(a=1)\n", "import a", "missing"),
        ("python", "class C:\n    a: int = 1\n", "import a", "missing"),
        ("typescript", "export class A {}\n", "import { A } from './a'", "bound"),
        ("javascript", "const a = make();\n", "import { a } from './a'", "bound"),
        ("rust", "mod m { struct T; }\n", "use a::T;", "missing"),
        ("python", "try:\n    import json\nexcept ImportError:\n    json = None\n", "import json", "bound"),
        ("python", "if TYPE_CHECKING:\n    from m import a\n", "from m import a", "missing"),
        ("python", "import os\n", "import os.path", "missing"),
        ("java", "package a;\nimport b.*;\nclass C {}\n", "import b.D;", "bound"),
        ("java", "package a;\nclass C {}\n", "import a.D;", "bound"),
        ("java", "import x.D;\n", "import a.D;", "clash"),
        ("csharp", "namespace A.B { class C {} }\n", "using A;", "bound"),
        ("typescript", "import type { T } from 'm';\n", "import { T } from 'm';", "clash"),
        ("typescript", "import { T } from 'm';\n", "import type { T } from 'm';", "bound"),
        ("javascript", "const a = require('a');\n", "import a from 'a';", "bound"),
        ("rust", "use m::*;\n", "use m::T;", "bound"),
    ],
)
def test_what_a_name_means_in_a_file_is_known(language: str, text: str, new: str, status: str) -> None:
    facts = get(language)
    assert isinstance(facts, Language)
    (imported,) = ImportBlock(facts, (new + "\n").encode()).imports
    assert ImportBlock(facts, text.encode()).status(imported) == status


@pytest.mark.parametrize(
    ("language", "new", "source", "target", "module"),
    [
        ("javascript", "import a from './a'", "src/x.js", "src/deep/y.js", "../a"),
        ("javascript", "import a from '../a'", "src/deep/x.js", "src/y.js", "./a"),
        ("javascript", "import a from 'a'", "src/deep/x.js", "src/y.js", "a"),
        ("python", "from .m import a", "p/x.py", "p/q/y.py", "..m"),
        ("python", "from ..m import a", "p/q/x.py", "p/y.py", ".m"),
        ("python", "from .m import a", "p/x.py", "tests/y.py", None),
        ("python", "from .m import a", "src/p/x.py", "src/q/y.py", None),
    ],
)
def test_a_relative_module_is_named_from_the_other_file(
    language: str, new: str, source: str, target: str, module: str | None
) -> None:
    facts = get(language)
    assert isinstance(facts, Language)
    (imported,) = ImportBlock(facts, new.encode()).imports
    found = moved(facts.importing, imported, source, target)
    assert (None if found is None else found.module) == module


def test_uses_are_words_outside_imports_and_comments() -> None:
    python = get("python")
    assert isinstance(python, Language)
    block = ImportBlock(
        python, b"import json, os\n\n# json\nx = os.path.join(a.json)  # type: json\n__all__ = ['os']\n"
    )
    assert (block.uses["json"], block.uses["os"], block.words["path"]) == (1, 2, 1)
