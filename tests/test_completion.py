# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Completion of commands: a real bash that gets the printed lines and asks for words as it does at TAB."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def _lines(shell: str) -> str:
    return subprocess.run([sys.executable, "-P", "-m", "penstock", "completion", shell], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("typed", "words"),
    [("ctl su", {"subscriber"}), ("ctl gate ", {"close", "open"}), ("ser", {"serve"}), ("serve --as", {"--as-device"}), ("ctl xyz", set())],
)
def test_bash(typed: str, words: set[str], tmp_path: Path) -> None:
    program = tmp_path / "penstock"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m penstock "$@"\n')
    program.chmod(0o755)
    typed_words = ["./penstock", *typed.split(" ")]
    quoted = " ".join(f"'{word}'" for word in typed_words)
    script = f"""{_lines("bash")}
complete -p penstock >/dev/null || exit 1
COMP_WORDS=({quoted}); COMP_CWORD={len(typed_words) - 1}
_penstock_completion ./penstock
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "--norc", "-c", script], cwd=tmp_path, check=True, capture_output=True, text=True, env=dict(os.environ))
    assert set(done.stdout.split()) == words, done.stderr


def test_zsh() -> None:
    text = _lines("zsh")
    if not shutil.which("zsh"):
        pytest.skip("zsh is not there")
    subprocess.run(["zsh", "-n", "-c", text], check=True)
