"""Values that people give, put into fields of messages. What a field cannot hold is said in a sentence: what, where, what is allowed."""

from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from penstock.basics.units import describe
from penstock.errors import UserError

_MOST = {FieldDescriptor.CPPTYPE_UINT32: (1 << 32) - 1, FieldDescriptor.CPPTYPE_UINT64: (1 << 64) - 1}
_UNITS = {"bps": " bit/s", "bytes": " byte"}  # by the ends of names


def put(message: Message, field: str, value: Any, where: str) -> None:
    """Set a field of whole numbers or of text to a value, one of several texts to a list. Raises UserError that begins with `where`."""
    most = _MOST.get(message.DESCRIPTOR.fields_by_name[field].cpp_type)
    if most is not None:
        if not 0 <= value <= most:
            raise UserError(f"{where} must be 0 to {most:,}{_UNITS.get(field.rpartition('_')[2], '')}, not {describe(value)}")
        setattr(message, field, value)
    elif isinstance(value, str):
        setattr(message, field, text(value, where))
    else:
        getattr(message, field).extend(text(one, where) for one in value)


def text(value: str, where: str) -> str:
    """Return text that a message can hold. Raises UserError that begins with `where`."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UserError(f"{where} must be text in UTF-8, not {ascii(value)[:80]}") from None
    return value
