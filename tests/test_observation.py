"""Records come back as they were written, and a broken record costs that record only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dllint import observation
from dllint.observation import Epoch, Launch, Loader, Process, Record, Site, Worker
from dllint.span import Span

SITE = Site("/home/me/train.py", 30, 18, 30, 24, "main")
RECORDS: list[Record] = [
    Process(70, 1.0, ppid=69, role="main", argv=("train.py", "--fast"), python="3.11.7", cwd="/home/me"),
    Launch(70, 2.0, api="DataLoader", site=SITE, method="fork", daemon=True, child=83),
    Loader(70, 2.5, loader="70.1", arguments={"num_workers": 2, "sampler": None, "shape": [1, 2]}, workers=2),
    Worker(83, 3.0, loader="70.1", worker=0, seconds=0.25),
    Epoch(70, 4.0, loader="70.1", batches=16, cut=True, wait=0.5, waits=(0.25, 0.25), site=SITE),
]


def line(record: Record) -> bytes:
    return json.dumps(record.to_json()).encode()


def test_records_come_back_as_they_were_written() -> None:
    assert observation.read_lines(map(line, reversed(RECORDS))) == observation.Observation(tuple(RECORDS))


@pytest.mark.parametrize("kind", sorted(observation.KINDS))
def test_every_kind_can_leave_out_all_but_process_and_time(kind: str) -> None:
    (record,) = observation.read_lines([json.dumps({"kind": kind, "pid": 7, "t": 1}).encode()]).records
    assert (record.kind, record.pid, record.t) == (kind, 7, 1.0)
    assert observation.read_lines([line(record)]).records == (record,)


@pytest.mark.parametrize("length", range(1, len(line(RECORDS[1]))))
def test_a_record_that_is_cut_off_costs_only_itself(length: int) -> None:
    read = observation.read_lines([line(RECORDS[0]), line(RECORDS[1])[:length], line(RECORDS[3])])
    assert (read.records, read.cut) == ((RECORDS[0], RECORDS[3]), 1)


def test_what_is_unknown_is_passed_over() -> None:
    later = {**RECORDS[0].to_json(), "colour": "red"}
    read = observation.read_lines([json.dumps(later).encode(), b'{"kind": "mood", "pid": 1, "t": 2}', b"", b"\0\0"])
    assert read == observation.Observation((RECORDS[0],))


@pytest.mark.parametrize(
    "broken",
    [
        b"[]",
        b"7",
        b'{"kind": 7}',
        b'{"kind": "process"}',
        b'{"kind": "process", "pid": "x", "t": 1}',
        b'{"kind": "process", "pid": true, "t": 1}',
        b'{"kind": "process", "pid": 1, "t": 1, "role": "king"}',
        b'{"kind": "process", "pid": 1, "t": 1, "argv": "train.py"}',
        b'{"kind": "launch", "pid": 1, "t": 1, "site": {"line": 1}}',
        b'{"kind": "loader", "pid": 1, "t": 1, "arguments": []}',
    ],
)
def test_a_record_that_makes_no_sense_is_counted(broken: bytes) -> None:
    read = observation.read_lines([broken, line(RECORDS[0])])
    assert (read.records, read.malformed) == ((RECORDS[0],), 1)


def test_bytes_that_are_no_text_are_counted() -> None:
    assert observation.read_lines([b'{"kind": "process", "name": "\xff"}']).cut == 1


def test_a_directory_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "70-1.jsonl").write_bytes(line(RECORDS[0]) + b"\n" + line(RECORDS[1]) + b"\n" + line(RECORDS[2])[:9])
    (tmp_path / "83-1.jsonl").write_bytes(line(RECORDS[3]) + b"\n")
    (tmp_path / "notes.txt").write_text("not a record")
    (tmp_path / "90-1.jsonl").mkdir()
    read = observation.read(str(tmp_path))
    assert (read.records, read.cut) == ((RECORDS[0], RECORDS[1], RECORDS[3]), 1)
    assert list(read.of(Worker)) == [RECORDS[3]]
    assert set(read.processes) == {70}


def test_a_directory_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert observation.read(str(tmp_path / "none")) == observation.Observation()


def test_a_site_is_a_span_where_the_columns_are_known() -> None:
    assert SITE.span == Span(30, 18, 30, 24)
    assert Site("train.py", 30).span is None
