"""Edit files: what is written is what is read; damage is named, never read over."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import duckdb
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import editvec
from editvec.core.edit import Canonical, Edit, Source, Version
from editvec.core.errors import BadInputError, UserError
from editvec.data import edit_files, native, parquet

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
tokens = st.lists(text, max_size=5).map(tuple)
lines = st.one_of(st.none(), st.tuples(st.integers(1, 99), st.integers(1, 99)))
dates = st.one_of(st.none(), st.integers(0, 2**31).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)))
versions = st.builds(Version, text, tokens, st.one_of(st.none(), text))
edits = st.builds(
    Edit,
    id=text,
    language=text,
    before=versions,
    after=versions,
    context_before=tokens,
    context_behind=tokens,
    canonical=st.one_of(st.none(), st.builds(Canonical, tokens, tokens, tokens, tokens, tokens, tokens)),
    source=st.one_of(st.none(), st.builds(Source, text, text, text, text, dates, lines, lines, text)),
    label=text,
    extra=text,
)


def sample(number: int = 0) -> Edit:
    return Edit(
        id=f"p|{number:040x}|a.cs_0",
        language="csharp",
        before=Version("x = 1;", ("x", "=", "1", ";")),
        after=Version("x = 0;", ("x", "=", "0", ";")),
        source=Source("p", f"{number:040x}", "a.cs", "Ada", datetime(2024, 1, 2, tzinfo=UTC), (3, 3), (3, 3), "zero"),
    )


JSONL = orjson.dumps(
    {
        "Id": "Proj|0123456789abcdef|src/A_B.cs_7",
        "PrevCodeChunk": "F(VAR0);",
        "UpdatedCodeChunk": "F(VAR0, 1);",
        "PrevCodeChunkTokens": ["F", "(", "VAR0", ")", ";"],
        "UpdatedCodeChunkTokens": ["F", "(", "VAR0", ",", "1", ")", ";"],
        "PrevCodeAST": None,
        "UpdatedCodeAST": None,
        "PrecedingContext": ["a"],
        "SucceedingContext": [],
    }
)


NATIVE = native.dump(sample())


@given(st.lists(edits, max_size=4))
def test_parquet_gives_back_every_edit(tmp_path_factory: pytest.TempPathFactory, given_edits: list[Edit]) -> None:
    path = tmp_path_factory.mktemp("store") / "e.parquet"
    assert edit_files.write(path, given_edits) == len(given_edits)
    assert list(edit_files.read(path)) == given_edits
    assert edit_files.count(path) == len(given_edits)


@given(st.lists(edits, max_size=4), st.sampled_from(["e.jsonl", "e.jsonl.gz"]))
def test_native_lines_give_back_every_edit(
    tmp_path_factory: pytest.TempPathFactory, given_edits: list[Edit], name: str
) -> None:
    path = tmp_path_factory.mktemp("store") / name
    assert edit_files.write(path, given_edits) == len(given_edits)
    assert list(edit_files.read(path)) == given_edits
    assert [native.load(native.dump(edit)) for edit in given_edits] == given_edits


@given(st.lists(edits, max_size=4))
def test_packed_lines_come_back(given_edits: list[Edit]) -> None:
    lines = [native.dump(edit) for edit in given_edits]
    assert native.unpack(native.pack(lines)) == lines


@given(st.lists(edits, max_size=4))
def test_githubedits_gives_back_every_edit(tmp_path_factory: pytest.TempPathFactory, given_edits: list[Edit]) -> None:
    path = tmp_path_factory.mktemp("store") / "e.jsonl"
    plain = [
        replace(edit, before=replace(edit.before, tree=None), after=replace(edit.after, tree=None), extra="")
        for edit in given_edits
    ]
    edit_files.write(path, plain, form="githubedits")
    assert list(edit_files.read(path)) == plain


def test_files_of_lines_can_be_joined_and_mixed(tmp_path: Path) -> None:
    for number in range(2):
        edit_files.write(tmp_path / f"{number}.jsonl.gz", [sample(number)])
    edit_files.write(tmp_path / "2.jsonl.gz", [sample(2)], form="githubedits")
    joined = tmp_path / "all.jsonl.gz"
    joined.write_bytes(b"".join((tmp_path / f"{number}.jsonl.gz").read_bytes() for number in range(3)))
    assert [edit.id for edit in edit_files.read(joined)] == [sample(number).id for number in range(3)]


def test_a_line_holds_what_a_row_holds() -> None:
    full = replace(
        sample(),
        before=Version("x", ("x",), "(x)"),
        after=Version("y", ("y",), "(y)"),
        context_before=("a",),
        context_behind=("b",),
        canonical=Canonical(("x",), ("y",), ("a",), ("b",), ("n",), ("1",)),
        label="l",
        extra="{}",
    )
    assert set(orjson.loads(native.dump(full))) == {*parquet.schema().names, "schema"}


def test_a_file_of_many_batches_streams(tmp_path: Path) -> None:
    path = tmp_path / "many.parquet"
    number = 3 * parquet.BATCH + 7
    for group_rows, groups in ((4 * parquet.BATCH, 1), (parquet.BATCH, 4)):
        parquet.write_parquet(path, (sample(at) for at in range(number)), group_rows=group_rows)
        reader = editvec.read(path)
        assert next(reader) == sample(0)
        assert sum(1 for _ in reader) == number - 1
        assert pq.ParquetFile(path).num_row_groups == groups


def test_pandas_and_duckdb_read_it_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    edit_files.write(path, [sample(1), sample(2)])
    frame = pd.read_parquet(path)
    assert list(frame["before_tokens"][0]) == ["x", "=", "1", ";"]
    with duckdb.connect() as database:
        query = f"select count(*), max(before_first_line) from '{path}' where author = 'Ada'"
        counted = database.execute(query).fetchall()
    assert counted == [(2, 3)]


def test_the_schema_has_a_version(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    edit_files.write(path, [sample()])
    assert pq.read_schema(path).metadata[b"editvec.schema"] == str(native.SCHEMA_VERSION).encode()


@pytest.mark.parametrize("name", ["e.jsonl", "e.jsonl.gz"])
def test_jsonl_is_written_as_it_was_read(tmp_path: Path, name: str) -> None:
    source, target = tmp_path / name, tmp_path / f"again-{name}"
    _put(source, JSONL + b"\n")
    (edit,) = edit_files.read(source)
    assert edit.source == Source("Proj", "0123456789abcdef", "src/A_B.cs")
    edit_files.write(target, [edit], form="githubedits")
    assert _get(target) == JSONL + b"\n"


def test_unknown_fields_of_jsonl_survive(tmp_path: Path) -> None:
    record = orjson.loads(JSONL) | {"Score": 0.5, "Tags": ["x"], "CommitMessage": "m"}
    source, middle, target = tmp_path / "a.jsonl", tmp_path / "b.parquet", tmp_path / "c.jsonl"
    _put(source, orjson.dumps(record) + b"\n")
    edit_files.write(middle, edit_files.read(source))
    edit_files.write(target, edit_files.read(middle), form="githubedits")
    assert orjson.loads(_get(target)) == record


def test_a_labelled_id_gives_a_label(tmp_path: Path) -> None:
    record = orjson.loads(JSONL) | {"Id": "RCS1077_12"}
    _put(tmp_path / "a.jsonl", orjson.dumps(record))
    (edit,) = edit_files.read(tmp_path / "a.jsonl")
    assert (edit.label, edit.source) == ("RCS1077", None)


TSV = b"a c .\tb\ta b c .\nx y\tz w\tx y z w\tdel\tpeps\n"


@pytest.mark.parametrize("name", ["e.tsv", "e.tsv.gz"])
def test_tsv_is_written_as_it_was_read(tmp_path: Path, name: str) -> None:
    source, target = tmp_path / name, tmp_path / f"again-{name}"
    _put(source, TSV)
    first, second = edit_files.read(source)
    assert (first.before.tokens, first.after.tokens) == (("a", "c", "."), ("a", "b", "c", "."))
    assert second.source == Source("peps")
    edit_files.write(target, [first, second])
    assert _get(target) == TSV


def test_tsv_of_mined_sentences(tmp_path: Path) -> None:
    long, short = Version("to the sea", ("to", "the", "sea")), Version("to sea", ("to", "sea"))
    edits = [replace(sample(), before=short, after=long), replace(sample(), before=long, after=short)]
    edit_files.write(tmp_path / "e.tsv", edits)
    assert _get(tmp_path / "e.tsv") == b"to sea\tthe\tto the sea\tins\tp\nto sea\tthe\tto the sea\tdel\tp\n"


def test_what_a_format_cannot_hold_is_refused_or_counted(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="insertion or deletion"):
        edit_files.write(tmp_path / "e.tsv", [sample()])
    assert not (tmp_path / "e.tsv").exists()
    refused = edit_files.Damage()
    assert edit_files.write(tmp_path / "e.tsv", [sample()], refused=refused) == 0
    assert refused.count == 1


def _put(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def _get(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _without(name: str) -> bytes:
    record = orjson.loads(JSONL)
    del record[name]
    return orjson.dumps(record)


@pytest.mark.parametrize(
    ("name", "bad", "reason"),
    [
        ("a.jsonl", b"{", "not JSON"),
        ("a.jsonl", b"[]", "not a JSON object"),
        ("a.jsonl", b"\xff\xfe", "not JSON"),
        ("a.jsonl", _without("Id"), "the field Id is missing"),
        ("a.jsonl", JSONL.replace(b'["a"]', b"[1]"), "PrecedingContext holds a value that is not a string"),
        ("a.jsonl", JSONL.replace(b'"PrevCodeAST":null', b'"PrevCodeAST":{}'), "the field PrevCodeAST"),
        ("a.jsonl", b"{}", "neither the field schema"),
        ("n.jsonl", b'{"schema":999}', "schema version 999, but this version of editvec reads 1"),
        ("n.jsonl", b'{"schema":1,"id":"x"}', "the field language is missing"),
        ("n.jsonl", NATIVE.replace(b'["x","=","1",";"]', b'["x",1]'), "before_tokens is not a list of strings"),
        ("n.jsonl", NATIVE.replace(b'["x","=","1",";"]', b'"x"'), "before_tokens is not a list of strings"),
        ("n.jsonl", NATIVE.replace(b'["x","=","1",";"]', b"7"), "before_tokens is not a list of strings"),
        ("n.jsonl", NATIVE.replace(b'"x = 1;"', b"1"), "the field before is not a string"),
        ("n.jsonl", NATIVE.replace(b'"before_first_line":3', b'"before_first_line":"3"'), "is not a number"),
        ("n.jsonl", NATIVE.replace(b"2024-01-02", b"2024-13-02"), "month"),
        ("n.jsonl", NATIVE[:-9], "not JSON"),
        ("a.tsv", b"only\ttwo", "2 of 3 columns"),
        ("a.tsv", b"\t\tx", "empty"),
        ("a.tsv", b"\xff\ta\tb", "not UTF-8"),
    ],
)
def test_a_bad_line_is_named_or_skipped(tmp_path: Path, name: str, bad: bytes, reason: str) -> None:
    good = {"n.jsonl": NATIVE, "a.jsonl": JSONL}.get(name, TSV.splitlines()[0])
    assert bad != good
    _put(tmp_path / name, b"\n".join([good, bad, good]))
    with pytest.raises(BadInputError, match=reason) as caught:
        list(edit_files.read(tmp_path / name))
    assert f"{name}:2:" in str(caught.value)
    damage = edit_files.Damage()
    assert len(list(edit_files.read(tmp_path / name, damage=damage))) == 2
    assert damage.count == 1


def test_a_cut_gzip_is_named_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress((JSONL + b"\n") * 2000, compresslevel=0)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInputError, match="truncated"):
        list(edit_files.read(path))
    damage = edit_files.Damage()
    assert 0 < len(list(edit_files.read(path, damage=damage))) < 2000
    assert damage.count == 1
    path.write_bytes(b"not gzip")
    with pytest.raises(BadInputError, match="not a valid gzip"):
        list(edit_files.read(path))


def test_a_longer_file_takes_no_more_memory(tmp_path: Path) -> None:
    versions = [Version("", tuple(f"{n}-{at}" for at in range(8))) for n in range(64)]
    rows = parquet.table_of([Edit(str(n), "text", each, each) for n, each in enumerate(versions)])
    held = []
    for num_groups in (100, 600):
        path = tmp_path / f"{num_groups}.parquet"
        with parquet.ParquetWriter(path, group_rows=len(rows)) as writer:
            for _ in range(num_groups):
                writer.add_rows(rows)
        before = pa.total_allocated_bytes()
        held.append(
            max(pa.total_allocated_bytes() for _ in islice(edit_files.read(path), 0, None, 20 * len(rows))) - before
        )
    assert held[1] < 1.5 * held[0]


def test_a_file_without_a_sound_line_is_refused_even_when_bad_lines_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "all.jsonl").write_text("no\nedits\n")
    damage = edit_files.Damage()
    with pytest.raises(BadInputError, match=r"all\.jsonl:1: .*the file has no valid edit"):
        list(edit_files.read(tmp_path / "all.jsonl", damage=damage))
    assert damage.count == 2
    (tmp_path / "empty.jsonl").write_text("")
    assert list(edit_files.read(tmp_path / "empty.jsonl", damage=damage)) == []


def test_foreign_and_damaged_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(BadInputError, match="editvec did not write"):
        list(edit_files.read(path))
    path.write_bytes(b"PAR1 nonsense PAR1")
    with pytest.raises(BadInputError, match=r"not a valid Parquet.*\. Create it again"):
        list(edit_files.read(path))
    other = parquet.schema().with_metadata({b"editvec.schema": b"999"})
    pq.write_table(other.empty_table(), path)
    with pytest.raises(BadInputError, match="schema version 999"):
        list(edit_files.read(path))
    fewer = parquet.schema().remove(3)
    pq.write_table(fewer.empty_table(), path)
    with pytest.raises(BadInputError, match="columns"):
        list(edit_files.read(path))
    edit_files.write(path, [sample(at) for at in range(5000)])
    data = bytearray(path.read_bytes())
    data[200:400] = os.urandom(200)
    path.write_bytes(data)
    with pytest.raises(BadInputError, match=r"damaged after|not a sound"):
        list(edit_files.read(path))


def test_nothing_appears_when_writing_fails(tmp_path: Path) -> None:
    def broken() -> Iterator[Edit]:
        yield sample()
        raise RuntimeError("in the middle")

    for name in ("e.parquet", "e.jsonl.gz"):
        (tmp_path / name).write_bytes(b"old")
        with pytest.raises(RuntimeError):
            edit_files.write(tmp_path / name, broken())
        assert (tmp_path / name).read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.jsonl.gz", "e.parquet"]


def test_the_same_edits_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.parquet", "a.jsonl.gz"):
        edit_files.write(tmp_path / name, [sample()])
        first = (tmp_path / name).read_bytes()
        edit_files.write(tmp_path / name, [sample()])
        assert (tmp_path / name).read_bytes() == first


@pytest.mark.parametrize("name", ["e.csv", "e.parquet.gz", "e"])
def test_unknown_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="known suffix"):
        edit_files.write(tmp_path / name, [])


def test_a_format_is_for_lines(tmp_path: Path) -> None:
    for name in ("e.parquet", "e.tsv"):
        with pytest.raises(UserError, match="the format githubedits requires"):
            edit_files.write(tmp_path / name, [], form="githubedits")


def test_missing_places_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        list(edit_files.read(tmp_path / "none.parquet"))
    with pytest.raises(UserError, match="not a folder"):
        edit_files.write(tmp_path / "none" / "e.parquet", [])
