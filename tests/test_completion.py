# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Completion of commands: a real bash that gets the printed lines and asks for words as it does at TAB."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
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


@pytest.mark.parametrize(
    ("typed", "words"), [("ctl su", {"subscriber"}), ("ctl gate ", {"close", "open"}), ("ser", {"serve"}), ("serve --as", {"--as-device"})]
)
def test_zsh(typed: str, words: set[str], tmp_path: Path) -> None:
    """A zsh at a terminal, at which TAB is pressed."""
    if not shutil.which("zsh"):
        pytest.skip("zsh is not there")
    program = tmp_path / "penstock"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m penstock "$@"\n')
    program.chmod(0o755)
    (tmp_path / "lines").write_text(_lines("zsh"))
    terminal, inside = pty.openpty()
    environment = dict(os.environ) | {"TERM": "dumb", "PS1": "ready> ", "HOME": str(tmp_path), "ZDOTDIR": str(tmp_path)}
    with subprocess.Popen(
        ["zsh", "-f", "-i"], cwd=tmp_path, env=environment, stdin=inside, stdout=inside, stderr=inside, start_new_session=True
    ) as shell:
        os.close(inside)
        seen = bytearray()
        try:
            _until(terminal, seen, "ready> ")
            os.write(terminal, b"autoload -Uz compinit && compinit -u -D; source ./lines; print set-''up\n")
            _until(terminal, seen, "set-up")
            _until(terminal, seen, "ready> ")
            seen.clear()
            os.write(terminal, f"./penstock {typed}\t".encode())
            for word in words:
                _until(terminal, seen, word)
        finally:
            shell.kill()
            os.close(terminal)


def _until(terminal: int, seen: bytearray, words: str) -> None:
    """Read what a terminal shows until these words are in it, and forget what came before them."""
    end = time.monotonic() + 60
    while words.encode() not in seen:
        assert time.monotonic() < end, bytes(seen)
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 4096)
    if words.endswith(("> ", "up")):
        del seen[: seen.index(words.encode()) + len(words)]
