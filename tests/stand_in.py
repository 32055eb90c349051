"""A stand-in OpenAI server over real HTTP, whose answers depend on the prompt alone, never on order or count.

It can be slow, refuse, drop connections and give answers of every wrong kind; faults are drawn by a seed, the prompt
and how often that prompt was asked, so that a retry may succeed and a run can be repeated. In a thread: `StandIn()`. As
a process of its own (benchmarks): `python -m tests.stand_in --latency 0.2`, which prints its address.
"""

import argparse
import asyncio
import hashlib
import json
import math
import random
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from aiohttp import web

FAULTS = (
    "429",
    "500",
    "hang",
    "reset",
    "cut",
    "garbage",
    "empty",
    "truncated",
    "malformed",
    "prose",
    "refusal",
    "wrong_shape",
)
ITEM = re.compile(r"^\[([rm]\d[\w-]*)\] (.*)$", re.MULTILINE)
FEEDBACK = re.compile(r"FEEDBACK[^\n]*\n(.+)")
NAMED = re.compile(r"\S*\d\S*")
TASK = re.compile(r"^TASK\n(.+)$", re.MULTILINE)


@dataclass
class Behaviour:
    """How the server answers. Times in seconds; `faults` maps a kind of FAULTS to its share of requests (0 to 1).

    `sigma` > 0 makes latencies lognormal around `latency`, `tail` of them ten times as long; `drop` is the share of
    items that a merge leaves out, `condense` of how many items it makes one. Items that hold one of the two texts of
    `contradict` contradict those that hold the other. `refuses` names request parameters that are answered with 400
    ("embeddings": a model for them, with 404); `means` says which word stands for which in an embedding.
    """

    latency: float = 0.0
    per_token: float = 0.0
    sigma: float = 0.0
    tail: float = 0.0
    seed: int = 0
    faults: dict[str, float] = field(default_factory=dict)
    retry_after: float = 0.0
    drop: float = 0.1
    condense: int = 1
    contradict: tuple[str, str] | None = None
    refuses: tuple[str, ...] = ()
    key: str = ""
    models: tuple[str, ...] = ("stand-in",)
    means: dict[str, str] = field(default_factory=dict)


Instead = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse | None]]


class StandIn:
    """The server in a thread of its own. `behaviour` may be changed at any time; use as a context manager.

    `instead` answers in the place of what the server would say to a request, unless it returns None.
    """

    def __init__(self, behaviour: Behaviour | None = None, port: int = 0) -> None:
        self.behaviour = behaviour or Behaviour()
        self.instead: Instead | None = None
        self.requests = 0
        self.answered = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.by_fault: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.latencies: list[float] = []
        self.tick = threading.Event()
        self.hold = threading.Event()
        self.hold.set()
        self._port = port
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "StandIn":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def set(self, **changes: Any) -> None:
        self.behaviour = replace(self.behaviour, **changes)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner = web.AppRunner(self.application(), handler_cancellation=True, access_log=None)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", self._port, backlog=2048)
        self._loop.run_until_complete(site.start())
        self._port = runner.addresses[0][1]
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    def application(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embed)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/stats", self._stats)
        app.router.add_post("/config", self._config)
        return app

    async def _models(self, request: web.Request) -> web.Response:
        if refused := self._check_key(request):
            return refused
        return web.json_response(
            {"object": "list", "data": [{"id": name, "object": "model"} for name in self.behaviour.models]}
        )

    async def _stats(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "requests": self.requests,
                "answered": self.answered,
                "most_in_flight": self.most_in_flight,
                "by_fault": self.by_fault,
                "latencies": self.latencies,
            }
        )

    async def _config(self, request: web.Request) -> web.Response:
        changes = await request.json()
        if changes.pop("reset", False):
            self.requests = self.answered = self.most_in_flight = 0
            self.by_fault, self.asked, self.answers = Counter(), Counter(), Counter()
            self.latencies.clear()
        self.set(**changes)
        return web.json_response({})

    def _check_key(self, request: web.Request) -> web.Response | None:
        key = self.behaviour.key
        if key and request.headers.get("Authorization") != f"Bearer {key}":
            return _error(401, f"Incorrect API key provided: {request.headers.get('Authorization', '')[7:]}")
        return None

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._answer(request)
        finally:
            self.in_flight -= 1

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        """Vectors of the words of each text; none where "embeddings" is among what the server refuses."""
        self.requests += 1
        body = await request.json()
        self.bodies.append(body)
        if refused := self._check_key(request):
            return refused
        if self.instead is not None and (other := await self.instead(request, body)) is not None:
            return other
        if "embeddings" in self.behaviour.refuses:
            return _error(404, f"The model {body['model']} does not exist")
        name = hashlib.sha256(json.dumps(body["input"]).encode()).hexdigest()
        self.asked[name] += 1
        if self._fault(name, self.asked[name]):
            return _error(500, "The server had an error")
        await asyncio.sleep(self._latency(name, 0))
        while not self.hold.is_set():
            await asyncio.sleep(0.01)
        self.answered += 1
        self.answers[name] += 1
        self.tick.set()
        rows = [
            {"object": "embedding", "index": index, "embedding": embedding(text, self.behaviour.means)}
            for index, text in enumerate(body["input"])
        ]
        tokens = sum(map(len, body["input"])) // 4
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return web.json_response({"object": "list", "data": rows, "model": body["model"], "usage": usage})

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        if refused := self._check_key(request) or self._refusal_of_parameters(body):
            return refused
        if self.instead is not None and (other := await self.instead(request, body)) is not None:
            return other
        prompt = json.dumps(body["messages"])
        name = hashlib.sha256(prompt.encode()).hexdigest()
        self.asked[name] += 1
        fault = self._fault(name, self.asked[name])
        self.by_fault[fault] += bool(fault)
        if fault == "429":
            return _error(429, "Rate limit reached", {"Retry-After": str(self.behaviour.retry_after)})
        if fault == "500":
            return _error(500, "The server had an error")
        if fault == "hang":
            await asyncio.sleep(3600)
        await asyncio.sleep(self._latency(name, len(prompt) // 4))
        while not self.hold.is_set():
            await asyncio.sleep(0.01)
        if fault == "reset":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if fault == "cut":
            return await _cut_short(request)
        if fault == "garbage":
            return web.Response(body=b"<html>\xff\x00 Bad gateway {", content_type="text/html")
        self.answered += 1
        self.answers[name] += 1
        self.tick.set()
        return web.json_response(completion(body, _spoiled(fault, reply(body, self.behaviour)), fault))

    def _refusal_of_parameters(self, body: dict[str, Any]) -> web.Response | None:
        for name in self.behaviour.refuses:
            wanted = body.get("response_format", {}).get("type")
            if name in ("json_schema", "json_object") and wanted == name:
                return _error(400, f"response_format of type {name} is not supported")
            if name in body:
                return _error(400, f"Unsupported parameter: '{name}' is not supported with this model")
        return None

    def _fault(self, name: str, times: int) -> str:
        drawn = _share(f"{self.behaviour.seed}:{name}:{times}")
        for kind, share in self.behaviour.faults.items():
            if drawn < share:
                return kind
            drawn -= share
        return ""

    def _latency(self, name: str, tokens: int) -> float:
        seconds = latency(self.behaviour, name, tokens)
        self.latencies.append(seconds)
        return seconds


def embedding(text: str, means: dict[str, str]) -> list[float]:
    """Counts of the words of a text, whatever their order, in 64 places; `means` says which word stands for which."""
    counts = [0.0] * 64
    for word in re.findall(r"\w+", text.lower()):
        counts[int(_share(means.get(word, word)) * 64)] += 1.0
    return counts


def latency(behaviour: Behaviour, name: str, tokens: int = 0) -> float:
    """Seconds that an answer takes, drawn by the seed and the name of the prompt."""
    seconds = behaviour.latency + behaviour.per_token * tokens
    if behaviour.sigma:
        draw = random.Random(f"{behaviour.seed}:{name}")
        seconds *= math.exp(draw.gauss(0, behaviour.sigma)) * (10 if draw.random() < behaviour.tail else 1)
    return seconds


async def _cut_short(request: web.Request) -> web.StreamResponse:
    """The beginning of an answer, and then no more."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(b'{"choices": [{"message"')
    assert request.transport is not None
    request.transport.abort()
    return response


def reply(body: dict[str, Any], behaviour: Behaviour) -> dict[str, Any]:
    """The right answer to a request: by its schema where it has one, else by what the prompt asks for."""
    prompt = "\n".join(message["content"] for message in body["messages"] if message["role"] == "user")
    items = ITEM.findall(prompt)
    if items and '{"summary"' in body["messages"][0]["content"]:
        return {"summary": " ".join(dict.fromkeys(text for _, text in items))}
    if items:
        return {"operations": _merge(items, behaviour), "contradictions": _contradictions(items, behaviour)}
    if "<<<TRACE-" in prompt:
        return {"reasoning": "It went as the feedback says.", "lessons": _lessons(prompt), "bullet_tags": []}
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    return _fill(schema) if schema else {"answer": "ready"}


def _lessons(prompt: str) -> list[dict[str, str]]:
    feedback, task = FEEDBACK.search(prompt), TASK.search(prompt)
    said = feedback[1] if feedback else f"expect {_share(prompt) * 1000:.0f} units"
    about = task[1][:60] if task else "a task"
    return [{"lesson": f"For {about}: {said}", "evidence": said, "section": "STRATEGIES AND RULES"}]


def _merge(items: list[tuple[str, str]], behaviour: Behaviour) -> list[dict[str, Any]]:
    texts: dict[str, list[str]] = {}
    for name, text in items:
        if _share(f"{behaviour.seed}:{text}") >= behaviour.drop:
            texts.setdefault(" ".join(text.split()), []).append(name)
    distinct = list(texts.items())
    bundles = [distinct[start : start + behaviour.condense] for start in range(0, len(distinct), behaviour.condense)]
    return [
        {
            "type": "ADD",
            "section": "STRATEGIES AND RULES",
            "content": _together([text for text, _ in bundle]),
            "bullets": [],
            "sources": [name for _, names in bundle for name in names],
        }
        for bundle in bundles
    ]


def _together(texts: list[str]) -> str:
    """The first text, and of each other the first word with a number in it."""
    named = [found[0] for text in texts[1:] if (found := NAMED.search(text))]
    return f"{texts[0]} (also {' '.join(named)})" if named else texts[0]


def _contradictions(items: list[tuple[str, str]], behaviour: Behaviour) -> list[dict[str, Any]]:
    """One, where items of both sides are there; it names the first of each."""
    sides = [[name for name, said in items if text in said] for text in behaviour.contradict or ()]
    if not sides or not all(sides):
        return []
    return [{"about": " or ".join(behaviour.contradict or ()), "sources": [side[0] for side in sides], "bullets": []}]


def _fill(schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        return {name: _fill(entry) for name, entry in schema.get("properties", {}).items()}
    return {"array": [], "string": "text", "integer": 1, "number": 1.0, "boolean": True}.get(str(kind))


def _spoiled(fault: str, answer: dict[str, Any]) -> str:
    text = json.dumps(answer)
    if fault == "empty" or fault == "refusal":
        return ""
    if fault == "truncated":
        return text[: len(text) // 2]
    if fault == "malformed":
        return text.replace('"', "'").replace(":", " =")
    if fault == "prose":
        return f"Here is what I found:\n```json\n{text}\n```\nI hope this helps."
    if fault == "wrong_shape":
        return json.dumps({"result": "done"})
    return text


def completion(body: dict[str, Any], text: str, fault: str = "") -> dict[str, Any]:
    """A whole answer as an endpoint sends it."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if fault == "refusal":
        message["refusal"] = "I cannot help with that."
    sent = sum(len(entry["content"]) for entry in body["messages"])
    usage = {"prompt_tokens": sent // 4, "completion_tokens": max(1, len(text) // 4)}
    return {
        "id": "chatcmpl-stand-in",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "length" if fault == "truncated" else "stop"}],
        "usage": usage | {"total_tokens": sum(usage.values())},
    }


def _share(text: str) -> float:
    """A number in [0, 1) that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / 2**48


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "error"}}, status=status, headers=headers)


def main(kind: type[StandIn] = StandIn) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    for entry in fields(Behaviour):
        if entry.type in (float, int):
            parser.add_argument(f"--{entry.name.replace('_', '-')}", type=entry.type, default=entry.default)
    chosen = vars(parser.parse_args())
    port = chosen.pop("port")
    with kind(Behaviour(**chosen), port) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
