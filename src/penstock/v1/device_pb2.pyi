from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetDeviceRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DeviceInfo(_message.Message):
    __slots__ = ("type", "version_major", "version_minor", "clock_hz", "queues", "queues_per_subscriber", "nodes", "ports", "classes", "aqm", "shaped", "admission", "read_back", "descriptors", "max_frame_bytes", "cycles", "carrier", "revision", "guarantees", "header_profiles", "header_entries")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VERSION_MAJOR_FIELD_NUMBER: _ClassVar[int]
    VERSION_MINOR_FIELD_NUMBER: _ClassVar[int]
    CLOCK_HZ_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    QUEUES_PER_SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    AQM_FIELD_NUMBER: _ClassVar[int]
    SHAPED_FIELD_NUMBER: _ClassVar[int]
    ADMISSION_FIELD_NUMBER: _ClassVar[int]
    READ_BACK_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTORS_FIELD_NUMBER: _ClassVar[int]
    MAX_FRAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    CARRIER_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    GUARANTEES_FIELD_NUMBER: _ClassVar[int]
    HEADER_PROFILES_FIELD_NUMBER: _ClassVar[int]
    HEADER_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    type: str
    version_major: int
    version_minor: int
    clock_hz: int
    queues: int
    queues_per_subscriber: int
    nodes: int
    ports: int
    classes: int
    aqm: str
    shaped: bool
    admission: bool
    read_back: bool
    descriptors: int
    max_frame_bytes: int
    cycles: int
    carrier: str
    revision: int
    guarantees: bool
    header_profiles: int
    header_entries: int
    def __init__(self, type: _Optional[str] = ..., version_major: _Optional[int] = ..., version_minor: _Optional[int] = ..., clock_hz: _Optional[int] = ..., queues: _Optional[int] = ..., queues_per_subscriber: _Optional[int] = ..., nodes: _Optional[int] = ..., ports: _Optional[int] = ..., classes: _Optional[int] = ..., aqm: _Optional[str] = ..., shaped: _Optional[bool] = ..., admission: _Optional[bool] = ..., read_back: _Optional[bool] = ..., descriptors: _Optional[int] = ..., max_frame_bytes: _Optional[int] = ..., cycles: _Optional[int] = ..., carrier: _Optional[str] = ..., revision: _Optional[int] = ..., guarantees: _Optional[bool] = ..., header_profiles: _Optional[int] = ..., header_entries: _Optional[int] = ...) -> None: ...

class DiffRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DiffResponse(_message.Message):
    __slots__ = ("differences", "count")
    class Difference(_message.Message):
        __slots__ = ("name", "field", "intended", "found")
        NAME_FIELD_NUMBER: _ClassVar[int]
        FIELD_FIELD_NUMBER: _ClassVar[int]
        INTENDED_FIELD_NUMBER: _ClassVar[int]
        FOUND_FIELD_NUMBER: _ClassVar[int]
        name: str
        field: str
        intended: str
        found: str
        def __init__(self, name: _Optional[str] = ..., field: _Optional[str] = ..., intended: _Optional[str] = ..., found: _Optional[str] = ...) -> None: ...
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    differences: _containers.RepeatedCompositeFieldContainer[DiffResponse.Difference]
    count: int
    def __init__(self, differences: _Optional[_Iterable[_Union[DiffResponse.Difference, _Mapping]]] = ..., count: _Optional[int] = ...) -> None: ...
