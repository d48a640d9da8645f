"""`configs`: what devices there are."""

from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def configs(
    design: Annotated[str | None, typer.Argument(help="Of this design alone.", show_default=False)] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object: each configuration in full.")] = False,
) -> None:
    """List the named configurations of all designs: what each is, how large, on which engines."""
    import json
    import shutil
    import textwrap

    from penstock.designs import configs as named
    from penstock.designs.design import load, names

    chosen = [load(design)] if design is not None else [load(name) for name in names()]
    found = [(each, named.load(name, each.name)) for each in chosen for name in named.names(each.name)]
    if json_output:
        rows = [{"engines": list(each.engines), "sizes": each.sizes(config), **config.model_dump(mode="json")} for each, config in found]
        print(json.dumps({"schema": "penstock.configs/1", "seed": None, "config": {"design": design}, "configs": rows}))
        return
    width = max(80, min(140, shutil.get_terminal_size().columns))
    wide = max(len(config.name) for _, config in found)
    for each in chosen:
        print(f"{each.name} ({', '.join(each.engines)}; scenarios: {each.page})")
        for config in (config for of, config in found if of is each):
            text = f"{config.description}. {each.sizes(config)}, {config.clock_hz / 1e6:g} MHz"
            lines = textwrap.wrap(text, width - wide - 4)
            print(f"  {config.name:<{wide}}  {lines[0]}")
            for line in lines[1:]:
                print(f"  {'':<{wide}}  {line}")
