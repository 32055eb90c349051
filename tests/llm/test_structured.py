"""Answers of a stated shape, whatever the model does."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.learners.ace import MergeAnswer, ReflectionAnswer
from combee_core.llm.base import CallFailed, Completion, Meter
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from combee_core.llm.structured import answer_schema, ask, json_objects

RIGHT = '{"lessons": [{"lesson": "use cents", "evidence": "e", "section": "S"}], "reasoning": "", "bullet_tags": []}'


class Answers:
    """A model that gives prepared completions one after the other and logs what it was asked."""

    name = "prepared"

    def __init__(self, *completions: Completion) -> None:
        self.completions = list(completions)
        self.log: list[tuple[list[str], int | None]] = []

    async def complete(self, messages, meter, schema=None, max_tokens=None):
        meter.requests += 1
        self.log.append(([message.content for message in messages], max_tokens))
        return self.completions.pop(0)

    async def aclose(self) -> None:
        return None


def asked(model: Answers, meter: Meter) -> ReflectionAnswer:
    return asyncio.run(ask(model, "instructions", "prompt", ReflectionAnswer, meter))


def test_a_right_answer_is_taken_at_once():
    model, meter = Answers(Completion(RIGHT)), Meter()
    assert asked(model, meter).lessons[0].lesson == "use cents"
    assert (meter.requests, meter.failed) == (1, 0)


@pytest.mark.parametrize("text", [f"Sure!\n```json\n{RIGHT}\n```", f"{{not json}} {RIGHT}", f'{{"other": 1}} {RIGHT}'])
def test_json_inside_prose_is_found_without_another_request(text):
    meter = Meter()
    assert asked(Answers(Completion(text)), meter).lessons[0].lesson == "use cents"
    assert meter.requests == 1


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (Completion("no object at all"), "not_json"),
        (Completion('{"lessons": "none"}'), "wrong_shape"),
        (Completion('{"lessons": NaN}'), "wrong_shape"),
        (Completion(RIGHT + "x" * 2_000_000), "wrong_shape"),
        (Completion('{"a":' * 100_000), "not_json"),
        (Completion('{"a":[' * 300 + '{"b": "c"},' * 30_000), "not_json"),
        (Completion("", refusal="no"), "refusal"),
        (Completion("   "), "empty"),
        (Completion(RIGHT[:30], "length", output_tokens=40), "truncated"),
    ],
)
def test_each_useless_answer_is_counted_by_kind_and_asked_again_once(bad, kind):
    meter = Meter()
    assert asked(Answers(bad, Completion(RIGHT)), meter).lessons
    assert (meter.requests, meter.failures) == (2, {kind: 1})
    with pytest.raises(CallFailed) as told:
        asked(Answers(bad, bad), Meter())
    assert told.value.kind == kind


@pytest.mark.parametrize(
    ("text", "lesson"),
    [
        ('{"lessons": [{"lesson": "a \\ud83d b"}]}', "a \N{REPLACEMENT CHARACTER} b"),
        ('{"lessons": [{"lesson": "a \\u0000 b"}]}', "a \N{REPLACEMENT CHARACTER} b"),
        ('{"lessons": [{"lesson": "first"}], "lessons": [{"lesson": "last"}]}', "last"),
        ('{"lessons": [{"lesson": "x", "evidence": 12.50}]}', "x"),
        ('{"lessons": [{"lesson": "x"}], "more": Infinity, "deep": ' + "[" * 200 + "]" * 200 + "}", "x"),
        ('{"lessons": [{"lesson": "a line\nbreak"}]}', "a line\nbreak"),
    ],
)
def test_json_as_models_write_it_is_taken_and_made_storable(text, lesson):
    meter = Meter()
    assert asked(Answers(Completion(text)), meter).lessons[0].lesson == lesson
    assert meter.failed == 0


def test_numbers_where_ids_belong_are_no_reason_to_ask_again():
    text = '{"operations": [{"type": "ADD", "content": "x", "sources": [1, 2.0, "r1-1"]}]}'
    answer = asyncio.run(ask(Answers(Completion(text)), "instructions", "prompt", MergeAnswer, Meter()))
    assert answer.operations[0].sources[-1] == "r1-1"


def test_a_repair_shows_the_bad_answer_and_what_is_wrong_with_it():
    model = Answers(Completion('{"lessons": "none"}'), Completion(RIGHT))
    asked(model, Meter())
    (first, _), (second, _) = model.log
    assert second[: len(first)] == first
    assert second[-2] == '{"lessons": "none"}'
    assert "lessons" in second[-1]


def test_a_cut_answer_is_asked_for_again_with_twice_the_room():
    model = Answers(Completion(RIGHT[:30], "length", output_tokens=40), Completion(RIGHT))
    asked(model, Meter())
    assert model.log[1] == (model.log[0][0], 80)


@given(st.text() | st.recursive(st.none() | st.text(), st.lists).map(json.dumps) | st.text('{}[]":, \\a1'))
def test_no_text_makes_the_search_for_json_fail(text):
    assert all(isinstance(found, dict) for found in json_objects(text))


@pytest.mark.parametrize("answer_type", [ReflectionAnswer, MergeAnswer])
def test_schemas_are_strict_at_every_level(answer_type):
    def check(schema: object) -> None:
        if isinstance(schema, dict):
            if "properties" in schema:
                assert schema["required"] == list(schema["properties"])
                assert schema["additionalProperties"] is False
            for entry in schema.values():
                check(entry)

    check(answer_schema(answer_type).schema)


@pytest.mark.parametrize("fault", ["prose", "malformed", "truncated", "wrong_shape", "empty", "refusal"])
def test_over_http_a_spoiled_answer_is_mended_or_told(stand_in, fault):
    stand_in.set(faults={fault: 0.999999})

    async def scene(meter: Meter) -> ReflectionAnswer:
        model = OpenAIModel(Endpoint(base_url=stand_in.url, model="stand-in"), None)
        try:
            return await ask(model, "Reflect.", "<<<TRACE-1\nTASK\nadd\nTRACE-1>>>", ReflectionAnswer, meter)
        finally:
            await model.aclose()

    meter = Meter()
    if fault == "prose":
        assert asyncio.run(scene(meter)).lessons
        assert meter.requests == stand_in.requests == 1
        return
    with pytest.raises(CallFailed):
        asyncio.run(scene(meter))
    assert meter.requests == stand_in.requests == 2
    assert meter.input_tokens > 0, "tokens of unusable answers are counted"
