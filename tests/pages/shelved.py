"""Prompt versions to put before the Prompts page, written as a run would leave them."""

from collections.abc import Mapping
from typing import Any

from combee_core.playbook import Bullet, Playbook
from combee_core.store.runs import NodeRow, Runs
from combee_core.store.versions import Sources, Version, Versions
from combee_core.workspace import Workspace

SCRIPT = '<script>document.body.innerHTML = "gone"</script>'


def bullet(number: int, content: str, section: str = "RULES", helpful: int = 0) -> Bullet:
    return Bullet(id=f"b-{number}", section=section, content=content, helpful=helpful)


def playbook(*bullets: Bullet) -> Playbook:
    return Playbook(bullets=bullets)


OLD = playbook(bullet(1, "Amounts are in euros."), bullet(2, "Ask twice."), bullet(3, "Stay calm."))
NEW = playbook(
    bullet(1, "Amounts are in cents.", helpful=3),
    bullet(3, "Stay calm."),
    bullet(4, "Dates are ISO 8601."),
    bullet(5, f"Never send {SCRIPT} or **bold** $x$.", "TOOLS"),
)


def shelve(
    workspace: Workspace,
    content: Playbook,
    prompt: str = "shop",
    parent: int | None = None,
    run: str | None = None,
    sources: Sources | None = None,
) -> Version:
    """Store a candidate."""
    database = workspace._database
    with database.write() as cursor:
        number = Versions(database).add(cursor, prompt, parent, content, sources or {}, 100, run, 1 if run else None)
    return workspace.version(f"{prompt}@{number}")


def shelve_run(workspace: Workspace, base: int | None, traces: Mapping[str, str], prompt: str = "shop") -> str:
    """Store a run with one reflection a trace; `traces` gives for each trace id the lesson it taught."""
    runs = Runs(workspace._database)
    run = runs.create(prompt, {}, list(traces), base)
    nodes = [
        NodeRow(f"i1.r{n}", 1, "reflection", 0, n - 1, (), "done", {"lessons": [_lesson(n, text)]}, 1.0, trace=trace)
        for n, (trace, text) in enumerate(traces.items(), 1)
    ]
    operations = [{"id": "m1-1-1", "kind": "DELETE", "bullets": ["b-2"], "sources": ["r1-1"]}]
    final = {"operations": [operations[0] | {"bullet": None, "removed": ["b-2"]}], "dropped": []}
    inputs = tuple(node.id for node in nodes)
    runs.add_nodes(run, [*nodes, NodeRow("i1.final", 1, "final", 1, 0, inputs, "done", final, 1.0)])
    runs.set_state(run, "done")
    return run


def source(trace: str, number: int, run: str) -> dict[str, Any]:
    """How a version names one lesson behind a bullet: the one of the run's reflection `number`."""
    lesson, reflection = f"r{number}-1", f"i1.r{number}"
    return {"trace": trace, "lesson": lesson, "reflection": reflection, "node": "i1.final", "via": [], "run": run}


def candidate(workspace: Workspace, traces: list[str]) -> Version:
    """The prompt `shop`: version 1 approved by Ana, and version 2 that a run made of it, of three traces or more."""
    workspace.review.approve(shelve(workspace, OLD), "Ana", "the first")
    run = shelve_run(workspace, 1, {trace: f"Lesson {n}: cents!" for n, trace in enumerate(traces, 1)})
    behind = [source(trace, n, run) for n, trace in enumerate(traces, 1)]
    return shelve(workspace, NEW, parent=1, run=run, sources={"b-1": behind, "b-4": behind[:1]})


def _lesson(number: int, text: str) -> dict[str, str]:
    return {"id": f"r{number}-1", "text": text, "section": "RULES", "evidence": f"said at step {number}"}
