"""DLL605: which loaders get options that need workers and have none, and which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL605"]}
HEAD = "from torch.utils.data import DataLoader\n\n"
PARSER = """\
import argparse

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", "-j", type=int, default=0)
    parser.add_argument("--persistent", action="store_true")
    return parser.parse_args()
"""

ERRORS: dict[str, str] = {
    "literals": "loader = DataLoader([], num_workers=0, persistent_workers=True)  # DLL605\n",
    "no count at all": "loader = DataLoader([], prefetch_factor=2)  # DLL605\n",
    "a context": 'loader = DataLoader([], multiprocessing_context="fork")  # DLL605\n',
    "a context object": """
import torch.multiprocessing as mp
loader = DataLoader([], 8, True, multiprocessing_context=mp.get_context("spawn"))  # DLL605
""",
    "a timeout": "loader = DataLoader([], timeout=30)  # DLL605\n",
    "by position": "loader = DataLoader([], 4, False, None, None, 0, persistent_workers=True)  # DLL605\n",
    "keyword dict": """
OPTIONS = {"num_workers": 0, "prefetch_factor": 2}
loader = DataLoader([], **OPTIONS)  # DLL605
""",
    "alias and subclass": """
from torch.utils.data import DataLoader as Base

class Loader(Base):
    def __init__(self, dataset, **kwargs):
        super().__init__(dataset, persistent_workers=True, **kwargs)

loader = Loader([], num_workers=0)  # DLL605
""",
    "one caller gives 0": """
def build(dataset, workers):
    return DataLoader(dataset, num_workers=workers, persistent_workers=True)  # DLL605

def main(dataset):
    return build(dataset, 4), build(dataset, 0)
""",
    "partial": """
from functools import partial
make = partial(DataLoader, num_workers=0)
loader = make([], prefetch_factor=2)  # DLL605
""",
    "transformers": """
from transformers import TrainingArguments
arguments = TrainingArguments("out", dataloader_prefetch_factor=2)  # DLL605
""",
}

WARNINGS: dict[str, tuple[str, str]] = {
    "a parameter's default": (
        """
def build(dataset, workers=0):
    return DataLoader(dataset, num_workers=workers, persistent_workers=True)  # DLL605
""",
        "the default of `workers`",
    ),
    "an option's default": (
        PARSER
        + """
def main():
    args = parse()
    return DataLoader([], num_workers=args.workers, prefetch_factor=4)  # DLL605
""",
        "the default of `--workers`",
    ),
    "an option's default, deeper": (
        PARSER
        + """
class Data:
    def __init__(self, args):
        self.workers = int(args.workers)

    def loader(self):
        return DataLoader([], num_workers=self.workers, multiprocessing_context="spawn")  # DLL605

def main():
    return Data(parse()).loader()
""",
        "the default of `--workers`",
    ),
    "an option's default, by a keyword dict": (
        PARSER
        + """
def main():
    args = parse()
    options = dict(num_workers=args.workers, persistent_workers=True)
    return DataLoader([], **options)  # DLL605
""",
        "the default of `--workers`",
    ),
    "an option's default, by all options unpacked": (
        PARSER.replace("--workers", "--num_workers")
        + """
def main():
    args = parse()
    return DataLoader([], persistent_workers=True, **dict(num_workers=args.num_workers, drop_last=True))  # DLL605
""",
        "the default of `--num_workers`",
    ),
    "a parameter's default, set under a key": (
        """
def build(dataset, workers=0):
    options = {"drop_last": True}
    options["num_workers"] = workers
    return DataLoader(dataset, prefetch_factor=2, **options)  # DLL605
""",
        "the default of `workers`",
    ),
    "0 on one way": (
        """
import os

workers = 0 if os.environ.get("CI") else 4
loader = DataLoader([], num_workers=workers, persistent_workers=True)  # DLL605
""",
        "on some paths",
    ),
    "0 is expected for another option": (
        """
def build(rows, count):
    return DataLoader(rows, num_workers=count, persistent_workers=count > 0, prefetch_factor=4)  # DLL605
""",
        "as the program expects at train.py:5",
    ),
    "0 is expected, of a configuration": (
        """
class Data:
    def build(self, rows):
        keeps = bool(self.config.workers > 0)
        return DataLoader(  # DLL605
            rows, num_workers=self.config.workers, persistent_workers=keeps, prefetch_factor=4
        )
""",
        "as the program expects at train.py:",
    ),
    "0 is expected by a message": (
        """
def build(rows, count):
    if not count:
        print("no workers")
    return DataLoader(rows, num_workers=count, persistent_workers=True)  # DLL605
""",
        "as the program expects at train.py:5",
    ),
    "0 is expected by the dataset": (
        """
class Rows:
    def __init__(self, workers):
        if workers == 0:
            self.open(-1)

def read(options):
    factor = options.size // options.threads if options.threads > 1 else options.size
    rows = Rows(options.threads)
    return DataLoader(  # DLL605
        rows, num_workers=options.threads, prefetch_factor=factor if factor > 0 else 2
    )
""",
        "as the program expects at train.py:6",
    ),
    "0 is expected beside an option that is on by default": (
        """
import os

def build(rows, epoch, count=os.cpu_count() // 2, factor=10, **options):
    steps = min(epoch // count if count > 0 else epoch, 9)
    return DataLoader(rows, steps, num_workers=count, prefetch_factor=factor, **options)  # DLL605
""",
        "as the program expects at train.py:7",
    ),
}

SILENT: dict[str, str] = {
    "an option that a name before the call takes from the number": (
        "from torch.utils.data import DataLoader\n\n\nclass Data:\n    def __init__(self, count=0):\n"
        "        self.count = count\n\n    def batches(self, rows):\n        lasting = self.count > 0\n"
        "        return DataLoader(rows, num_workers=self.count, persistent_workers=lasting)\n\n\n"
        "def train(rows, count):\n    return Data(count=count).batches(rows)\n\n\n"
        "def main(rows, count=1):\n    return train(rows, count=count)\n"
    ),
    "0 is replaced": """
def build(rows, count):
    if count == 0:
        count = 1
    return DataLoader(rows, num_workers=count, prefetch_factor=4)
""",
    "0 is replaced by an expression": """
def build(rows, count):
    count = count if count > 0 else 4
    return DataLoader(rows, num_workers=count, prefetch_factor=4)
""",
    "0 is refused": """
def build(rows, count):
    if count <= 0:
        raise ValueError(count)
    return DataLoader(rows, num_workers=count, prefetch_factor=4)
""",
    "0 is refused in a function": """
def check(count):
    assert count > 0

def build(rows, count):
    check(count)
    return DataLoader(rows, num_workers=count, prefetch_factor=4)
""",
    "0 is expected, and each option follows": """
def build(rows, count, options):
    factor = 4 if count > 0 else options.factor
    return DataLoader(rows, num_workers=count, persistent_workers=count > 0, timeout=9 if count > 0 else options.wait)
""",
    "another number is expected": """
def build(rows, count):
    if count > 8:
        print("many")
    return DataLoader(rows, num_workers=count, prefetch_factor=4)
""",
    "0 is expected of a number that is known": """
def build(rows, count=4):
    return DataLoader(rows, num_workers=count, persistent_workers=count > 0, prefetch_factor=4)

build([])
""",
    "there are workers": "loader = DataLoader([], num_workers=4, persistent_workers=True, prefetch_factor=2)\n",
    "the options are off": (
        "loader = DataLoader([], num_workers=0, persistent_workers=False, prefetch_factor=None, timeout=0)\n"
    ),
    "conditional on the count": PARSER
    + """
def main():
    args = parse()
    return DataLoader([], num_workers=args.workers, persistent_workers=args.workers > 0,
                      prefetch_factor=4 if args.workers else None)
""",
    "conditional by bool": """
def build(dataset, workers=0):
    return DataLoader(dataset, num_workers=workers, persistent_workers=bool(workers))
""",
    "another option": PARSER
    + """
def main():
    args = parse()
    return DataLoader([], num_workers=args.workers, persistent_workers=args.persistent)
""",
    "set in a dict under a condition": """
def build(dataset, workers=0):
    options = {"num_workers": workers}
    if workers > 0:
        options["persistent_workers"] = True
        options.update(prefetch_factor=4)
    return DataLoader(dataset, **options)
""",
    "made under a condition": """
def build(dataset, workers=0):
    if workers > 0:
        return DataLoader(dataset, num_workers=workers, persistent_workers=True)
    return DataLoader(dataset)
""",
    "made after a check that leaves": """
def build(dataset, workers=0):
    if not workers:
        return DataLoader(dataset)
    return DataLoader(dataset, num_workers=workers, persistent_workers=True)
""",
    "asserted": """
def build(dataset, workers=0):
    assert workers > 0
    return DataLoader(dataset, num_workers=workers, persistent_workers=True)
""",
    "a default that nobody uses": """
def build(dataset, workers=0):
    return DataLoader(dataset, num_workers=workers, persistent_workers=True)

def main(dataset):
    return build(dataset, workers=8)
""",
    "each caller gives both": """
def build(dataset, workers, persistent):
    return DataLoader(dataset, num_workers=workers, persistent_workers=persistent)

def main(dataset):
    return build(dataset, 4, True), build(dataset, 0, False)
""",
    "raised to one": """
def build(dataset, workers=0):
    return DataLoader(dataset, num_workers=max(1, workers), persistent_workers=True)
""",
    "an unknown count": """
def build(dataset, config):
    return DataLoader(dataset, num_workers=config.workers, persistent_workers=True)
""",
    "a mapping that is not known": """
def build(dataset, **options):
    return DataLoader(dataset, persistent_workers=True, **options)
""",
    "a test that waits for the error": """
import pytest

def test_it():
    with pytest.raises(ValueError):
        DataLoader([], num_workers=0, persistent_workers=True)
""",
    "caught": """
def build(dataset):
    try:
        return DataLoader(dataset, prefetch_factor=4)
    except (ValueError, TypeError):
        return DataLoader(dataset)
""",
    "another DataLoader": """
from paddle.io import DataLoader
loader = DataLoader([], num_workers=0, persistent_workers=True)
""",
}


@pytest.mark.parametrize("text", ERRORS.values(), ids=ERRORS)
def test_errors(text: str, told: Callable[..., Any], marks: Callable[..., Any], relative: Callable[[str], str]) -> None:
    files = {"train.py": HEAD + text}

    found = told(files, **SELECT)

    assert {(relative(one.path), one.span.line, one.code) for one in found} == marks(files)
    assert {(one.severity, one.message) for one in found} == {("error", "main")}


@pytest.mark.parametrize(("text", "origin"), WARNINGS.values(), ids=WARNINGS)
def test_warnings(text: str, origin: str, told: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": HEAD + text}

    (found,) = told(files, **SELECT)

    assert {("train.py", found.span.line, found.code)} == marks(files)
    assert (found.severity, found.message) == ("warning", "default")
    assert origin in found.text


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": HEAD + text}, **SELECT) == set()


def test_an_option_of_the_same_name_in_another_program_does_not_count(told: Callable[..., Any]) -> None:
    files = {
        "arguments.py": "def add(parser):\n    parser.add_argument('--workers', default=4)\n    return parser\n",
        "other.py": PARSER + "\nif __name__ == '__main__':\n    print(parse())\n" + HEAD,
        "train.py": HEAD
        + "import argparse\n\nimport arguments\n\n"
        + "args = arguments.add(argparse.ArgumentParser()).parse_args()\n"
        + "loader = DataLoader([], num_workers=args.workers, persistent_workers=True)\n",
    }

    assert [one.message for one in told(files, **SELECT)] == ["chosen"]


def test_a_parser_that_another_package_fills(told: Callable[..., Any]) -> None:
    text = PARSER.replace("    return", "    parser = deepspeed.add_config_arguments(parser)\n    return")
    use = "args = parse()\nloader = DataLoader([], num_workers=args.workers, persistent_workers=True)\n"

    (found,) = told({"train.py": "import deepspeed\n" + HEAD + text + use}, **SELECT)

    assert "the default of `--workers` at train.py:8" in found.text


def test_a_configuration_file_is_a_default(told: Callable[..., Any]) -> None:
    files = {
        "config.json": '{"workers": 0}\n',
        "train.py": HEAD
        + "import json\n\nwith open('config.json') as stream:\n    config = json.load(stream)\n"
        + "loader = DataLoader([], num_workers=config['workers'], persistent_workers=True)\n",
    }

    (found,) = told(files, **SELECT)

    assert (found.severity, "`workers` in config.json" in found.text) == ("warning", True)


@pytest.mark.parametrize(
    "given",
    [
        "**config",
        "**config['loader']",
        "**dict(config['loader'])",
        "**{'drop_last': True, **config['loader']}",
        "**{'num_workers': config['loader']['num_workers']}",
    ],
)
def test_a_mapping_out_of_a_configuration_file_is_a_default(given: str, told: Callable[..., Any]) -> None:
    files = {
        "config.json": '{"num_workers": 0, "loader": {"num_workers": 0, "batch_size": 8}}\n',
        "train.py": HEAD
        + "import json\n\nwith open('config.json') as stream:\n    config = json.load(stream)\n"
        + f"loader = DataLoader([], persistent_workers=True, {given})\n",
    }

    (found,) = told(files, **SELECT)

    assert (found.severity, "`num_workers` in config.json" in found.text) == ("warning", True)


def test_a_function_that_hands_its_keywords_on(told: Callable[..., Any]) -> None:
    build = "def build(dataset, **options):\n    return DataLoader(dataset, persistent_workers=True, **options)\n\n"
    said = build + "def main():\n    return build([], num_workers=0)\n"
    default = build + PARSER + "\ndef main():\n    return build([], num_workers=parse().workers)\n"

    (of_program,) = told({"train.py": HEAD + said}, **SELECT)
    (of_user,) = told({"train.py": HEAD + default}, **SELECT)

    assert (of_program.severity, of_user.severity) == ("error", "warning")


def test_the_fix_of_an_error_is_safe_where_the_call_says_it_all(told: Callable[..., Any]) -> None:
    (plain,) = told({"train.py": HEAD + ERRORS["literals"]}, **SELECT)
    assert [(fix.applicability, [edit.keyword for edit in fix.edits]) for fix in plain.fixes] == [
        ("safe", ["persistent_workers"])
    ]
    (through,) = told({"train.py": HEAD + ERRORS["one caller gives 0"]}, **SELECT)
    assert through.fixes == ()
    assert "called from here" in [place.message for place in through.related]


def test_the_fix_of_a_warning_makes_the_options_depend_on_the_count(told: Callable[..., Any]) -> None:
    text = """
def build(dataset, workers=0):
    return DataLoader(dataset, num_workers=workers, persistent_workers=True, prefetch_factor=4, timeout=9)
"""
    (found,) = told({"train.py": HEAD + text}, **SELECT)

    (fix,) = found.fixes
    assert fix.applicability == "unsafe"
    assert {edit.keyword: edit.value for edit in fix.edits} == {
        "persistent_workers": "workers > 0",
        "prefetch_factor": "4 if workers > 0 else None",
        "timeout": "9 if workers > 0 else 0",
    }


START = "def start(number):\n    print(number)\n\n"


@pytest.mark.parametrize(
    "loader",
    ["DataLoader([], num_workers=0, worker_init_fn=start)", "DataLoader([], worker_init_fn=start)"],
)
def test_a_function_that_is_never_called_is_an_info(loader: str, told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": HEAD + START + f"loader = {loader}\n"}, **SELECT)

    assert (found.severity, found.message, found.fixes) == ("info", "ignored", ())


@pytest.mark.parametrize(
    "text",
    [
        "loader = DataLoader([], num_workers=0, worker_init_fn=None)\n",
        "loader = DataLoader([], num_workers=2, worker_init_fn=start)\n",
        "def build(workers=0):\n    return DataLoader([], num_workers=workers, worker_init_fn=start)\n",
        "def build(n):\n    return DataLoader([], num_workers=n, worker_init_fn=start)\n\nbuild(0)\nbuild(2)\n",
        "def build(**options):\n    return DataLoader([], worker_init_fn=start, **options)\n",
        PARSER + "loader = DataLoader([], num_workers=parse().workers, worker_init_fn=start)\n",
    ],
)
def test_a_function_that_may_be_called(text: str, told: Callable[..., Any]) -> None:
    assert told({"train.py": HEAD + START + text}, **SELECT) == ()


CLICK = """\
import click
from torch.utils.data import DataLoader

@click.command()
@click.option("--workers", "num_workers", default=0)
@click.option("--keep/--no-keep", default=True)
def main(num_workers, keep):
    DataLoader([], num_workers=num_workers, persistent_workers=True)  # DLL605

if __name__ == "__main__":
    main()
"""
TYPER = """\
import typer
from torch.utils.data import DataLoader

app = typer.Typer()

@app.command()
def main(num_workers: int = typer.Option(0, help="processes"), others: int = 0, some: int = 2):
    DataLoader([], num_workers=num_workers, persistent_workers=True)  # DLL605
    DataLoader([], num_workers=others, persistent_workers=True)  # DLL605
    DataLoader([], num_workers=some, persistent_workers=True)

if __name__ == "__main__":
    app()
"""


@pytest.mark.parametrize("text", [CLICK, TYPER], ids=["click", "typer"])
def test_an_option_of_a_command_is_as_likely_as_its_default(
    text: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"train.py": text}

    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "num_workers=workers, persistent_workers=True, prefetch_factor=ahead",
            {"persistent_workers": "workers > 0", "prefetch_factor": "ahead if workers > 0 else None"},
        ),
        (
            "num_workers=workers, persistent_workers=True, prefetch_factor=4",
            {"persistent_workers": "workers > 0", "prefetch_factor": "4 if workers > 0 else None"},
        ),
        (
            "num_workers=workers, persistent_workers=True, timeout=ahead if ahead else 9",
            {"persistent_workers": "workers > 0", "timeout": "(ahead if ahead else 9) if workers > 0 else 0"},
        ),
        (
            "num_workers=workers, persistent_workers=ahead is None, prefetch_factor=4",
            {"persistent_workers": "ahead is None and workers > 0", "prefetch_factor": "4 if workers > 0 else None"},
        ),
        ("num_workers=workers, persistent_workers=True, prefetch_factor=ahead(3)", None),
        (
            "num_workers=workers, persistent_workers=True, prefetch_factor=None",
            {"persistent_workers": "workers > 0"},
        ),
    ],
)
def test_the_fix_covers_all_options_of_the_call(
    call: str, expected: dict[str, str] | None, told: Callable[..., Any]
) -> None:
    text = f"def build(dataset, ahead, workers=0):\n    return DataLoader(dataset, {call})\n"

    (finding,) = told({"train.py": HEAD + text}, **SELECT)

    found = {edit.keyword: edit.value for fix in finding.fixes for edit in fix.edits}
    assert found == (expected or {})


def test_options_that_are_not_known_go_where_there_are_no_workers(told: Callable[..., Any]) -> None:
    text = "def build(dataset, ahead):\n    return DataLoader(dataset, timeout=3, prefetch_factor=ahead)\n"

    (finding,) = told({"train.py": HEAD + text}, **SELECT)

    assert [edit.keyword for fix in finding.fixes for edit in fix.edits] == ["timeout", "prefetch_factor"]


EIGHT = PARSER.replace("default=0", "default=8")
MADE = "DataLoader([], num_workers=args.workers, persistent_workers=True)"


@pytest.mark.parametrize(
    "text",
    [
        f"args = parse()\n{MADE}\n",
        f"count = parse().workers\n{MADE.replace('args.workers', 'count')}\n",
        f"def build(args):\n    return {MADE}\n\nbuild(parse())\n",
        "def build(n):\n    return DataLoader([], num_workers=n, prefetch_factor=2)\n\nbuild(parse().workers)\n",
        """
class Data:
    def __init__(self, args):
        self.args = args

    def build(self):
        return DataLoader([], num_workers=self.args.workers, prefetch_factor=2)

Data(parse()).build()
""",
    ],
)
def test_an_option_that_may_be_0_is_an_info(text: str, told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": HEAD + EIGHT + text}, **SELECT)

    assert (found.severity, found.message) == ("info", "chosen")
    assert "`--workers 0`" in found.text


@pytest.mark.parametrize(
    "text",
    [
        EIGHT + f"args = parse()\n{MADE.replace('args.workers', 'max(1, args.workers)')}\n",
        EIGHT + f"args = parse()\n{MADE.replace('args.workers', 'args.workers or 1')}\n",
        EIGHT + f"args = parse()\n{MADE.replace('=True', '=args.workers > 0')}\n",
        EIGHT + f"args = parse()\nif args.workers < 1:\n    raise SystemExit(2)\n{MADE}\n",
        EIGHT + f"args = parse()\nassert args.workers\n{MADE}\n",
        EIGHT + f"args = parse()\nargs.workers = max(args.workers, 1)\n{MADE}\n",
        EIGHT.replace("default=8", "default=8, choices=[1, 2, 8]") + f"args = parse()\n{MADE}\n",
        EIGHT + f"args = parse()\n{MADE.replace('=True', '=args.persistent')}\n",
        f"def build(args):\n    return {MADE}\n",
    ],
)
def test_an_option_that_is_looked_after(text: str, told: Callable[..., Any]) -> None:
    assert told({"train.py": HEAD + text}, **SELECT) == ()


@pytest.mark.parametrize(
    ("arguments", "removed"),
    [
        ("num_workers=0, persistent_workers=True, prefetch_factor=4", ["persistent_workers", "prefetch_factor"]),
        ("num_workers=0, timeout=3", ["timeout"]),
        ("timeout=3", ["timeout"]),
        ("1, None, None, None, count, timeout=3", []),
        ("num_workers=count, persistent_workers=True", []),
        ("num_workers=0, prefetch_factor=count + 1", []),
        ("num_workers=0, prefetch_factor=4, **options", []),
    ],
)
def test_a_call_that_fails_for_every_caller_is_mended(
    arguments: str, removed: list[str], told: Callable[..., Any]
) -> None:
    text = f"def build(rows, count, **options):\n    return DataLoader(rows, {arguments})\n\nbuild([], 0)\n"

    (finding,) = told({"train.py": HEAD + text}, **SELECT)

    assert finding.severity == "error"
    assert [edit.keyword for fix in finding.fixes for edit in fix.edits] == removed


def test_the_loaders_of_one_function_that_ignore_the_option(told: Callable[..., Any]) -> None:
    text = (
        "import torch\n\ndef seed(worker_id):\n    torch.manual_seed(worker_id)\n\ndef build(rows, others):\n"
        "    one = torch.utils.data.DataLoader(rows, worker_init_fn=seed)\n"
        "    two = torch.utils.data.DataLoader(others, worker_init_fn=seed)\n    return one, two\n"
    )
    (finding,) = told({"train.py": text}, select=["DLL605"])

    assert (finding.message, finding.span.line) == ("ignored", 7)
    assert [place.span.line for place in finding.related] == [8]
