"""Facts come back as they were put, or not at all."""

from __future__ import annotations

import json
import os
import zlib
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

import dllint
from dllint import cache_directory as cache
from dllint.facts.cache import Cache, decode, encode, from_json, to_json
from dllint.facts.extract import extract

TEXT = """\
import a as b
@d
class C(B, metaclass=M):
    x: int = 1
    def f(self, *a, k=lambda: 0):
        if k: return [i async for i in g(k, *a, z=f"{a}")]
        with h() as w: yield
y = "\\ud800é"
"""


def entries(directory: Path) -> list[Path]:
    return sorted(directory.glob("*/*.facts"))


def test_facts_come_back(tmp_path: Path) -> None:
    facts = extract(TEXT)
    Cache(str(tmp_path / "kept")).put(TEXT, facts)
    found = Cache(str(tmp_path / "kept")).get(TEXT)
    assert found == facts
    assert found is not None
    assert type(found.calls[0].args[0].span) is type(facts.calls[0].args[0].span)
    assert type(found.scopes[1].events[0]) is type(facts.scopes[1].events[0])


def test_another_text_is_not_found(tmp_path: Path) -> None:
    Cache(str(tmp_path)).put(TEXT, extract(TEXT))
    assert Cache(str(tmp_path)).get(TEXT + "\n") is None


def test_facts_of_another_version_are_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(str(tmp_path)).put(TEXT, extract(TEXT))
    with monkeypatch.context() as patch:
        patch.setattr(dllint, "__version__", "0.0.0")
        assert Cache(str(tmp_path)).get(TEXT) is None
    monkeypatch.setattr("dllint.facts.cache.FACTS_VERSION", -1)
    assert Cache(str(tmp_path)).get(TEXT) is None


def test_no_directory_is_no_cache() -> None:
    Cache(None).put(TEXT, extract(TEXT))
    assert Cache(None).get(TEXT) is None


def test_a_directory_that_cannot_be_made_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Cache(str(tmp_path / "file" / "kept"))
    kept.put(TEXT, extract(TEXT))
    assert kept.get(TEXT) is None


def test_no_temporary_file_stays_when_an_entry_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    Cache(str(tmp_path)).put(TEXT, extract(TEXT))
    assert [path.name for path in tmp_path.glob("*/*")] == []


KEY = b"k" * 32


@pytest.fixture(autouse=True)
def known_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "secret", lambda: KEY)


def sealed(data: Any, key: bytes = KEY) -> bytes:
    return seal(zlib.compress(json.dumps(data).encode()), key)


def seal(payload: bytes, key: bytes = KEY) -> bytes:
    return blake2b(payload, digest_size=16, key=key).digest() + payload


def altered(**parts: Any) -> bytes:
    names = ["scopes", "calls", "regions", "called", "loaded", "aliases", "lines"]
    data = json.loads(json.dumps(to_json(extract(TEXT))))
    for name, part in parts.items():
        data[names.index(name)] = part
    return sealed(data)


HOSTILE = {
    "empty": b"",
    "text": b"hello",
    "cut": encode(extract(TEXT), KEY)[:-9],
    "flipped": encode(extract(TEXT), KEY)[:-9] + b"\0" * 9,
    "pickle": b"cos\nsystem\n(S'echo'\ntR.",
    "null": sealed(None),
    "list": sealed([]),
    "dict": sealed({"scopes": []}),
    "no scopes": altered(scopes=[]),
    "numbers": altered(scopes=[1, 2]),
    "short spans": altered(regions=[[0, "", None, True, [1, 2]]]),
    "loop of regions": altered(regions=[[0, "", None, True, [1, 1, 1, 1]], [1, "if", None, True, [1, 1, 1, 1]]]),
    "call of nowhere": altered(calls=[[["name", "f"], [], [1, 1, 1, 2], 99, 0, [1, 1, 1, 2]]]),
    "missing call": altered(calls=[]),
    "missing name": altered(called={"f": [99]}),
    "text for names": altered(loaded=["f"]),
    "deep": seal(zlib.compress(b"[" * 100_000)),
    "of another user": sealed(json.loads(json.dumps(to_json(extract(TEXT)))), b"other"),
    "unkeyed": sealed(json.loads(json.dumps(to_json(extract(TEXT)))), b""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_bad_entry_is_absent_and_written_anew(name: str, tmp_path: Path) -> None:
    facts = extract(TEXT)
    kept = Cache(str(tmp_path))
    kept.put(TEXT, facts)
    (entry,) = entries(tmp_path)
    entry.write_bytes(HOSTILE[name])
    assert kept.get(TEXT) is None
    kept.put(TEXT, facts)
    assert kept.get(TEXT) == facts


def test_the_unaltered_entry_is_fine() -> None:
    assert decode(altered(), KEY) == extract(TEXT)


def test_json_and_back() -> None:
    facts = extract(TEXT)
    assert from_json(json.loads(json.dumps(to_json(facts)))) == facts


def test_the_directory_is_marked(tmp_path: Path) -> None:
    Cache(str(tmp_path)).put(TEXT, extract(TEXT))
    assert (tmp_path / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_removing(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    Cache(str(kept)).put(TEXT, extract(TEXT))
    assert cache.remove(str(kept)) == str(kept)
    assert not kept.exists()
    assert cache.remove(str(kept)) is None


def test_removing_leaves_what_is_not_the_caches(tmp_path: Path) -> None:
    assert cache.remove(str(tmp_path)) is None
    Cache(str(tmp_path)).put(TEXT, extract(TEXT))
    (tmp_path / "ab").mkdir(exist_ok=True)
    (tmp_path / "ab" / "precious.txt").write_text("x")
    assert cache.remove(str(tmp_path)) == str(tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["ab", "precious.txt"]


def test_old_entries_go_after_a_while(tmp_path: Path) -> None:
    facts = extract(TEXT)
    Cache(str(tmp_path)).put("old", facts)
    Cache(str(tmp_path)).put("new", facts)
    name = Cache(str(tmp_path))._name("old")
    (old,) = [path for path in entries(tmp_path) if path.name == f"{name[2:]}.facts"]
    for path in (old, tmp_path / "CACHEDIR.TAG"):
        os.utime(path, (1, 1))
    Cache(str(tmp_path)).put("newer", facts)
    assert not old.exists()
    assert len(entries(tmp_path)) == 2


def test_where_caches_belong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.default_directory() == str(tmp_path / "dllint")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert os.path.isabs(cache.default_directory())


def test_without_a_directory_no_entry_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def packed(facts: object) -> bytes:
        raise AssertionError("an entry was packed that nothing keeps")

    monkeypatch.setattr("dllint.facts.cache._packed", packed)
    Cache(None).put("size = 1\n", extract("size = 1\n"))
