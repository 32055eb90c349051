"""Small named settings that outlive the process, such as the endpoint in use; never a key or another secret."""

from typing import Any

import orjson

from combee_core.store.database import Database


class Preferences:
    """The table settings: a JSON value a name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> Any:
        """The value stored under `name`, or None."""
        row = self._database.row("select value from settings where name = ?", [name])
        return orjson.loads(row["value"]) if row else None

    def set(self, name: str, value: object) -> None:
        """Store a JSON-serialisable value under `name`."""
        with self._database.write() as cursor:
            cursor.execute("insert or replace into settings values (?, ?)", [name, orjson.dumps(value).decode()])
