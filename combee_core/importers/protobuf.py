"""OTLP in protobuf, as exporters send it and the collector's file exporter can write it.

It turns the bytes into records of the shape of OTLP JSON; what they mean is decided elsewhere.
"""

import struct
from collections.abc import Iterator
from typing import Any

from combee_core.importers.base import Record
from combee_core.importers.json_text import clean

LARGEST = 256 << 20
_FIRST_FIELD = b"\x0a"
_LENGTH = struct.Struct(">I")
_TRACE_ID, _SPAN_ID = 16, 8


def may_be_otlp(head: bytes) -> bool:
    """Whether the first bytes may be those of a message, or of messages with their lengths in front."""
    is_message = head.startswith(_FIRST_FIELD) and not head[:64].strip().startswith((b"{", b"["))
    return is_message or (head[:1] == b"\x00" and head[4:5] == _FIRST_FIELD)


def otlp_requests(data: bytes) -> list[Record]:
    """Records like OTLP JSON, one for each message; none when the bytes are no OTLP in protobuf."""
    pieces = [data] if data.startswith(_FIRST_FIELD) else list(_framed(data))
    messages = [_parsed(piece) for piece in pieces]
    if any(message is None for message in messages):
        return []
    return [Record(message, index=number) for number, message in enumerate(messages)]


def _framed(data: bytes) -> Iterator[bytes]:
    """Messages with their lengths in front."""
    position = 0
    while position + _LENGTH.size <= len(data):
        (size,) = _LENGTH.unpack_from(data, position)
        position += _LENGTH.size
        yield data[position : position + size]
        position += size


def _parsed(data: bytes) -> dict[str, Any] | None:
    # Imported here because hardly anybody has such files, and the import takes longer than reading most others.
    from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    try:
        traces = TracesData.FromString(data)
    except DecodeError:
        return None
    spans = [span for resource in traces.resource_spans for scope in resource.scope_spans for span in scope.spans]
    if not spans or any(len(span.trace_id) != _TRACE_ID or len(span.span_id) != _SPAN_ID for span in spans):
        return None
    value: dict[str, Any] = clean(MessageToDict(traces))
    return value
