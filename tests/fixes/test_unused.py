"""What a fix leaves without a use goes with it: given a text before and after the edits, this is what remains."""

import pytest

from dllint.fixes.unused import without_unused

HEAD = "import numpy as np\n\n\ndef start(worker_id):\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    seed = 7\n    f(seed + worker_id)\n", "    f(1)\n"),
        ("    seed = 7  # ours\n    f(seed)\n    g(seed)\n", "    f(1)\n    g(seed)\n"),
        ("    info = data.get_worker_info()\n    number = info.id\n    f(number)\n", "    f(1)\n"),
        ("    if worker_id:\n        a = 1\n        f(a)\n", "    if worker_id:\n        f(1)\n"),
    ],
)
def test_a_variable_goes_with_its_last_use(before, after):
    new = before.replace("seed + worker_id", "1").replace("f(seed)", "f(1)")
    new = new.replace("f(number)", "f(1)").replace("f(a)", "f(1)")
    kept = "    seed = 7  # ours\n" if "g(seed)" in after else ""
    assert without_unused(HEAD + before, HEAD + new) == HEAD + kept + after


@pytest.mark.parametrize(
    "body",
    [
        "    seed = read()\n    f(seed)\n",
        "    seed = 7; g()\n    f(seed)\n",
        "    global seed\n    seed = 7\n    f(seed)\n",
        "    seed, other = 7, 8\n    f(seed)\n",
        "    seed = 7\n    f(seed)\n    return locals()\n",
        "    seed = 7\n    f(seed)\n    return lambda: seed\n",
        "    if worker_id:\n        seed = 7\n    f(seed)\n",
    ],
)
def test_what_may_be_of_use_stays(body):
    new = HEAD + body.replace("f(seed)", "f(1)")
    assert without_unused(HEAD + body, new) == new


def test_what_was_of_no_use_before_stays():
    body = "    seed = 7\n    f(other)\n"
    assert "seed = 7" in without_unused(HEAD + body, HEAD + body.replace("other", "1"))
