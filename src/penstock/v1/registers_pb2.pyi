from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RegisterName(_message.Message):
    __slots__ = ("register", "address")
    REGISTER_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    register: str
    address: int
    def __init__(self, register: _Optional[str] = ..., address: _Optional[int] = ...) -> None: ...

class ReadRegistersRequest(_message.Message):
    __slots__ = ("registers",)
    REGISTERS_FIELD_NUMBER: _ClassVar[int]
    registers: _containers.RepeatedCompositeFieldContainer[RegisterName]
    def __init__(self, registers: _Optional[_Iterable[_Union[RegisterName, _Mapping]]] = ...) -> None: ...

class ReadRegistersResponse(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, values: _Optional[_Iterable[int]] = ...) -> None: ...

class WriteRegistersRequest(_message.Message):
    __slots__ = ("writes",)
    class Write(_message.Message):
        __slots__ = ("register", "value")
        REGISTER_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        register: RegisterName
        value: int
        def __init__(self, register: _Optional[_Union[RegisterName, _Mapping]] = ..., value: _Optional[int] = ...) -> None: ...
    WRITES_FIELD_NUMBER: _ClassVar[int]
    writes: _containers.RepeatedCompositeFieldContainer[WriteRegistersRequest.Write]
    def __init__(self, writes: _Optional[_Iterable[_Union[WriteRegistersRequest.Write, _Mapping]]] = ...) -> None: ...

class WriteRegistersResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
