"""How a run ended: one rule for every format, from the many words that files use for it.

The rule:
1. A verdict wins: a field such as success, resolved, passed, correct or label that holds a boolean, 0 or 1, or a word
   such as "pass", "failed", "C". Rewards and scores that hold a boolean or such a word are verdicts too.
2. Else a score decides: at its threshold or above (a field such as threshold or max_score beside it, 1.0 without one)
   it is a success, 0 is a failure, between them the outcome is unknown.
3. A number outside 0…1 without a known maximum (ratings, sums, percent, negative rewards) is kept as it is and says
   nothing about success; neither do ratings, or scores that are better when low (toxicity, cost).
4. NaN, infinities and empty cells are no outcome.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from combee_core.importers.json_text import parse_embedded
from combee_core.trace import Outcome

VERDICTS = (
    "success",
    "resolved",
    "passed",
    "correct",
    "is_correct",
    "is_resolved",
    "solved",
    "is_success",
    "succeeded",
    "task_success",
    "task_completed",
    "pass",
    "label",
    "verdict",
)
VERDICTS_UNLESS_NUMBERS = ("target", "result", "outcome")
SCORES = (
    "reward",
    "score",
    "rewards",
    "scores",
    "final_reward",
    "total_reward",
    "final_score",
    "accuracy",
    "grade",
    "rating",
    "metrics",
    "result",
    "outcome",
    "success",
    "passed",
    "correct",
)
THRESHOLDS = (
    "threshold",
    "pass_threshold",
    "success_threshold",
    "passing_score",
    "max_score",
    "max_reward",
    "score_max",
)
NESTED = ("metadata", "info", "eval", "evaluation", "metrics", "result", "results", "outcome", "extra", "reward_info")
FEEDBACK = (
    "feedback",
    "comment",
    "comments",
    "critique",
    "explanation",
    "rationale",
    "justification",
    "judgement",
    "judgment",
    "error",
    "error_message",
)
REFERENCES = ("reference", "expected", "expected_answer", "expected_output", "ground_truth", "gold", "target", "answer")

_TELLING = frozenset((*VERDICTS, *VERDICTS_UNLESS_NUMBERS, *SCORES))
_STATING = _TELLING.union(NESTED, THRESHOLDS)
_NESTED = frozenset(NESTED)
_OPEN = Outcome()
_SAYING = frozenset(FEEDBACK)
_EXPECTED = frozenset(REFERENCES)
_YES = {"true", "yes", "y", "pass", "passed", "correct", "success", "successful", "succeeded", "resolved", "solved"}
_NO = {"false", "no", "n", "fail", "failed", "failure", "incorrect", "wrong", "unresolved", "unsuccessful"}
_GRADES = {"c": True, "i": False}
_BETTER_LOW = (
    "toxicity",
    "hallucination",
    "harm",
    "loss",
    "error",
    "cost",
    "latency",
    "duration",
    "time",
    "tokens",
    "bias",
    "distance",
    "perplexity",
    "refusal",
)
_MAIN = ("reward", "score", "overall", "total", "accuracy", "success", "resolved", "passed", "correct")


def number_of(value: object) -> float | None:
    """The finite number that a value is or spells ("0.50", "0,5"); booleans and everything else are None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number = float(value)
    elif isinstance(value, str) and 0 < len(value) < 40:
        try:
            number = float(value.strip().replace(",", ".") if value.count(",") == 1 and "." not in value else value)
        except ValueError:
            return None
    else:
        return None
    return number if math.isfinite(number) else None


def verdict_of(value: object) -> bool | None:
    """The yes or no that a value is or spells: a boolean, or a word such as "passed" or "I"."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) < 20:
        word = value.strip().lower()
        return True if word in _YES else False if word in _NO else None
    return None


def success_of(score: float | None, threshold: float | None = None) -> bool | None:
    """Success by a score alone: rules 2 and 3."""
    if score is None:
        return None
    if threshold is not None:
        return score >= threshold if threshold > 0 else None
    return {0.0: False, 1.0: True}.get(score)


def outcome_of(row: Mapping[str, Any]) -> Outcome:
    """The outcome that a row states at its top level or one level down, by the rule of this module."""
    stating = _STATING.intersection(row)
    if len(stating) < 2:
        plain = _plain_outcome(row, next(iter(stating), ""))
        if plain is not None:
            return plain
    success, score, threshold = None, None, None
    scores: dict[str, float] = {}
    for place in _places(row):
        if _TELLING.isdisjoint(place):
            continue
        success = success if success is not None else _first_verdict(place)
        found, named = _scores_in(place)
        scores = named | scores
        if score is None and found is not None:
            name, score = found
            threshold = _first_number(place, THRESHOLDS)
            if success is None and not _says_nothing(name):
                success = success_of(score, threshold)
    return Outcome(success=success, score=score, scores=scores if len(scores) > 1 else {})


def _plain_outcome(row: Mapping[str, Any], key: str) -> Outcome | None:
    """The outcome of most rows, which have no field that says anything, or one score or reward; None for others."""
    if not key:
        return _OPEN
    value = row[key]
    if key in ("reward", "score") and isinstance(value, int | float) and not isinstance(value, bool):
        score = number_of(value)
        return Outcome(success=success_of(score), score=score)
    return None


def outcome_of_scores(scores: Mapping[str, float], verdict: bool | None = None) -> Outcome:
    """The outcome that named scores give; `verdict` wins where one is known."""
    main = _main_score(scores)
    score = scores[main] if main is not None else None
    success = verdict if verdict is not None or main is None or _says_nothing(main) else success_of(score)
    return Outcome(success=success, score=score, scores=dict(scores) if len(scores) > 1 else {})


def feedback_of(row: Mapping[str, Any]) -> str:
    """What a judge, a test or a person said about the run; several sayings follow each other with their field names."""
    said: dict[str, str] = {}
    for place in _places(row):
        for key in place:
            if (key in _SAYING or key.startswith("judge_")) and key not in said:
                text = text_of(place[key])
                if text and text not in said.values() and number_of(text) is None and verdict_of(text) is None:
                    said[key] = text
    if len(said) == 1:
        return next(iter(said.values()))
    return "\n".join(text if key == "feedback" else f"{key}: {text}" for key, text in said.items())


def reference_of(row: Mapping[str, Any]) -> str:
    """The expected answer that a row states, as text; empty when there is none."""
    for place in _places(row, ("metadata", "info")):
        for key in () if _EXPECTED.isdisjoint(place) else REFERENCES:
            value = place.get(key)
            if not isinstance(value, bool) and (text := text_of(value)):
                return text
    return ""


def text_of(value: object) -> str:
    """A value as text for people: strings as they are, lists of strings one a line, the rest as JSON; no booleans."""
    if isinstance(value, str):
        return value.strip()
    if value is None or isinstance(value, bool) or value == [] or value == {}:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _places(row: Mapping[str, Any], nested: Iterable[str] = NESTED) -> Iterable[Mapping[str, Any]]:
    """The row itself, then the objects in it that often hold the outcome (also as JSON text)."""
    yield row
    for key in () if _NESTED.isdisjoint(row) else nested:
        if key in row:
            value = row[key]
            value = parse_embedded(value) if isinstance(value, str) else value
            if isinstance(value, dict):
                yield value


def _first_verdict(place: Mapping[str, Any]) -> bool | None:
    for key in VERDICTS:
        if key in place:
            value = place[key]
            if value in (0, 1) and isinstance(value, int | float):
                return bool(value)
            if (verdict := verdict_of(value)) is not None:
                return verdict
    for key in VERDICTS_UNLESS_NUMBERS:
        value = place.get(key)
        if (isinstance(value, bool) or key != "target") and (verdict := verdict_of(value)) is not None:
            return verdict
    for key in SCORES:
        if key in place and key not in VERDICTS and (verdict := _graded(place[key])) is not None:
            return verdict
    return None


def _graded(value: object) -> bool | None:
    """A verdict where a score is expected: "C" and "I" are grades there, while elsewhere they may be answers."""
    verdict = verdict_of(value)
    return _GRADES.get(value.strip().lower()) if verdict is None and isinstance(value, str) else verdict


def _scores_in(place: Mapping[str, Any]) -> tuple[tuple[str, float] | None, dict[str, float]]:
    """The main score of an object with its name, and every named score in it."""
    main: tuple[str, float] | None = None
    named: dict[str, float] = {}
    for key in SCORES:
        if key not in place:
            continue
        value = place[key]
        if isinstance(value, dict | list):
            inner = _named_numbers(value)
            named = inner | named
            if main is None and key in ("rewards", "scores") and (best := _main_score(inner)) is not None:
                main = best, inner[best]
        elif (number := number_of(value)) is not None and (key not in VERDICTS or number not in (0, 1)):
            named[key] = number
            main = main or (key, number)
    return main, named


def _named_numbers(value: dict[str, Any] | list[Any]) -> dict[str, float]:
    """Numbers by name, from an object or from a list of objects with name and value."""
    pairs = (
        value.items()
        if isinstance(value, dict)
        else [
            (item["name"], item.get("value", item.get("score")))
            for item in value
            if isinstance(item, dict) and "name" in item
        ]
    )
    return {str(name): number for name, item in pairs if (number := number_of(item)) is not None}


def _main_score(scores: Mapping[str, float]) -> str | None:
    lowered = {name.lower(): name for name in scores}
    for name in _MAIN:
        if name in lowered:
            return lowered[name]
    return next(iter(scores)) if len(scores) == 1 else None


def _first_number(place: Mapping[str, Any], keys: Iterable[str]) -> float | None:
    return next((number for key in keys if key in place and (number := number_of(place[key])) is not None), None)


def _says_nothing(name: str) -> bool:
    lowered = name.lower()
    return lowered == "rating" or any(word in lowered for word in _BETTER_LOW)
