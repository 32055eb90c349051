"""Token budget, staleness, quorum and second chances over whole runs, and over runs that were stopped half-way."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from combee_core.engine.fates import lesson_fates
from combee_core.engine.iteration import INSTRUCTION_CHARS
from combee_core.engine.outlook import planned_nodes
from combee_core.engine.report import merge_tree, run_summary
from combee_core.engine.settings import RunSettings
from combee_core.engine.split import size
from combee_core.lesson import Item
from combee_core.playbook import Operation, render
from combee_core.store.versions import Versions
from tests.engine.bench import Bench
from tests.engine.scripted import Scripted, add_each, make_trace, opened

MakeBench = Callable[[int], Bench]

# Room for about ten of the made items beside the instructions.
SMALL_BUDGET = INSTRUCTION_CHARS // 4 + 250


def shortened(items: Sequence[Item]) -> tuple[Operation, ...]:
    """One operation for every three items, which cites them all."""
    return tuple(
        Operation(kind="ADD", section="S", content=items[at].text, sources=tuple(i.id for i in items[at : at + 3]))
        for at in range(0, len(items), 3)
    )


def bullets(place: Bench, run: str) -> str:
    version = str(run_summary(place.database, run)["version"]).split("@")[1]
    return render(Versions(place.database).get("p", int(version)).playbook)


def killed_and_resumed(place: Bench, after: int, **chosen: object) -> tuple[str, Counter[str]]:
    """A run that is stopped when so many calls have been made, then resumed; how often each trace was reflected on."""
    held, calls = threading.Event(), [0]

    def gate(what: str) -> "asyncio.Future[None] | None":
        calls[0] += 1
        if calls[0] > after:
            held.set()
            return asyncio.get_running_loop().create_future()
        return None

    first = Scripted(merge=shortened, gate=gate)
    run = place.begin(first, **chosen)
    assert held.wait(30)
    place.host.stop_run(run, "interrupted")
    place.finish(run)
    finished = Counter(node["trace"] for node in place.runs.nodes(run) if node["trace"] and node["state"] == "done")
    second = Scripted(merge=shortened)
    place.host.start(run, opened(second))
    assert place.finish(run)["state"] == "done"
    return run, finished + Counter({trace: count for trace, count in second.reflected.items() if trace in finished})


class TestTokenBudget:
    def test_no_merge_reads_more_than_its_budget_and_nothing_is_lost(self, bench: MakeBench) -> None:
        place, most = bench(36), [0]

        def merge(items: Sequence[Item]) -> tuple[Operation, ...]:
            most[0] = max(most[0], size(items))
            return shortened(items)

        run, version = place.learn(Scripted(merge=merge), batch=36, token_budget=SMALL_BUDGET)
        summary = run_summary(place.database, run)
        assert most[0] <= 1_000
        assert summary["levels"] > 2
        assert summary["dropped_lessons"] == 0
        traces = {entry["trace"] for entries in version.sources.values() for entry in entries}
        assert traces == set(place.ids)

    def test_what_no_part_makes_less_goes_on_as_it_is(self, bench: MakeBench) -> None:
        place, most = bench(36), [0]

        def merge(items: Sequence[Item]) -> tuple[Operation, ...]:
            most[0] = max(most[0], size(items))
            return add_each(items)

        run, version = place.learn(Scripted(merge=merge), batch=36, token_budget=SMALL_BUDGET)
        assert most[0] <= 1_000
        assert len(version.playbook) == 36
        nodes = merge_tree(place.database, run)["iterations"][0]["nodes"]
        assert nodes[-1]["kind"] == "final"
        assert nodes[-1]["state"] == "carried"
        assert "token budget" in nodes[-1]["error"]

    def test_the_tree_is_the_same_at_any_parallelism_and_after_a_resume(self, bench: MakeBench) -> None:
        place = bench(36)
        chosen = {"batch": 18, "token_budget": SMALL_BUDGET}
        runs = [place.learn(Scripted(merge=shortened), parallel=parallel, **chosen)[0] for parallel in (1, 64)]
        for after in (20, 27, 35, 44):
            run, reflected = killed_and_resumed(place, after, parallel=4, **chosen)
            assert set(reflected.values()) == {1}
            runs.append(run)
        assert len({bullets(place, run) for run in runs}) == 1
        shapes = {tuple((n["id"], tuple(n["inputs"]), n["level"]) for n in place.runs.nodes(run)) for run in runs}
        assert len(shapes) == 1

    def test_every_node_reads_only_what_lies_below_it_and_is_in_the_outlook(self, bench: MakeBench) -> None:
        place = bench(36)
        run, _ = place.learn(Scripted(merge=shortened), batch=36, token_budget=SMALL_BUDGET)
        nodes = place.runs.nodes(run)
        level = {node["id"]: node["level"] for node in nodes}
        assert all(level[name] < node["level"] for node in nodes for name in node["inputs"])
        assert [node["id"] for node in planned_nodes(place.database, run, 1)] == [node["id"] for node in nodes]
        progress = place.host.progress(run)
        assert progress is not None
        assert progress.done == progress.total


class TestStaleness:
    def test_the_next_batch_is_reflected_on_while_this_one_is_merged(self, bench: MakeBench) -> None:
        place, seen = bench(8), threading.Event()
        loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

        def gate(what: str) -> "asyncio.Future[None] | None":
            if what == "final" and not loops:
                loop = asyncio.get_running_loop()
                loops.append((loop, loop.create_future()))
                if seen.is_set():
                    loops[0][1].set_result(None)
                return loops[0][1]
            if what.startswith("t-") and learner.reflected.total() > 4:
                seen.set()
                if loops and not loops[0][1].done():
                    loops[0][1].set_result(None)
            return None

        # The first final merge is held until a trace of the second batch is reflected on.
        learner = Scripted(gate=gate)
        run, version = place.learn(learner, batch=4, staleness=1)
        assert seen.is_set()
        assert len(version.playbook) == 8
        reflected_on = [batch["reflected_on"] for batch in place.runs.batches(run)]
        assert reflected_on == [None, None]

    def test_it_is_on_record_which_version_each_batch_was_reflected_with(self, bench: MakeBench) -> None:
        place = bench(16)
        run, _ = place.learn(Scripted(), batch=4, staleness=1)
        made = [row["version"] for row in place.runs.iterations(run)]
        assert [batch["reflected_on"] for batch in place.runs.batches(run)] == [None, None, made[0], made[1]]
        told = [each["reflected_on"] for each in merge_tree(place.database, run)["iterations"]]
        assert told == [None, None, f"p@{made[0]}", f"p@{made[1]}"]
        fresh, _ = place.learn(Scripted(), batch=4)
        made = [row["version"] for row in place.runs.iterations(fresh)]
        assert [batch["reflected_on"] for batch in place.runs.batches(fresh)] == [None, *made[:3]]

    def test_a_resumed_run_reflects_with_the_same_playbooks_and_repeats_nothing(self, bench: MakeBench) -> None:
        place = bench(24)
        chosen = {"batch": 6, "staleness": 1, "seed": 5}
        runs = [place.learn(Scripted(merge=shortened), parallel=parallel, **chosen)[0] for parallel in (1, 3, 64)]
        for after in (3, 8, 14, 22, 30):
            run, reflected = killed_and_resumed(place, after, parallel=3, **chosen)
            assert set(reflected.values()) <= {1}
            runs.append(run)
        assert len({bullets(place, run) for run in runs}) == 1
        versions = [[row["version"] for row in place.runs.iterations(run)] for run in runs]
        for run, made in zip(runs, versions, strict=True):
            assert [batch["reflected_on"] for batch in place.runs.batches(run)] == [None, None, *made[:2]]

    def test_an_automatic_batch_size_is_refused_with_it(self) -> None:
        with pytest.raises(ValueError, match="one iteration after the other"):
            RunSettings(prompt="p", batch="auto", staleness=1)


class TestSecondChance:
    @staticmethod
    def dropping(times: int) -> Callable[[Sequence[Item]], tuple[Operation, ...]]:
        """Merges that leave one lesson out in so many iterations."""
        lost, chances = make_trace(0).feedback, [times]

        def merge(items: Sequence[Item]) -> tuple[Operation, ...]:
            if not any(item.text == lost for item in items) or chances[0] <= 0:
                return add_each(items)
            chances[0] -= 1
            return add_each([item for item in items if item.text != lost])

        return merge

    def test_a_dropped_lesson_joins_the_next_batch_once(self, bench: MakeBench) -> None:
        place = bench(12)
        lost = make_trace(0)
        seed = next(s for s in range(50) if lost.id in self.batches(place, s)[0])
        chosen = {"batch": 4, "copies": 1, "recheck": False, "retain": "off", "seed": seed}
        run, version = place.learn(Scripted(merge=self.dropping(1)), second_chance=True, **chosen)
        (bullet,) = [bullet for bullet in version.playbook.bullets if bullet.content == lost.feedback]
        (entry,) = version.sources[bullet.id]
        assert entry["trace"] == lost.id
        assert entry["reflection"] == "i2.r5"
        summary = run_summary(place.database, run)
        assert (summary["lessons"], summary["dropped_lessons"]) == (12, 0)
        never, version = place.learn(Scripted(merge=self.dropping(99)), second_chance=True, **chosen)
        assert run_summary(place.database, never)["dropped_lessons"] == 1
        adopted = [batch["adopted"] for batch in place.runs.batches(never)]
        assert [len(each or ()) for each in adopted] == [0, 1, 0], "a lesson has one second chance"

    @staticmethod
    def batches(place: Bench, seed: int) -> list[tuple[str, ...]]:
        from combee_core.engine.dealing import Dealer

        dealer = Dealer(place.ids, RunSettings(prompt="p", batch=4, seed=seed))
        return [batch.trace_ids for _ in range(3) if (batch := dealer.next(()))]

    @pytest.mark.parametrize("staleness", [0, 1])
    def test_a_resumed_run_hands_on_the_same(self, bench: MakeBench, staleness: int) -> None:
        place = bench(18)

        def first_half(items: Sequence[Item]) -> tuple[Operation, ...]:
            return add_each(items[: max(1, len(items) // 2)])

        chosen = {"batch": 6, "recheck": False, "second_chance": True, "retain": "off", "staleness": staleness}
        runs = [place.learn(Scripted(merge=first_half), parallel=parallel, **chosen)[0] for parallel in (1, 64)]
        for after in (5, 9, 13, 20):
            held, calls = threading.Event(), [0]

            def gate(
                what: str, held: threading.Event = held, calls: list[int] = calls, after: int = after
            ) -> "asyncio.Future[None] | None":
                calls[0] += 1
                if calls[0] > after:
                    held.set()
                    return asyncio.get_running_loop().create_future()
                return None

            run = place.begin(Scripted(merge=first_half, gate=gate), parallel=3, **chosen)
            assert held.wait(30)
            place.host.stop_run(run, "interrupted")
            place.finish(run)
            place.host.start(run, opened(Scripted(merge=first_half)))
            assert place.finish(run)["state"] == "done"
            runs.append(run)
        assert len({bullets(place, run) for run in runs}) == 1
        adopted = {str([batch["adopted"] for batch in place.runs.batches(run)]) for run in runs}
        assert len(adopted) == 1
        assert any(batch["adopted"] for batch in place.runs.batches(runs[0]))


class Straggling:
    """Holds the calls on some traces until it is told to let them go."""

    def __init__(self, traces: set[str]) -> None:
        self.traces = traces
        self.held: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self.let_go_at: Callable[[str], bool] = lambda what: False
        self.open = False

    def __call__(self, what: str) -> "asyncio.Future[None] | None":
        if not self.open and self.let_go_at(what):
            self.open = True
            for _, future in self.held:
                if not future.done():
                    future.set_result(None)
        if what in self.traces and not self.open:
            loop = asyncio.get_running_loop()
            self.held.append((loop, loop.create_future()))
            return self.held[-1][1]
        return None


class TestQuorum:
    @staticmethod
    def first_batch(place: Bench, size: int) -> tuple[str, ...]:
        from combee_core.engine.dealing import Dealer

        batch = Dealer(place.ids, RunSettings(prompt="p", batch=size)).next(())
        assert batch is not None
        return batch.trace_ids

    def test_groups_go_on_without_a_straggler_which_joins_the_next_batch(self, bench: MakeBench) -> None:
        place, finals = bench(18), [0]
        late = self.first_batch(place, 9)[4]
        gate = Straggling({late})

        def after_the_first_final(what: str) -> bool:
            finals[0] += what == "final"
            return finals[0] == 1 and what == "final"

        # The straggler answers only when the first final merge has begun without it.
        gate.let_go_at = after_the_first_final
        learner = Scripted(gate=gate)
        run, version = place.learn(learner, batch=9, quorum=0.5)
        assert learner.reflected[late] == 1, "nothing is paid for twice"
        assert len(version.playbook) == 18, "nothing is lost"
        second = place.runs.batches(run)[1]
        assert [(one["node"], one["trace"], one["lessons"]) for one in second["adopted"]] == [("i1.r5", late, None)]
        sources = {entry["trace"]: entry["reflection"] for each in version.sources.values() for entry in each}
        assert sources[late] == "i2.r10"
        summary = run_summary(place.database, run)
        assert (summary["lessons"], summary["dropped_lessons"]) == (18, 0)
        first, second = merge_tree(place.database, run)["iterations"]
        assert first["adopted"] == []
        assert second["adopted"] == [{"reflection": "i1.r5", "trace": late, "lessons": None}]
        (taken,) = [node for node in second["nodes"] if node["id"] == "i2.r10"]
        assert (taken["adopted"], taken["second_chance"], taken["attempts"]) == ("i1.r5", False, 0)
        fates = {lesson.reflection: lesson.fate for lesson in lesson_fates(place.runs.nodes(run, 1))}
        assert [name for name, fate in fates.items() if fate != "in_prompt"] == ["i1.r5"]
        assert fates["i1.r5"] == "late", "it does not wait any more: the next batch has it"

    def test_the_last_batch_waits_for_everybody(self, bench: MakeBench) -> None:
        place = bench(9)
        gate = Straggling({place.ids[3]})
        gate.let_go_at = lambda what: what == "merge"
        held = threading.Event()
        seen: Counter[str] = Counter()

        def watch(what: str) -> "asyncio.Future[None] | None":
            seen[what] += 1
            if seen.total() == 9:
                held.set()
            return gate(what)

        run = place.begin(Scripted(gate=watch), batch=9, quorum=0.5, copies=1)
        assert held.wait(30)
        summary = place.finish(run)
        assert summary["state"] == "done"
        assert summary["bullets"] == 9

    def test_a_quorum_of_all_changes_nothing(self, bench: MakeBench) -> None:
        place = bench(20)
        plain, _ = place.learn(Scripted(merge=shortened), batch=10)
        quorum, _ = place.learn(Scripted(merge=shortened), batch=10, quorum=1.0)
        assert bullets(place, plain) == bullets(place, quorum)

    def test_a_resumed_run_closes_its_groups_as_they_were_closed_and_loses_nobody(self, bench: MakeBench) -> None:
        place = bench(18)
        late = self.first_batch(place, 9)[4]
        gate, held = Straggling({late}), threading.Event()
        gate.let_go_at = lambda what: False

        def until_the_second_batch(what: str) -> "asyncio.Future[None] | None":
            if what not in gate.traces and learner.reflected.total() > 9 and what.startswith("t-"):
                held.set()
                return asyncio.get_running_loop().create_future()
            return gate(what)

        learner = Scripted(gate=until_the_second_batch)
        run = place.begin(learner, batch=9, quorum=0.5)
        assert held.wait(30)
        place.host.stop_run(run, "interrupted")
        place.finish(run)
        before = {node["id"]: node["inputs"] for node in place.runs.nodes(run, 1) if node["kind"] == "merge"}
        again = Scripted()
        place.host.start(run, opened(again))
        assert place.finish(run)["state"] == "done"
        after = {node["id"]: node["inputs"] for node in place.runs.nodes(run, 1) if node["kind"] == "merge"}
        assert before == after
        assert again.reflected[late] == 1
        assert {entry["trace"] for each in self.sources(place, run).values() for entry in each} == set(place.ids)

    @staticmethod
    def sources(place: Bench, run: str) -> dict[str, list[dict[str, str]]]:
        version = str(run_summary(place.database, run)["version"]).split("@")[1]
        return dict(Versions(place.database).get("p", int(version)).sources)


def test_hedged_calls_are_counted_and_change_no_result(bench: MakeBench) -> None:
    place, held = bench(40), [0]

    def gate(what: str) -> "asyncio.Future[None] | None":
        if what.startswith("t-") and learner.reflected[what] == 1 and learner.reflected.total() == 30:
            held[0] += 1
            return asyncio.get_running_loop().create_future()
        return None

    learner = Scripted(gate=gate)
    run, version = place.learn(learner, batch=40, parallel=8, hedge=50)
    summary = run_summary(place.database, run)
    assert held[0] == 1, "one call never answers: only a second request ends the run"
    assert summary["hedged"] >= 1
    assert summary["calls"] == learner.reflected.total() + len(learner.merged)
    plain, _ = place.learn(Scripted(), batch=40)
    assert bullets(place, run) == bullets(place, plain)
    assert len(version.playbook) == 40
