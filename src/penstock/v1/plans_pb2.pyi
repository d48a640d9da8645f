from google.protobuf import empty_pb2 as _empty_pb2
from penstock.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Plan(_message.Message):
    __slots__ = ("name", "rate_bps", "burst_bytes", "weight", "guarantee_bps", "queues", "version", "subscribers")
    NAME_FIELD_NUMBER: _ClassVar[int]
    RATE_BPS_FIELD_NUMBER: _ClassVar[int]
    BURST_BYTES_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    GUARANTEE_BPS_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBERS_FIELD_NUMBER: _ClassVar[int]
    name: str
    rate_bps: int
    burst_bytes: int
    weight: int
    guarantee_bps: int
    queues: _containers.RepeatedCompositeFieldContainer[_common_pb2.QueueSettings]
    version: int
    subscribers: int
    def __init__(self, name: _Optional[str] = ..., rate_bps: _Optional[int] = ..., burst_bytes: _Optional[int] = ..., weight: _Optional[int] = ..., guarantee_bps: _Optional[int] = ..., queues: _Optional[_Iterable[_Union[_common_pb2.QueueSettings, _Mapping]]] = ..., version: _Optional[int] = ..., subscribers: _Optional[int] = ...) -> None: ...

class SetPlanResponse(_message.Message):
    __slots__ = ("plan", "applied")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    plan: Plan
    applied: _common_pb2.Applied
    def __init__(self, plan: _Optional[_Union[Plan, _Mapping]] = ..., applied: _Optional[_Union[_common_pb2.Applied, _Mapping]] = ...) -> None: ...

class GetPlanRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ListPlansRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListPlansResponse(_message.Message):
    __slots__ = ("plans",)
    PLANS_FIELD_NUMBER: _ClassVar[int]
    plans: _containers.RepeatedCompositeFieldContainer[Plan]
    def __init__(self, plans: _Optional[_Iterable[_Union[Plan, _Mapping]]] = ...) -> None: ...

class DeletePlanRequest(_message.Message):
    __slots__ = ("name", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: int
    def __init__(self, name: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...
