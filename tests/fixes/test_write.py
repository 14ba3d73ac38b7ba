"""A fixed file is written whole, as it was but for the fix, or not at all."""

import os
import stat
import sys

import pytest

from dllint.fixes import write
from dllint.fixes.write import WriteError, write_atomically, write_fixed

ENCODED = {
    "utf-8": ("x = 'é'\n", "utf-8", b""),
    "byte-order mark": ("x = 'é'\n", "utf-8", b"\xef\xbb\xbf"),
    "latin-1": ("# coding: latin-1\nx = 'é'\n", "latin-1", b""),
    "second line, CRLF": ("#!/bin/python\r\n# -*- coding: cp1252 -*-\r\nx = '€'\r\n", "cp1252", b""),
    "carriage returns": ("# coding: koi8-r\rx = 'Я'\r", "koi8-r", b""),
    "no declaration after code": ("x = 1\r# coding: ascii\ry = 'é'\r", "utf-8", b""),
}


@pytest.mark.parametrize(("text", "encoding", "mark"), ENCODED.values(), ids=ENCODED)
@pytest.mark.parametrize("kept", [True, False], ids=["mark in the text", "mark not in the text"])
def test_encoding_and_line_ends_stay(text, encoding, mark, kept, tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(mark + text.encode(encoding))
    lead = "\ufeff" if mark and kept else ""
    write_fixed(str(file), lead + text, lead + text.replace("x", "yz"))
    assert file.read_bytes() == mark + text.replace("x", "yz").encode(encoding)
    assert os.listdir(tmp_path) == ["a.py"]


def test_an_encoding_that_lacks_a_character(tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(b"# coding: latin-1\n")
    with pytest.raises(WriteError, match=r"a\.py: not fixed, because its encoding, \S+, has no '€'$"):
        write_fixed(str(file), "# coding: latin-1\n", "# coding: latin-1\n# €\n")
    assert file.read_bytes() == b"# coding: latin-1\n"


@pytest.mark.parametrize("now", [b"b\n", b"a\n\xff", b"# coding: nonsense\n", b""])
def test_a_file_that_changed_meanwhile_is_left_alone(now, tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(now)
    with pytest.raises(WriteError, match="it changed after it was checked"):
        write_fixed(str(file), "a\n", "c\n")
    assert file.read_bytes() == now


def test_a_file_that_is_gone(tmp_path):
    with pytest.raises(WriteError, match=r"a\.py: cannot be read: no such file"):
        write_fixed(str(tmp_path / "a.py"), "a\n", "b\n")
    with pytest.raises(WriteError, match=r"cannot be written"):
        write_atomically(str(tmp_path / "none" / "a.py"), b"")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_pipe_stays_a_pipe(tmp_path):
    """As do /dev/null and a shell's `>(command)`: who is root would put a file in the place of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        write_atomically(str(tmp_path / name), b"text")
        assert os.read(reading, 100) == b"text"
        os.close(reading)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can make a device")
def test_a_device_stays_a_device(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.read_bytes()
    except OSError as error:
        pytest.skip(f"no device can be used here: {error}")
    write_atomically(str(device), b"text")
    assert stat.S_ISCHR(os.stat(device).st_mode)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
@pytest.mark.parametrize("mode", [0o640, 0o755, 0o600])
def test_the_mode_stays(mode, tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(b"a")
    file.chmod(mode)
    write_atomically(str(file), b"b")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"b", mode)


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
def test_a_symbolic_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    file, link = tmp_path / "there" / "a.py", tmp_path / "b.py"
    file.write_bytes(b"a")
    link.symlink_to(file)
    write_atomically(str(link), b"b")
    assert link.is_symlink()
    assert file.read_bytes() == b"b"
    assert sorted(os.listdir(tmp_path)) == ["b.py", "there"]


def test_a_read_only_file_is_left_alone(tmp_path, monkeypatch):
    file = tmp_path / "a.py"
    file.write_bytes(b"a")
    monkeypatch.setattr(write.os, "access", lambda path, mode: False)
    with pytest.raises(WriteError, match=r"a\.py: cannot be written: it is read-only$"):
        write_atomically(str(file), b"b")
    assert file.read_bytes() == b"a"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(step, error, tmp_path, monkeypatch):
    file = tmp_path / "a.py"
    file.write_bytes(b"a")

    def fail(*args):
        raise error

    monkeypatch.setattr(write.os, step, fail)
    expected = WriteError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as raised:
        write_atomically(str(file), b"b")
    if expected is WriteError:
        assert str(raised.value) == f"{file}: cannot be written: No space left on device"
    assert file.read_bytes() == b"a"
    assert os.listdir(tmp_path) == ["a.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_a_new_file_has_the_mode_of_new_files(tmp_path):
    (tmp_path / "usual").write_text("")
    write_atomically(str(tmp_path / "new"), b"x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
