"""Start methods that are set before other code runs: commands of a group, modules that are imported later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

HEAD = """\
import multiprocessing as mp
import runpy

import click
import typer
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.scale = lambda row: row

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.scale(index)


def read():
    for row in DataLoader(Rows(), num_workers=4):
        print(row)


"""
MAIN = 'import multiprocessing as mp\nimport runpy\n\nif __name__ == "__main__":\n    mp.set_start_method("spawn")\n'
GUARDED = HEAD + 'if __name__ == "__main__":\n    read()\n'
FOUND: dict[str, Mapping[str, str]] = {
    "the function of a click group": {
        "rows.py": HEAD
        + """\
@click.group()
@click.option("--debug", is_flag=True)
def cli(debug):
    mp.set_start_method("spawn")


@cli.command()
def train():
    read()
"""
    },
    "the callback of a typer app, through a function": {
        "rows.py": HEAD
        + """\
app = typer.Typer()


def prepare():
    mp.set_start_method("spawn", force=True)


@app.callback()
def setup():
    prepare()


@app.command("train")
def main():
    read()
"""
    },
    "a command of another file, in a group inside": {
        "main.py": """\
import multiprocessing as mp

import click

from rows import command


@click.group()
def cli():
    mp.set_start_method("spawn")


@cli.group()
def data():
    pass


data.add_command(command)
""",
        "rows.py": HEAD + "@click.command()\ndef command():\n    read()\n",
    },
    "an app inside": {
        "main.py": """\
import multiprocessing as mp

import typer

import rows

app = typer.Typer()
app.add_typer(rows.app)


@app.callback()
def setup():
    mp.set_start_method("spawn")
""",
        "rows.py": HEAD + "app = typer.Typer()\n\n\n@app.command()\ndef command():\n    read()\n",
    },
    "a module that is imported after": {"main.py": f"{MAIN}    import rows\n", "rows.py": f"{HEAD}read()\n"},
    "a module that the process imports": {
        "main.py": """\
import multiprocessing as mp


def run():
    import rows


if __name__ == "__main__":
    mp.get_context("spawn").Process(target=run).start()
""",
        "rows.py": f"{HEAD}read()\n",
    },
    "a script that is run after": {
        "main.py": f'{MAIN}    runpy.run_path("rows.py", run_name="__main__")\n',
        "rows.py": GUARDED,
    },
    "a module that is run after": {
        "main.py": f'{MAIN}    runpy.run_module("rows", None, "__main__")\n',
        "rows.py": GUARDED,
    },
}
SILENT: dict[str, Mapping[str, str]] = {
    "another command": {
        "rows.py": HEAD
        + """\
@click.group()
def cli():
    pass


@cli.command()
def other():
    mp.set_start_method("spawn")


@cli.command()
def train():
    read()
"""
    },
    "the callback of another app": {
        "rows.py": HEAD
        + """\
app, other = typer.Typer(), typer.Typer()


@other.callback()
def setup():
    mp.set_start_method("spawn")


@app.command()
def main():
    read()
"""
    },
    "a module that was imported before": {
        "main.py": f"import rows\n{MAIN}    import rows\n",
        "rows.py": f"{HEAD}read()\n",
    },
    "a guard of the module": {"main.py": f"{MAIN}    import rows\n", "rows.py": GUARDED},
    "a script under another name": {"main.py": f'{MAIN}    runpy.run_path("rows.py")\n', "rows.py": GUARDED},
}


def _errors(files: Mapping[str, str], told: Callable[..., Any]) -> list[str]:
    found = told(files, select=["DLL201"], target_python="3.12")
    return [one.code for one in found if one.severity == "error"]


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_the_method_is_in_force(files: Mapping[str, str], told: Callable[..., Any]) -> None:
    assert _errors(files, told) == ["DLL201"]


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_the_method_is_not_in_force(files: Mapping[str, str], told: Callable[..., Any]) -> None:
    assert _errors(files, told) == []
