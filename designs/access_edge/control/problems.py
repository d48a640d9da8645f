"""What is wrong with a request, as gRPC says it: a code, the field, and one sentence with the value and what is allowed."""

from typing import NoReturn

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

Code = grpc.StatusCode
# Bytes of a sentence, and of the path of a field. What is longer, such as a value that is echoed, is cut in the middle: a status goes in
# headers, and a client that gets more than some kilobytes of these is told of nothing else.
MAX_WORDS, MAX_FIELD = 600, 200


class Problem(Exception):
    """A request that cannot be done."""

    def __init__(self, code: grpc.StatusCode, message: str, field: str = "") -> None:
        self.code, self.message, self.field = code, _cut(message, MAX_WORDS), _cut(field, MAX_FIELD)
        super().__init__(self.message)

    def at(self, path: str) -> "Problem":
        """Return the same with its field below `path`."""
        return Problem(self.code, self.message, ".".join(filter(None, (path, self.field))))

    @property
    def number(self) -> int:
        """The code as a number."""
        return int(self.code.value[0])

    def status(self) -> status_pb2.Status:
        """Return the status with its details."""
        details = []
        if self.field:
            packed = any_pb2.Any()
            violation = error_details_pb2.BadRequest.FieldViolation(field=self.field, description=self.message)
            packed.Pack(error_details_pb2.BadRequest(field_violations=[violation]))
            details.append(packed)
        words = f"{self.field}: {self.message}" if self.field else self.message
        return status_pb2.Status(code=self.number, message=words, details=details)

    def abort(self, context: grpc.ServicerContext) -> NoReturn:
        """End the call with it."""
        context.abort_with_status(rpc_status.to_status(self.status()))
        raise AssertionError


def _cut(text: str, most: int) -> str:
    data = text.encode(errors="replace")
    if len(data) <= most:
        return text
    begin, end = (part.decode(errors="ignore") for part in (data[: most // 2], data[-most // 2 :]))
    return f"{begin} ... {end}"


def invalid(message: str, field: str = "") -> Problem:
    """Return the problem of a value that is not allowed."""
    return Problem(Code.INVALID_ARGUMENT, message, field)


def missing(message: str, field: str = "") -> Problem:
    """Return the problem of a name that is not there."""
    return Problem(Code.NOT_FOUND, message, field)
