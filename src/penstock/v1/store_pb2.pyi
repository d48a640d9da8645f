from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class BackupRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class BackupPart(_message.Message):
    __slots__ = ("data", "revision")
    DATA_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    revision: int
    def __init__(self, data: _Optional[bytes] = ..., revision: _Optional[int] = ...) -> None: ...
