"""What is wrong with a request, as gRPC says it: a code, the field, and one sentence with the value and what is allowed."""

from typing import NoReturn

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

Code = grpc.StatusCode
MAX_WORDS = 600  # characters of a sentence: what is longer, such as a value that is echoed, is cut in the middle


class Problem(Exception):
    """A request that cannot be done."""

    def __init__(self, code: grpc.StatusCode, message: str, field: str = "") -> None:
        if len(message) > MAX_WORDS:
            message = f"{message[: MAX_WORDS // 2]} ... {message[-MAX_WORDS // 2 :]}"
        super().__init__(message)
        self.code, self.message, self.field = code, message, field

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


def invalid(message: str, field: str = "") -> Problem:
    """Return the problem of a value that is not allowed."""
    return Problem(Code.INVALID_ARGUMENT, message, field)


def missing(message: str, field: str = "") -> Problem:
    """Return the problem of a name that is not there."""
    return Problem(Code.NOT_FOUND, message, field)
