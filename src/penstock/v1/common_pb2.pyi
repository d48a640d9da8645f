from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Aqm(_message.Message):
    __slots__ = ("ecn", "settings")
    class SettingsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ECN_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    ecn: bool
    settings: _containers.ScalarMap[str, str]
    def __init__(self, ecn: _Optional[bool] = ..., settings: _Optional[_Mapping[str, str]] = ...) -> None: ...

class QueueSettings(_message.Message):
    __slots__ = ("rate_bps", "burst_bytes", "limit_packets", "limit_bytes", "traffic_class", "weight", "aqm", "guarantee_bps")
    RATE_BPS_FIELD_NUMBER: _ClassVar[int]
    BURST_BYTES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_PACKETS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    TRAFFIC_CLASS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    AQM_FIELD_NUMBER: _ClassVar[int]
    GUARANTEE_BPS_FIELD_NUMBER: _ClassVar[int]
    rate_bps: int
    burst_bytes: int
    limit_packets: int
    limit_bytes: int
    traffic_class: int
    weight: int
    aqm: Aqm
    guarantee_bps: int
    def __init__(self, rate_bps: _Optional[int] = ..., burst_bytes: _Optional[int] = ..., limit_packets: _Optional[int] = ..., limit_bytes: _Optional[int] = ..., traffic_class: _Optional[int] = ..., weight: _Optional[int] = ..., aqm: _Optional[_Union[Aqm, _Mapping]] = ..., guarantee_bps: _Optional[int] = ...) -> None: ...

class Applied(_message.Message):
    __slots__ = ("subscribers", "queues", "bus_writes", "device_cycles")
    SUBSCRIBERS_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    BUS_WRITES_FIELD_NUMBER: _ClassVar[int]
    DEVICE_CYCLES_FIELD_NUMBER: _ClassVar[int]
    subscribers: int
    queues: int
    bus_writes: int
    device_cycles: int
    def __init__(self, subscribers: _Optional[int] = ..., queues: _Optional[int] = ..., bus_writes: _Optional[int] = ..., device_cycles: _Optional[int] = ...) -> None: ...
