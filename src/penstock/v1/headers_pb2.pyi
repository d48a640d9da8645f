from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class GetHeadersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class HeaderSettings(_message.Message):
    __slots__ = ("direction", "class_of", "classes", "unknown_queue", "kinds", "version")
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    CLASS_OF_FIELD_NUMBER: _ClassVar[int]
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_QUEUE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    direction: str
    class_of: str
    classes: _containers.RepeatedScalarFieldContainer[str]
    unknown_queue: int
    kinds: _containers.RepeatedScalarFieldContainer[str]
    version: int
    def __init__(self, direction: _Optional[str] = ..., class_of: _Optional[str] = ..., classes: _Optional[_Iterable[str]] = ..., unknown_queue: _Optional[int] = ..., kinds: _Optional[_Iterable[str]] = ..., version: _Optional[int] = ...) -> None: ...
