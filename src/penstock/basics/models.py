"""What all parts of scenarios, sweeps and settings have in common as typed models."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from penstock.basics.suggest import nearest
from penstock.basics.units import describe, parse_time


def positive(parse: Any) -> Any:
    """Return a parser that refuses 0."""

    def check(value: object) -> int:
        number = parse(value)
        if number == 0:
            raise ValueError(f"must be more than 0, not {describe(value)}")
        return number

    return check


_COMMA = "; within { } a comma ends a value: write numbers without commas, or in quotes"

Duration = Annotated[int, BeforeValidator(positive(parse_time))]


class Model(BaseModel):
    """Base of all parts: an unknown key is an error that names the nearest known one, and so is one without a value."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
    may_be_unshaped: ClassVar[bool] = False  # its `rate` is that of a shaper

    @classmethod
    def known_keys(cls) -> list[str]:
        """Return the keys that there may be."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def required_keys(cls) -> list[str]:
        """Return the keys that there must be."""
        return [field.alias or name for name, field in cls.model_fields.items() if field.is_required()]

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = cls.known_keys()
            for key in data:
                if key not in known:
                    hint = _COMMA if data[key] is None and str(key).isdigit() else nearest(str(key), known)
                    raise PydanticCustomError("unknown_key", "is not a known key{hint}", {"key": key, "hint": hint})
            for key, value in data.items():
                if value is None:
                    ways = ["give a value", *(["leave it out"] if key not in cls.required_keys() else [])]
                    ways += ['write "unshaped" for no limit'] if key == "rate" and cls.may_be_unshaped else []
                    raise PydanticCustomError("empty_value", "is empty; {hint}", {"key": key, "hint": " or ".join(ways)})
        return data
