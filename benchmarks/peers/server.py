"""The stand-in server for clients that offer tools: it calls the one that adds something, then the one that ends.

As a command: `python -m benchmarks.peers.server --latency 0.2`, which prints its address.
"""

import asyncio
import hashlib
import json
from typing import Any

from aiohttp import web

from tests.stand_in import StandIn, latency, main

ENDS = "final_result"
ADDS = "add_skill"


class ToolCalling(StandIn):
    """Answers requests that offer tools with a call of one; all others as the stand-in does."""

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if not body.get("tools"):
            return await super()._answer(request)
        self.answered += 1
        name = hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()
        await asyncio.sleep(latency(self.behaviour, name))
        return web.json_response(tool_call(body))


def tool_call(body: dict[str, Any]) -> dict[str, Any]:
    """A completion that calls one of the offered tools: what adds a skill first, what ends the task after that."""
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in body["tools"]}
    answered = any(message["role"] == "tool" for message in body["messages"])
    chosen = ADDS if ADDS in tools and not answered else ENDS
    call = {"name": chosen, "arguments": json.dumps(_filled(tools[chosen], json.dumps(body["messages"])))}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{len(body['messages'])}", "type": "function", "function": call}],
    }
    sent = len(json.dumps(body["messages"])) // 4
    return {
        "id": "chatcmpl-stand-in",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": sent, "completion_tokens": 60, "total_tokens": sent + 60},
    }


def _filled(schema: dict[str, Any], prompt: str) -> dict[str, Any]:
    """Arguments for the required parameters; texts differ from prompt to prompt, so that nothing is a duplicate."""
    mark = hashlib.sha256(prompt.encode()).hexdigest()[:8]
    values = {"string": f"Check entry {mark} before it is booked", "integer": 1, "number": 1.0, "boolean": True}
    properties = schema.get("properties", {})
    return {
        name: values.get(properties[name].get("type"), [] if properties[name].get("type") == "array" else {})
        for name in schema.get("required", ())
    }


if __name__ == "__main__":
    main(ToolCalling)
