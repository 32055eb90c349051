"""The DuckDB file that keeps everything: traces, runs, merge nodes, prompt versions."""

from combee_core.store.database import Database, StoreError

__all__ = ["Database", "StoreError"]
