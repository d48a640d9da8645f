"""`completion`: lines for a shell that completes the words of all commands."""

from enum import StrEnum
from typing import Annotated

import typer

from penstock.commands import app

VARIABLE = "_PENSTOCK_COMPLETE"  # set by these lines: the command says the words that are possible, and does nothing else

# Typer has the words; these lines ask the very command that is typed, so that `./penstock` is completed by its own clone.
BASH = f"""_penstock_completion() {{
    local IFS=$'\\n'
    COMPREPLY=( $(COMP_WORDS="${{COMP_WORDS[*]}}" COMP_CWORD=$COMP_CWORD {VARIABLE}=complete_bash "$1" 2>/dev/null) )
}}
complete -o default -F _penstock_completion penstock"""
ZSH = f"""#compdef penstock
_penstock_completion() {{
    eval "$(_TYPER_COMPLETE_ARGS="${{words[1,$CURRENT]}}" {VARIABLE}=complete_zsh "${{words[1]}}" 2>/dev/null)"
}}
compdef _penstock_completion penstock"""


class Shell(StrEnum):
    """For which there are lines."""

    bash = "bash"
    zsh = "zsh"


@app.command()
def completion(shell: Annotated[Shell, typer.Argument(help="For this shell.", show_default=False)]) -> None:
    """Print the lines that complete commands and options: `eval "$(./penstock completion bash)"`."""
    print(BASH if shell == Shell.bash else ZSH)
