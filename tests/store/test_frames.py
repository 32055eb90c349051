"""Packed files give back every byte, read from anywhere."""

import io

import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from combee_core.store import frames
from combee_core.store.frames import Unpacked, pack


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=700), reads=st.lists(st.tuples(st.integers(0, 800), st.integers(0, 300)), max_size=8))
def test_any_stretch_is_as_it_was(data: bytes, reads: list[tuple[int, int]]):
    size, frames.FRAME = frames.FRAME, 64
    try:
        target = io.BytesIO()
        packed = pack(io.BytesIO(data), target)
        whole = zstandard.ZstdDecompressor().stream_reader(target.getvalue(), read_across_frames=True).read()
        assert whole == data
        assert packed.size == len(data)
        with io.BufferedReader(Unpacked(target, packed.starts, packed.size)) as reader:
            for position, length in reads:
                reader.seek(position)
                assert reader.read(length) == data[position : position + length]
            reader.seek(0)
            assert reader.read() == data
    finally:
        frames.FRAME = size
