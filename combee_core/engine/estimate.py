"""What a run would take, said before it starts: the tree, the calls, tokens, cost and time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from combee_core.batch_size import Controller, Measurement
from combee_core.engine.dealing import controller_for, fixed_size
from combee_core.engine.run import CHARS_A_TOKEN, tree_plan
from combee_core.engine.settings import RunSettings
from combee_core.llm.prices import cost
from combee_core.llm.token_ratio import USUAL_CHARS_A_TOKEN
from combee_core.scan import TreePlan, describe
from combee_core.store.database import Database
from combee_core.store.preferences import Preferences

# Instructions of a call, and what a model typically answers: a reflection two lessons, a merge a line an item.
REFLECT_PROMPT_TOKENS = 700
REFLECTION_TOKENS = 180
MERGE_PROMPT_TOKENS = 600
ITEM_TOKENS = 35
LESSONS_A_REFLECTION = 2
# Before any call was measured a call is a call: enough to tell which batch sizes would pay.
UNMEASURED = {"reflection": 1.0, "merge": 1.0, "final": 1.0}


@dataclass(frozen=True)
class Estimate:
    """Counts for the whole run; `sizes` are the batch sizes of an epoch, `tree` that of the commonest.

    `seconds` is at the chosen parallelism, `sequential_seconds` learning one by one.

    `cost_usd` is None when the model's price is unknown; both times are None before any call has been measured.
    """

    tree: str
    sizes: tuple[int, ...]
    iterations: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float | None
    sequential_seconds: float | None


def estimate(database: Database, trace_ids: list[str], settings: RunSettings) -> Estimate:
    """Estimate a run over these traces. The numbers come from the plan, trace lengths and measured latencies."""
    n = len(trace_ids)
    latency = _latencies(database, settings.endpoint.model) if settings.endpoint else None
    sizes = _sizes(n, settings, latency or UNMEASURED)
    plans = {size: tree_plan(size, 1, settings) for size in set(sizes)}
    shape = describe(plans[typical(sizes)])
    if settings.endpoint is None:
        return Estimate(shape, sizes, len(sizes) * settings.epochs, 0, 0, 0, 0.0, None, None)
    reflections = n * settings.epochs
    merge_calls = sum(_calls(plans[size]) for size in sizes) * settings.epochs
    items = sum(_items_read(plans[size]) for size in sizes) * settings.epochs
    input_tokens = (
        _trace_tokens(database, trace_ids, settings.endpoint.model) * settings.epochs
        + reflections * REFLECT_PROMPT_TOKENS
        + merge_calls * MERGE_PROMPT_TOKENS
        + items * ITEM_TOKENS
    )
    output_tokens = reflections * REFLECTION_TOKENS + items * ITEM_TOKENS
    return Estimate(
        tree=shape,
        sizes=sizes,
        iterations=len(sizes) * settings.epochs,
        calls=reflections + merge_calls + (settings.endpoint.embedding_model is not None),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=cost(settings.endpoint.model, settings.endpoint.base_url, input_tokens, output_tokens),
        seconds=_seconds(sizes, settings, latency) if latency else None,
        sequential_seconds=reflections * (latency["reflection"] + latency["final"]) if latency else None,
    )


def _calls(plan: TreePlan) -> int:
    """Calls beside the reflections; a selection asks no model."""
    return sum(step.kind != "selection" for level in plan.levels for step in level)


def _items_read(plan: TreePlan) -> int:
    """Items that all steps of an iteration read, if no merge drops any and twins are folded."""
    read, items = 0, sum(len(step.inputs) for step in plan.levels[0]) * LESSONS_A_REFLECTION
    for level in plan.levels:
        read += items if level[0].kind != "selection" else 0
        match level[0].kind:
            case "merge":
                items = min(items, plan.items * LESSONS_A_REFLECTION)
            case "selection":
                items = min(items, level[0].keep or items)
            case "summary":
                items = len(level)
    return read


def typical(sizes: Sequence[int]) -> int:
    """The commonest batch size."""
    return Counter(sizes).most_common(1)[0][0]


def _sizes(n: int, settings: RunSettings, latency: Mapping[str, float]) -> tuple[int, ...]:
    """The batch sizes of one epoch: as set, or as the controller would choose them if calls took what they took."""
    controller = controller_for(n, settings)
    tried = _tried(controller, n, settings, latency) if controller else ()
    size = tried[-1] if tried else min(n, fixed_size(settings))
    whole, rest = divmod(n - sum(tried), size)
    return (*tried, *(size,) * whole, *((rest,) if rest else ()))


def _tried(controller: Controller, n: int, settings: RunSettings, latency: Mapping[str, float]) -> tuple[int, ...]:
    """The batch sizes of an epoch up to the first one that is no trial: what follows is taken to be of that size."""
    history: list[Measurement] = []
    while (learnt := sum(measured.batch_size for measured in history)) < n:
        choice = controller.next_batch(history, n - learnt)
        seconds = _iteration_seconds(choice.batch_size, settings, latency)
        trial = choice.kind == "trial"
        history.append(Measurement(batch_size=choice.batch_size, seconds=seconds, trial=trial))
        if not trial:
            break
    return tuple(measured.batch_size for measured in history)


def _seconds(sizes: Sequence[int], settings: RunSettings, latency: Mapping[str, float]) -> float:
    of_size = {size: _iteration_seconds(size, settings, latency) for size in set(sizes)}
    return sum(of_size[size] for size in sizes) * settings.epochs


def _iteration_seconds(size: int, settings: RunSettings, latency: Mapping[str, float]) -> float:
    """Waves of calls at the chosen parallelism: reflections, groups, then one final merge."""
    reflection_waves = -(-size // settings.parallel)
    merge_waves = -(-max(0, _calls(tree_plan(size, 1, settings)) - 1) // settings.parallel)
    return reflection_waves * latency["reflection"] + merge_waves * latency["merge"] + latency["final"]


def _trace_tokens(database: Database, trace_ids: list[str], model: str) -> int:
    """Tokens of the traces, with as many characters each as the model's usage has shown."""
    chars_a_token = Preferences(database).get(f"{CHARS_A_TOKEN}:{model}") or USUAL_CHARS_A_TOKEN
    row = database.row(
        "select coalesce(sum(length(messages) + length(task) + length(feedback)), 0)::bigint as chars from traces "
        "where id in (select unnest(?))",
        [trace_ids],
    )
    return int(row["chars"] / chars_a_token) if row else 0


def _latencies(database: Database, model: str) -> dict[str, float] | None:
    """Median seconds by kind over the latest calls to this model, or None when there were none."""
    rows = database.rows(
        "select kind, median(seconds) as seconds from nodes join runs on runs.id = nodes.run "
        "where nodes.state = 'done' and attempts > 0 and json_extract_string(settings, '$.endpoint.model') = ? "
        "group by kind",
        [model],
    )
    seen = {row["kind"]: row["seconds"] for row in rows}
    if "reflection" not in seen:
        return None
    final = seen.get("final", seen["reflection"])
    return {"reflection": seen["reflection"], "merge": seen.get("merge", final), "final": final}
