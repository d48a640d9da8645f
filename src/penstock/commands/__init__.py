"""The commands of the command line, one module each: every module of this package adds its own to `app`.

    from penstock.commands import app

    @app.command()
    def lint(json_output: Annotated[bool, typer.Option("--json")] = False) -> None:
        \"\"\"First line: what the command does (shown in the list of commands).\"\"\"
        from penstock import something_heavy      # imports that cost time belong here, so that --help stays fast

Bad input raises `penstock.errors.UserError(sentence)`: `penstock.command_line.app` prints it as one line and ends with status 2. Any other
failure of the thing that was asked for raises `typer.Exit(1)` after its message. With `--json` a command prints one JSON object
on standard output and nothing else there; progress goes to standard error.
"""

import typer

app = typer.Typer(
    name="penstock",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Packet queueing hardware, and the workbench that runs it.",
)
