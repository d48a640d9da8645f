from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TopBy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOP_BY_UNSPECIFIED: _ClassVar[TopBy]
    TOP_BY_RATE: _ClassVar[TopBy]
    TOP_BY_BACKLOG: _ClassVar[TopBy]
    TOP_BY_DROPS: _ClassVar[TopBy]
TOP_BY_UNSPECIFIED: TopBy
TOP_BY_RATE: TopBy
TOP_BY_BACKLOG: TopBy
TOP_BY_DROPS: TopBy

class QueueCounters(_message.Message):
    __slots__ = ("queue", "in_packets", "in_bytes", "out_packets", "out_bytes", "dropped_packets", "dropped_bytes", "aqm_dropped_packets", "aqm_dropped_bytes", "marked_packets", "queued_packets", "queued_bytes", "rate_bps", "age_ns", "head_sojourn_ns")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    IN_PACKETS_FIELD_NUMBER: _ClassVar[int]
    IN_BYTES_FIELD_NUMBER: _ClassVar[int]
    OUT_PACKETS_FIELD_NUMBER: _ClassVar[int]
    OUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    DROPPED_PACKETS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_BYTES_FIELD_NUMBER: _ClassVar[int]
    AQM_DROPPED_PACKETS_FIELD_NUMBER: _ClassVar[int]
    AQM_DROPPED_BYTES_FIELD_NUMBER: _ClassVar[int]
    MARKED_PACKETS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_PACKETS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_BYTES_FIELD_NUMBER: _ClassVar[int]
    RATE_BPS_FIELD_NUMBER: _ClassVar[int]
    AGE_NS_FIELD_NUMBER: _ClassVar[int]
    HEAD_SOJOURN_NS_FIELD_NUMBER: _ClassVar[int]
    queue: int
    in_packets: int
    in_bytes: int
    out_packets: int
    out_bytes: int
    dropped_packets: int
    dropped_bytes: int
    aqm_dropped_packets: int
    aqm_dropped_bytes: int
    marked_packets: int
    queued_packets: int
    queued_bytes: int
    rate_bps: int
    age_ns: int
    head_sojourn_ns: int
    def __init__(self, queue: _Optional[int] = ..., in_packets: _Optional[int] = ..., in_bytes: _Optional[int] = ..., out_packets: _Optional[int] = ..., out_bytes: _Optional[int] = ..., dropped_packets: _Optional[int] = ..., dropped_bytes: _Optional[int] = ..., aqm_dropped_packets: _Optional[int] = ..., aqm_dropped_bytes: _Optional[int] = ..., marked_packets: _Optional[int] = ..., queued_packets: _Optional[int] = ..., queued_bytes: _Optional[int] = ..., rate_bps: _Optional[int] = ..., age_ns: _Optional[int] = ..., head_sojourn_ns: _Optional[int] = ...) -> None: ...

class Total(_message.Message):
    __slots__ = ("name", "index", "in_packets", "in_bytes", "out_packets", "out_bytes", "dropped_packets", "dropped_bytes", "marked_packets", "queued_packets", "queued_bytes", "rate_bps", "limit_bps")
    NAME_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    IN_PACKETS_FIELD_NUMBER: _ClassVar[int]
    IN_BYTES_FIELD_NUMBER: _ClassVar[int]
    OUT_PACKETS_FIELD_NUMBER: _ClassVar[int]
    OUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    DROPPED_PACKETS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_BYTES_FIELD_NUMBER: _ClassVar[int]
    MARKED_PACKETS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_PACKETS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_BYTES_FIELD_NUMBER: _ClassVar[int]
    RATE_BPS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BPS_FIELD_NUMBER: _ClassVar[int]
    name: str
    index: int
    in_packets: int
    in_bytes: int
    out_packets: int
    out_bytes: int
    dropped_packets: int
    dropped_bytes: int
    marked_packets: int
    queued_packets: int
    queued_bytes: int
    rate_bps: int
    limit_bps: int
    def __init__(self, name: _Optional[str] = ..., index: _Optional[int] = ..., in_packets: _Optional[int] = ..., in_bytes: _Optional[int] = ..., out_packets: _Optional[int] = ..., out_bytes: _Optional[int] = ..., dropped_packets: _Optional[int] = ..., dropped_bytes: _Optional[int] = ..., marked_packets: _Optional[int] = ..., queued_packets: _Optional[int] = ..., queued_bytes: _Optional[int] = ..., rate_bps: _Optional[int] = ..., limit_bps: _Optional[int] = ...) -> None: ...

class Reason(_message.Message):
    __slots__ = ("reason", "packets", "bytes", "packets_per_second")
    REASON_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    PACKETS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    reason: str
    packets: int
    bytes: int
    packets_per_second: float
    def __init__(self, reason: _Optional[str] = ..., packets: _Optional[int] = ..., bytes: _Optional[int] = ..., packets_per_second: _Optional[float] = ...) -> None: ...

class Memory(_message.Message):
    __slots__ = ("pages", "used_pages", "limit_packets", "classes", "warning")
    class Class(_message.Message):
        __slots__ = ("index", "used_pages", "reserved_pages", "limit_packets")
        INDEX_FIELD_NUMBER: _ClassVar[int]
        USED_PAGES_FIELD_NUMBER: _ClassVar[int]
        RESERVED_PAGES_FIELD_NUMBER: _ClassVar[int]
        LIMIT_PACKETS_FIELD_NUMBER: _ClassVar[int]
        index: int
        used_pages: int
        reserved_pages: int
        limit_packets: int
        def __init__(self, index: _Optional[int] = ..., used_pages: _Optional[int] = ..., reserved_pages: _Optional[int] = ..., limit_packets: _Optional[int] = ...) -> None: ...
    PAGES_FIELD_NUMBER: _ClassVar[int]
    USED_PAGES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_PACKETS_FIELD_NUMBER: _ClassVar[int]
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    pages: int
    used_pages: int
    limit_packets: int
    classes: _containers.RepeatedCompositeFieldContainer[Memory.Class]
    warning: str
    def __init__(self, pages: _Optional[int] = ..., used_pages: _Optional[int] = ..., limit_packets: _Optional[int] = ..., classes: _Optional[_Iterable[_Union[Memory.Class, _Mapping]]] = ..., warning: _Optional[str] = ...) -> None: ...

class HeaderCounters(_message.Message):
    __slots__ = ("profiles", "without_profile", "endings", "keys")
    class Profile(_message.Message):
        __slots__ = ("match", "hits", "misses")
        MATCH_FIELD_NUMBER: _ClassVar[int]
        HITS_FIELD_NUMBER: _ClassVar[int]
        MISSES_FIELD_NUMBER: _ClassVar[int]
        match: str
        hits: int
        misses: int
        def __init__(self, match: _Optional[str] = ..., hits: _Optional[int] = ..., misses: _Optional[int] = ...) -> None: ...
    class Ending(_message.Message):
        __slots__ = ("name", "frames", "malformed")
        NAME_FIELD_NUMBER: _ClassVar[int]
        FRAMES_FIELD_NUMBER: _ClassVar[int]
        MALFORMED_FIELD_NUMBER: _ClassVar[int]
        name: str
        frames: int
        malformed: bool
        def __init__(self, name: _Optional[str] = ..., frames: _Optional[int] = ..., malformed: _Optional[bool] = ...) -> None: ...
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_PROFILE_FIELD_NUMBER: _ClassVar[int]
    ENDINGS_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    profiles: _containers.RepeatedCompositeFieldContainer[HeaderCounters.Profile]
    without_profile: int
    endings: _containers.RepeatedCompositeFieldContainer[HeaderCounters.Ending]
    keys: int
    def __init__(self, profiles: _Optional[_Iterable[_Union[HeaderCounters.Profile, _Mapping]]] = ..., without_profile: _Optional[int] = ..., endings: _Optional[_Iterable[_Union[HeaderCounters.Ending, _Mapping]]] = ..., keys: _Optional[int] = ...) -> None: ...

class TotalsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TotalsResponse(_message.Message):
    __slots__ = ("device", "nodes", "ports", "classes", "reasons", "age_ns", "headers", "memory")
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    AGE_NS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    device: Total
    nodes: _containers.RepeatedCompositeFieldContainer[Total]
    ports: _containers.RepeatedCompositeFieldContainer[Total]
    classes: _containers.RepeatedCompositeFieldContainer[Total]
    reasons: _containers.RepeatedCompositeFieldContainer[Reason]
    age_ns: int
    headers: HeaderCounters
    memory: Memory
    def __init__(self, device: _Optional[_Union[Total, _Mapping]] = ..., nodes: _Optional[_Iterable[_Union[Total, _Mapping]]] = ..., ports: _Optional[_Iterable[_Union[Total, _Mapping]]] = ..., classes: _Optional[_Iterable[_Union[Total, _Mapping]]] = ..., reasons: _Optional[_Iterable[_Union[Reason, _Mapping]]] = ..., age_ns: _Optional[int] = ..., headers: _Optional[_Union[HeaderCounters, _Mapping]] = ..., memory: _Optional[_Union[Memory, _Mapping]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("subscriber", "node", "reason", "period_ms")
    SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PERIOD_MS_FIELD_NUMBER: _ClassVar[int]
    subscriber: str
    node: int
    reason: str
    period_ms: int
    def __init__(self, subscriber: _Optional[str] = ..., node: _Optional[int] = ..., reason: _Optional[str] = ..., period_ms: _Optional[int] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("snapshot", "last_of_snapshot", "queues", "reasons")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    LAST_OF_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    snapshot: bool
    last_of_snapshot: bool
    queues: _containers.RepeatedCompositeFieldContainer[QueueCounters]
    reasons: _containers.RepeatedCompositeFieldContainer[Reason]
    def __init__(self, snapshot: _Optional[bool] = ..., last_of_snapshot: _Optional[bool] = ..., queues: _Optional[_Iterable[_Union[QueueCounters, _Mapping]]] = ..., reasons: _Optional[_Iterable[_Union[Reason, _Mapping]]] = ...) -> None: ...

class TopRequest(_message.Message):
    __slots__ = ("by", "count", "node")
    BY_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    by: TopBy
    count: int
    node: int
    def __init__(self, by: _Optional[_Union[TopBy, str]] = ..., count: _Optional[int] = ..., node: _Optional[int] = ...) -> None: ...

class TopResponse(_message.Message):
    __slots__ = ("queues",)
    class Entry(_message.Message):
        __slots__ = ("counters", "subscriber", "position")
        COUNTERS_FIELD_NUMBER: _ClassVar[int]
        SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
        POSITION_FIELD_NUMBER: _ClassVar[int]
        counters: QueueCounters
        subscriber: str
        position: int
        def __init__(self, counters: _Optional[_Union[QueueCounters, _Mapping]] = ..., subscriber: _Optional[str] = ..., position: _Optional[int] = ...) -> None: ...
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    queues: _containers.RepeatedCompositeFieldContainer[TopResponse.Entry]
    def __init__(self, queues: _Optional[_Iterable[_Union[TopResponse.Entry, _Mapping]]] = ...) -> None: ...

class HistoryRequest(_message.Message):
    __slots__ = ("subscriber",)
    SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
    subscriber: str
    def __init__(self, subscriber: _Optional[str] = ...) -> None: ...

class HistoryResponse(_message.Message):
    __slots__ = ("interval_seconds", "points")
    class Point(_message.Message):
        __slots__ = ("at", "rate_bps", "dropped_packets", "most_queued_bytes")
        AT_FIELD_NUMBER: _ClassVar[int]
        RATE_BPS_FIELD_NUMBER: _ClassVar[int]
        DROPPED_PACKETS_FIELD_NUMBER: _ClassVar[int]
        MOST_QUEUED_BYTES_FIELD_NUMBER: _ClassVar[int]
        at: int
        rate_bps: int
        dropped_packets: int
        most_queued_bytes: int
        def __init__(self, at: _Optional[int] = ..., rate_bps: _Optional[int] = ..., dropped_packets: _Optional[int] = ..., most_queued_bytes: _Optional[int] = ...) -> None: ...
    INTERVAL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    interval_seconds: int
    points: _containers.RepeatedCompositeFieldContainer[HistoryResponse.Point]
    def __init__(self, interval_seconds: _Optional[int] = ..., points: _Optional[_Iterable[_Union[HistoryResponse.Point, _Mapping]]] = ...) -> None: ...
