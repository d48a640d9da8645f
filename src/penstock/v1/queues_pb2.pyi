from penstock.v1 import common_pb2 as _common_pb2
from penstock.v1 import counters_pb2 as _counters_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class QueueName(_message.Message):
    __slots__ = ("index", "of")
    class OfSubscriber(_message.Message):
        __slots__ = ("subscriber", "position")
        SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
        POSITION_FIELD_NUMBER: _ClassVar[int]
        subscriber: str
        position: int
        def __init__(self, subscriber: _Optional[str] = ..., position: _Optional[int] = ...) -> None: ...
    INDEX_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    index: int
    of: QueueName.OfSubscriber
    def __init__(self, index: _Optional[int] = ..., of: _Optional[_Union[QueueName.OfSubscriber, _Mapping]] = ...) -> None: ...

class GetQueueRequest(_message.Message):
    __slots__ = ("queue",)
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    queue: QueueName
    def __init__(self, queue: _Optional[_Union[QueueName, _Mapping]] = ...) -> None: ...

class Queue(_message.Message):
    __slots__ = ("index", "subscriber", "position", "settings", "counters")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    index: int
    subscriber: str
    position: int
    settings: _common_pb2.QueueSettings
    counters: _counters_pb2.QueueCounters
    def __init__(self, index: _Optional[int] = ..., subscriber: _Optional[str] = ..., position: _Optional[int] = ..., settings: _Optional[_Union[_common_pb2.QueueSettings, _Mapping]] = ..., counters: _Optional[_Union[_counters_pb2.QueueCounters, _Mapping]] = ...) -> None: ...

class GateRequest(_message.Message):
    __slots__ = ("subscribers",)
    SUBSCRIBERS_FIELD_NUMBER: _ClassVar[int]
    subscribers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, subscribers: _Optional[_Iterable[str]] = ...) -> None: ...

class GateResponse(_message.Message):
    __slots__ = ("applied",)
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    applied: _common_pb2.Applied
    def __init__(self, applied: _Optional[_Union[_common_pb2.Applied, _Mapping]] = ...) -> None: ...

class SetAqmRequest(_message.Message):
    __slots__ = ("subscribers", "traffic_class", "aqm")
    SUBSCRIBERS_FIELD_NUMBER: _ClassVar[int]
    TRAFFIC_CLASS_FIELD_NUMBER: _ClassVar[int]
    AQM_FIELD_NUMBER: _ClassVar[int]
    subscribers: _containers.RepeatedScalarFieldContainer[str]
    traffic_class: int
    aqm: _common_pb2.Aqm
    def __init__(self, subscribers: _Optional[_Iterable[str]] = ..., traffic_class: _Optional[int] = ..., aqm: _Optional[_Union[_common_pb2.Aqm, _Mapping]] = ...) -> None: ...

class SetAqmResponse(_message.Message):
    __slots__ = ("applied",)
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    applied: _common_pb2.Applied
    def __init__(self, applied: _Optional[_Union[_common_pb2.Applied, _Mapping]] = ...) -> None: ...
