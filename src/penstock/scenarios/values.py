"""Values with units and names, as they stand in scenarios: rates are bit/s, times picoseconds, sizes bytes once validated."""

import re
from typing import Annotated

from pydantic import BeforeValidator

from penstock.basics.models import positive
from penstock.basics.units import describe, parse_rate, parse_size, parse_time

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_ -]*")
MAX_NAME = 200  # characters


def _name(value: object) -> str:
    if isinstance(value, str) and len(value) > MAX_NAME:
        raise ValueError(f"must be a name of at most {MAX_NAME} characters, not {len(value):,}")
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise ValueError(f"must be a name that begins with a letter (letters, digits, blank, _ and -), not {describe(value)}")
    return value


Rate = Annotated[int, BeforeValidator(positive(parse_rate))]
Time = Annotated[int, BeforeValidator(parse_time)]
Size = Annotated[int, BeforeValidator(parse_size)]
Name = Annotated[str, BeforeValidator(_name)]
