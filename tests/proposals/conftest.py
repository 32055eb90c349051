"""A database with traces and a host, as the tests of the engine have it."""

from tests.engine.conftest import bench

__all__ = ["bench"]
