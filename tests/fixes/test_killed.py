"""A fixing run that is killed while it writes: each file is as it was or as it should be, never lost, empty or cut off.

The run is one; where it comes to writing, it forks, and each of its children writes to the same files and is killed.
`FILES` and `KILLS` in the environment make the test larger.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = int(os.environ.get("FILES", "40"))
KILLS = int(os.environ.get("KILLS", "10"))
COMMENT = "# " + "a long line " * 8000
TEXT = f"""\
from torch.utils.data import DataLoader

{COMMENT}


def build(dataset):
    return DataLoader(dataset, num_workers=2, multiprocessing_context="spawn", collate_fn=lambda rows: rows[0])
"""
PROGRAM = """
import json, os, random, signal, sys, time
from dllint.cli import main
from dllint.commands import fix

kills = int(sys.argv.pop(1))
write = fix._write

def interrupted(texts, root):
    def reset():
        for path, (old, _) in texts.items():
            with open(path, "w") as stream:
                stream.write(old)

    began = time.monotonic()
    problems = write(texts, root)
    took, chance = time.monotonic() - began, random.Random(7)
    counts, left = [], 0
    for _ in range(kills):
        reset()
        child = os.fork()
        if not child:
            write(texts, root)
            os._exit(0)
        time.sleep(chance.uniform(0, took))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        now = {path: open(path).read() for path in texts}
        harmed = [path for path, text in now.items() if text not in texts[path]]
        counts.append((sum(text == texts[path][1] for path, text in now.items()), harmed))
        for name in os.listdir(root):
            if name.startswith(".dllint-"):
                left += 1
                os.unlink(os.path.join(root, name))
    reset()
    problems |= write(texts, root)
    others = sorted(set(os.listdir(root)) - set(map(os.path.basename, texts)))
    with open(os.path.join(root, os.pardir, "kills.json"), "w") as stream:
        json.dump({"counts": counts, "left": left, "others": others}, stream)
    return problems

fix._write = interrupted
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_kill_harms_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    paths = [folder / f"part{number}.py" for number in range(FILES)]
    for path in paths:
        path.write_text(TEXT)

    arguments = [str(KILLS), "check", ".", "--fix", "--quiet", "--jobs", "1", "--no-cache"]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], cwd=folder, capture_output=True, check=False)

    assert done.returncode == 0, done.stderr.decode()
    seen = json.loads((tmp_path / "kills.json").read_text())
    written = [count for count, _ in seen["counts"]]
    print(
        f"{KILLS} kills over {FILES} files: {sum(0 < one < FILES for one in written)} between two files, "
        f"{seen['left']} temporary files left"
    )
    assert [harmed for _, harmed in seen["counts"]] == [[]] * KILLS
    assert any(0 < one < FILES for one in written)
    assert seen["others"] == ["pyproject.toml"]
    assert all("collate_fn=_collate_fn)" in path.read_text() for path in paths)
