from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from penstock.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Match(_message.Message):
    __slots__ = ("vlan", "pppoe", "mac", "ipv4", "ipv6", "mpls")
    VLAN_FIELD_NUMBER: _ClassVar[int]
    PPPOE_FIELD_NUMBER: _ClassVar[int]
    MAC_FIELD_NUMBER: _ClassVar[int]
    IPV4_FIELD_NUMBER: _ClassVar[int]
    IPV6_FIELD_NUMBER: _ClassVar[int]
    MPLS_FIELD_NUMBER: _ClassVar[int]
    vlan: _containers.RepeatedScalarFieldContainer[int]
    pppoe: int
    mac: str
    ipv4: str
    ipv6: str
    mpls: int
    def __init__(self, vlan: _Optional[_Iterable[int]] = ..., pppoe: _Optional[int] = ..., mac: _Optional[str] = ..., ipv4: _Optional[str] = ..., ipv6: _Optional[str] = ..., mpls: _Optional[int] = ...) -> None: ...

class Subscriber(_message.Message):
    __slots__ = ("name", "index", "node", "rate_bps", "burst_bytes", "weight", "queues", "gate_closed", "version", "guarantee_bps", "matches", "bypass", "plan")
    NAME_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    RATE_BPS_FIELD_NUMBER: _ClassVar[int]
    BURST_BYTES_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    GATE_CLOSED_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    GUARANTEE_BPS_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    BYPASS_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    name: str
    index: int
    node: int
    rate_bps: int
    burst_bytes: int
    weight: int
    queues: _containers.RepeatedCompositeFieldContainer[_common_pb2.QueueSettings]
    gate_closed: bool
    version: int
    guarantee_bps: int
    matches: _containers.RepeatedCompositeFieldContainer[Match]
    bypass: bool
    plan: str
    def __init__(self, name: _Optional[str] = ..., index: _Optional[int] = ..., node: _Optional[int] = ..., rate_bps: _Optional[int] = ..., burst_bytes: _Optional[int] = ..., weight: _Optional[int] = ..., queues: _Optional[_Iterable[_Union[_common_pb2.QueueSettings, _Mapping]]] = ..., gate_closed: _Optional[bool] = ..., version: _Optional[int] = ..., guarantee_bps: _Optional[int] = ..., matches: _Optional[_Iterable[_Union[Match, _Mapping]]] = ..., bypass: _Optional[bool] = ..., plan: _Optional[str] = ...) -> None: ...

class CreateSubscriberRequest(_message.Message):
    __slots__ = ("subscriber", "request_id")
    SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    subscriber: Subscriber
    request_id: str
    def __init__(self, subscriber: _Optional[_Union[Subscriber, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class UpdateSubscriberRequest(_message.Message):
    __slots__ = ("subscriber", "update_mask", "request_id")
    SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    subscriber: Subscriber
    update_mask: _field_mask_pb2.FieldMask
    request_id: str
    def __init__(self, subscriber: _Optional[_Union[Subscriber, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class MoveSubscriberRequest(_message.Message):
    __slots__ = ("name", "node", "version", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    node: int
    version: int
    request_id: str
    def __init__(self, name: _Optional[str] = ..., node: _Optional[int] = ..., version: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteSubscriberRequest(_message.Message):
    __slots__ = ("name", "version", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: int
    request_id: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class GetSubscriberRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ListSubscribersRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "node", "name_contains", "match")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    NAME_CONTAINS_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    node: int
    name_contains: str
    match: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., node: _Optional[int] = ..., name_contains: _Optional[str] = ..., match: _Optional[str] = ...) -> None: ...

class ListSubscribersResponse(_message.Message):
    __slots__ = ("subscribers", "next_page_token")
    SUBSCRIBERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    subscribers: _containers.RepeatedCompositeFieldContainer[Subscriber]
    next_page_token: str
    def __init__(self, subscribers: _Optional[_Iterable[_Union[Subscriber, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Change(_message.Message):
    __slots__ = ("create", "replace", "move", "delete")
    CREATE_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    MOVE_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    create: Subscriber
    replace: Subscriber
    move: MoveSubscriberRequest
    delete: DeleteSubscriberRequest
    def __init__(self, create: _Optional[_Union[Subscriber, _Mapping]] = ..., replace: _Optional[_Union[Subscriber, _Mapping]] = ..., move: _Optional[_Union[MoveSubscriberRequest, _Mapping]] = ..., delete: _Optional[_Union[DeleteSubscriberRequest, _Mapping]] = ...) -> None: ...

class BatchRequest(_message.Message):
    __slots__ = ("changes", "all_or_nothing", "request_id")
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    ALL_OR_NOTHING_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[Change]
    all_or_nothing: bool
    request_id: str
    def __init__(self, changes: _Optional[_Iterable[_Union[Change, _Mapping]]] = ..., all_or_nothing: _Optional[bool] = ..., request_id: _Optional[str] = ...) -> None: ...

class BatchResponse(_message.Message):
    __slots__ = ("failures", "applied", "failed")
    class Failure(_message.Message):
        __slots__ = ("item", "code", "message")
        ITEM_FIELD_NUMBER: _ClassVar[int]
        CODE_FIELD_NUMBER: _ClassVar[int]
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        item: int
        code: int
        message: str
        def __init__(self, item: _Optional[int] = ..., code: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    failures: _containers.RepeatedCompositeFieldContainer[BatchResponse.Failure]
    applied: _common_pb2.Applied
    failed: int
    def __init__(self, failures: _Optional[_Iterable[_Union[BatchResponse.Failure, _Mapping]]] = ..., applied: _Optional[_Union[_common_pb2.Applied, _Mapping]] = ..., failed: _Optional[int] = ...) -> None: ...

class BulkUpdateRequest(_message.Message):
    __slots__ = ("plan", "node", "name_contains", "match", "all", "subscriber", "update_mask", "dry_run", "request_id")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    NAME_CONTAINS_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    ALL_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    plan: str
    node: int
    name_contains: str
    match: str
    all: bool
    subscriber: Subscriber
    update_mask: _field_mask_pb2.FieldMask
    dry_run: bool
    request_id: str
    def __init__(self, plan: _Optional[str] = ..., node: _Optional[int] = ..., name_contains: _Optional[str] = ..., match: _Optional[str] = ..., all: _Optional[bool] = ..., subscriber: _Optional[_Union[Subscriber, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., dry_run: _Optional[bool] = ..., request_id: _Optional[str] = ...) -> None: ...

class BulkUpdateResponse(_message.Message):
    __slots__ = ("subscribers", "names", "applied")
    SUBSCRIBERS_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    subscribers: int
    names: _containers.RepeatedScalarFieldContainer[str]
    applied: _common_pb2.Applied
    def __init__(self, subscribers: _Optional[int] = ..., names: _Optional[_Iterable[str]] = ..., applied: _Optional[_Union[_common_pb2.Applied, _Mapping]] = ...) -> None: ...

class ProvisionRequest(_message.Message):
    __slots__ = ("subscribers", "all_or_nothing")
    SUBSCRIBERS_FIELD_NUMBER: _ClassVar[int]
    ALL_OR_NOTHING_FIELD_NUMBER: _ClassVar[int]
    subscribers: _containers.RepeatedCompositeFieldContainer[Subscriber]
    all_or_nothing: bool
    def __init__(self, subscribers: _Optional[_Iterable[_Union[Subscriber, _Mapping]]] = ..., all_or_nothing: _Optional[bool] = ...) -> None: ...

class ProvisionResponse(_message.Message):
    __slots__ = ("failures", "failed", "applied")
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    failures: _containers.RepeatedCompositeFieldContainer[BatchResponse.Failure]
    failed: int
    applied: _common_pb2.Applied
    def __init__(self, failures: _Optional[_Iterable[_Union[BatchResponse.Failure, _Mapping]]] = ..., failed: _Optional[int] = ..., applied: _Optional[_Union[_common_pb2.Applied, _Mapping]] = ...) -> None: ...
