"""What README.md shows is true: its tables, commands and code are run, its references complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from paradigms.cli import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(\.\d+)?")


def ran(command: list[str], folder: Path) -> str:
    """Returns what the command prints; it must succeed."""
    scripts = Path(sys.executable).parent
    env = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def without_numbers(text: str) -> list[str]:
    """Returns the lines of `text`, numbers masked and white space made equal."""
    return [" ".join(NUMBER.sub("#", line).split()) for line in text.strip().splitlines()]


def console_steps(block: str) -> Iterator[tuple[str, str]]:
    """Yields each command of a console block with the output shown for it."""
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = step.partition("\n")
        yield command, output


def test_blocks_run_and_print_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data")
    printed: str | None = None
    kinds = []
    for kind, name, block in BLOCK.findall(README):
        kinds.append(kind)
        if kind == "tsv":
            (tmp_path / name).write_text(block, encoding="utf-8")
        elif kind == "console":
            for command, output in console_steps(block):
                shown = ran(["bash", "-c", command], tmp_path)
                assert without_numbers(shown) == without_numbers(output), command
        elif kind == "python":
            printed = ran([sys.executable, "-c", block], tmp_path)
        elif kind == "output":
            assert printed is not None
            assert without_numbers(printed) == without_numbers(block)
    assert {"tsv", "console", "python", "output"} <= set(kinds)


def test_the_library_example_is_under_20_lines() -> None:
    sources = [block for kind, _, block in BLOCK.findall(README) if kind == "python"]
    (example,) = [source for source in sources if "FactorGraph" in source]
    assert len([line for line in example.splitlines() if line.strip()]) < 20


@pytest.mark.parametrize("target", re.findall(r"make (\w+)", README))
def test_every_make_target_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (name, max(parameter.opts, key=len))
        for name, command in cli.commands.items()
        for parameter in command.params
        if isinstance(parameter, click.Option)
    ],
)
def test_every_option_is_in_the_reference(command: str, option: str) -> None:
    (section,) = re.findall(rf"^### `paradigms {command}.*?(?=^##|\Z)", README, re.M | re.S)
    assert f"`{option}" in section
