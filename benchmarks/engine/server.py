"""The stand-in server in a process of its own, which also keeps when it was asked for what, and how long it took.

As a command: `python -m benchmarks.engine.server --latency 0.2`, which prints its address.
"""

import json
import re
import time
import urllib.request
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any

from aiohttp import web

from benchmarks.serving import address_of
from tests.stand_in import ITEM, TASK, Behaviour, StandIn, latency, main


@dataclass(frozen=True)
class Served:
    """One request: `about` names the task of a reflection or the items of a merge, in the words of the prompt.

    `arrived` and `ended` are seconds on the server's clock, `seconds` what it meant to take; `asked` counts from 1 how
    often this very prompt has come.
    """

    about: tuple[str, ...]
    asked: int
    arrived: float
    ended: float
    seconds: float


class Recording(StandIn):
    """Keeps what it has served. A prompt that comes again gets a new draw, as at a real endpoint."""

    def __init__(self, behaviour: Behaviour | None = None, port: int = 0) -> None:
        super().__init__(behaviour, port)
        self._served: list[tuple[dict[str, Any], int, float, float, float]] = []
        self._drawn: ContextVar[tuple[int, float]] = ContextVar("drawn")

    def application(self) -> web.Application:
        app = super().application()
        app.router.add_get("/served", self._list)
        return app

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        arrived = time.monotonic()
        try:
            return await super()._answer(request)
        finally:
            # A request that is given up, as the slower one of two, counts too: with what it would have taken.
            asked, seconds = self._drawn.get()
            self._served.append((await request.json(), asked, arrived, time.monotonic(), seconds))

    def _latency(self, name: str, tokens: int) -> float:
        asked = self.asked[name]
        seconds = latency(self.behaviour, name if asked == 1 else f"{name}:{asked}", tokens)
        self._drawn.set((asked, seconds))
        return seconds

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response([asdict(Served(about(body), *rest)) for body, *rest in self._served])


def about(body: dict[str, Any]) -> tuple[str, ...]:
    """What a request is about: the item names of a merge, or the task of a reflection."""
    prompt = "\n".join(message["content"] for message in body["messages"] if message["role"] == "user")
    items = tuple(name for name, _ in ITEM.findall(prompt))
    if items:
        return items
    task = re.search(TASK, prompt)
    return (task[1],) if task else ()


def serving(behaviour: Behaviour) -> AbstractContextManager[str]:
    """The address of a recording server in another process."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in asdict(behaviour).items() if _is_number(value)]
    return address_of("benchmarks.engine.server", *options)


def served(url: str) -> list[Served]:
    """All that the server of this address has answered."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/served") as answer:
        return [Served(**row | {"about": tuple(row["about"])}) for row in json.load(answer)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


if __name__ == "__main__":
    main(Recording)
