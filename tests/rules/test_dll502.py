"""DLL502: which settings of OpenCV's variables have no effect, and which do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL502"]}

FOUND: dict[str, str] = {
    "assignment": 'import os\nos.environ["OPENCV_OPENMP_NUM_THREADS"] = "1"  # DLL502\n',
    "environ imported": 'from os import environ\nenviron["OPENCV_OPENMP_NUM_THREADS"] = "1"  # DLL502\n',
    "environ by another name": 'from os import environ as env\nenv["OPENCV_OPENMP_NUM_THREADS"] = "1"  # DLL502\n',
    "setdefault": 'import os\nos.environ.setdefault("OPENCV_OPENMP_NUM_THREADS", "1")  # DLL502\n',
    "putenv": 'import os\nos.putenv("OPENCV_OPENMP_NUM_THREADS", "1")  # DLL502\n',
    "update with keywords": 'import os\nos.environ.update(OPENCV_OPENMP_NUM_THREADS="1")  # DLL502\n',
    "update with a dict": 'import os\nos.environ.update({"OPENCV_OPENMP_NUM_THREADS": "1"})  # DLL502\n',
    "name in a constant": 'import os\nNAME = "OPENCV_OPENMP_NUM_THREADS"\nos.environ[NAME] = "1"  # DLL502\n',
    "str of a number": 'import os\nos.environ["OPENCV_OPENMP_NUM_THREADS"] = str(1)  # DLL502\n',
    "in a function": 'import os\n\ndef main():\n    os.environ["OPENCV_OPENMP_NUM_THREADS"] = "1"  # DLL502\n',
    "in a loop over names": """\
import os

for name in ("OMP_NUM_THREADS", "OPENCV_OPENMP_NUM_THREADS"):
    os.environ[name] = "1"  # DLL502
""",
    "in worker_init_fn": """\
import os
from torch.utils.data import DataLoader

def start(worker):
    os.environ["OPENCV_OPENMP_NUM_THREADS"] = "1"  # DLL502

def build(rows):
    return DataLoader(rows, num_workers=2, worker_init_fn=start)
""",
    "after cv2 was used": """\
import os
import cv2

logo = cv2.imread("logo.png")
os.environ["OPENCV_OPENMP_NUM_THREADS"] = "1"  # DLL502
""",
    "the right variable too late": """\
import os
import cv2

logo = cv2.resize(cv2.imread("logo.png"), (2, 2))
os.environ["OPENCV_FOR_THREADS_NUM"] = "1"  # DLL502
""",
    "the right variable too late in a function": """\
import os
import cv2 as cv

def main(image):
    image = cv.resize(image, (2, 2))
    os.environ.setdefault("OPENCV_FOR_THREADS_NUM", "1")  # DLL502
    return image
""",
}

SILENT: dict[str, str] = {
    "the right variable": 'import os\nos.environ["OPENCV_FOR_THREADS_NUM"] = "1"\nimport cv2\ncv2.resize(1, (2, 2))\n',
    "after the import": 'import os\nimport cv2\nos.environ["OPENCV_FOR_THREADS_NUM"] = "1"\ncv2.resize(1, (2, 2))\n',
    "read only": """\
import os
print(os.environ.get("OPENCV_OPENMP_NUM_THREADS"), os.environ["OPENCV_OPENMP_NUM_THREADS"])
""",
    "getenv": 'import os\nprint(os.getenv("OPENCV_OPENMP_NUM_THREADS", "1"))\n',
    "removed": """\
import os
os.environ.pop("OPENCV_OPENMP_NUM_THREADS", None)
del os.environ["OPENCV_OPENMP_NUM_THREADS"]
""",
    "a dict of the project": 'names = {}\nnames["OPENCV_OPENMP_NUM_THREADS"] = "1"\n',
    "an object's environ": """\
class Job:
    environ = {}

job = Job()
job.environ["OPENCV_OPENMP_NUM_THREADS"] = "1"
""",
    "a test for it": 'import os\nif "OPENCV_OPENMP_NUM_THREADS" in os.environ:\n    print("set")\n',
    "in a string": 'HELP = "Set OPENCV_OPENMP_NUM_THREADS=1"  # OPENCV_OPENMP_NUM_THREADS\n',
    "other variables": """\
import os
import cv2

cv2.resize(1, (2, 2))
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENCV_LOG_LEVEL"] = "ERROR"
os.environ["OPENCV_IO_MAX_IMAGE_PIXELS"] = "100"
""",
    "cv2 is used in another function": """\
import os
import cv2

def show(image):
    return cv2.resize(image, (2, 2))

os.environ["OPENCV_FOR_THREADS_NUM"] = "1"
show(1)
""",
    "cv2 is used in the other branch": """\
import os
import cv2

def main(train, image):
    if not train:
        return cv2.resize(image, (2, 2))
    os.environ["OPENCV_FOR_THREADS_NUM"] = "1"
    return image
""",
    "the environment of a subprocess": """\
import os
import subprocess
import cv2

cv2.resize(1, (2, 2))
environment = dict(os.environ)
environment["OPENCV_FOR_THREADS_NUM"] = "1"
subprocess.run(["python", "train.py"], env=environment)
""",
    "only setNumThreads before": """\
import os
import cv2

cv2.setNumThreads(0)
os.environ["OPENCV_FOR_THREADS_NUM"] = "1"
""",
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_settings_without_effect_are_found(findings: Callable[..., Any], marks: Callable[..., Any], text: str) -> None:
    assert findings({"train.py": text}, **SELECT) == marks({"train.py": text})


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_other_settings_are_silent(findings: Callable[..., Any], text: str) -> None:
    assert findings({"train.py": text}, **SELECT) == set()


def test_a_setting_in_another_module(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {
        "limits.py": 'import os\n\ndef limit():\n    os.environ["OPENCV_OPENMP_NUM_THREADS"] = "1"  # DLL502\n',
        "train.py": "from limits import limit\n\nlimit()\n",
    }
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize(
    ("case", "message", "fixable"),
    [
        ("assignment", "fictional", True),
        ("after cv2 was used", "both", False),
        ("the right variable too late", "too_late", False),
    ],
)
def test_messages_and_fixes(told: Callable[..., Any], case: str, message: str, fixable: bool) -> None:
    (finding,) = told({"train.py": FOUND[case]}, **SELECT)

    assert finding.message == message
    assert [fix.applicability for fix in finding.fixes] == (["safe"] if fixable else [])


def test_the_call_before_is_named(told: Callable[..., Any]) -> None:
    (finding,) = told({"train.py": FOUND["the right variable too late"]}, **SELECT)

    assert "train.py:4" in finding.text
    assert [place.span.line for place in finding.related] == [4]
