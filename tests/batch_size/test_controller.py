from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from combee_core.batch_size import Choice, Controller, Measurement, candidates, simulate
from tests.batch_size.delays import Engine, power_law, trials

GRID = (5, 10, 20, 40, 80)
Delays = Callable[[int], float]


def sizes_of(run: Sequence[tuple[Choice, float]], *kinds: str) -> list[int]:
    return [choice.batch_size for choice, _ in run if not kinds or choice.kind in kinds]


def trial_phase(controller: Controller, n: int, seconds_of: Delays) -> tuple[list[Measurement], Choice]:
    """The trials, and the choice that they lead to with an epoch that has all its traces left."""
    history: list[Measurement] = []
    while (choice := controller.next_batch(history, n)).kind == "trial":
        history += trials((choice.batch_size,), seconds_of)
    return history, choice


def first_after_trials(controller: Controller, n: int, seconds_of: Delays) -> Choice:
    return trial_phase(controller, n, seconds_of)[1]


def after(history: list[Measurement], size: int, *delays: float) -> list[Measurement]:
    return history + [Measurement(batch_size=size, seconds=seconds) for seconds in delays]


unhurried = settings(deadline=None)


class TestTrials:
    def test_every_candidate_is_tried_once_in_order_and_says_so(self) -> None:
        run = simulate(Controller(500, candidates(500).sizes), 500, Engine())
        assert sizes_of(run, "trial") == [5, 10, 20, 40]
        assert run[1][0].why == "trial: candidate 2 of 4, to see what a batch of 10 takes"

    @unhurried
    @given(st.integers(47, 100_000), st.floats(0, 40), st.sampled_from([1, 8, 64]))
    def test_the_default_grid_spends_at_most_its_share_on_them(self, n: int, growth: float, parallel: int) -> None:
        tried, _ = trial_phase(Controller(n, candidates(n).sizes), n, Engine(growth, parallel))
        assert sum({measured.batch_size for measured in tried}) <= 0.15 * n
        assert len(tried) <= len(candidates(n).sizes) + 1

    def test_they_go_on_where_an_interrupted_run_stopped(self) -> None:
        history = trials((5, 10), Engine())
        choice = Controller(500, (5, 10, 20)).next_batch(history, 485)
        assert (choice.kind, choice.batch_size) == ("trial", 20)

    def test_a_candidate_that_no_longer_fits_into_the_epoch_waits_for_the_next_one(self) -> None:
        controller = Controller(20, (4, 10))
        history = [Measurement(batch_size=4, seconds=1.0, trial=True), Measurement(batch_size=8, seconds=1.2)]
        assert controller.next_batch(history, 8).kind != "trial"
        assert controller.next_batch(after(history, 8, 1.2), 20).kind == "trial"

    @pytest.mark.parametrize("slow", GRID[:4])
    @pytest.mark.parametrize("factor", [2.0, 5.0, 50.0])
    def test_a_slow_trial_is_made_once_more_and_moves_nothing(self, slow: int, factor: float) -> None:
        asked: list[int] = []

        def seconds_of(size: int) -> float:
            asked.append(size)
            return Engine()(size) * (factor if size == slow and asked.count(size) == 1 else 1)

        choice = first_after_trials(Controller(500, GRID[:4]), 500, seconds_of)
        assert asked == [*GRID[:4], slow]
        clean = first_after_trials(Controller(500, GRID[:4]), 500, Engine())
        assert choice.batch_size == clean.batch_size

    def test_the_reason_for_a_second_trial_is_what_the_delays_contradict(self) -> None:
        controller = Controller(500, (5, 10, 20))
        smaller = trials((5, 10, 20), {5: 1.0, 10: 9.0, 20: 1.2}.__getitem__)
        assert controller.next_batch(smaller, 465).why == "trial: 10 once more, as it took longer than a batch of 20"
        larger = trials((5, 10, 20), {5: 1.0, 10: 1.1, 20: 9.0}.__getitem__)
        assert controller.next_batch(larger, 465).why == (
            "trial: 20 once more, as it took longer for each trace than a batch of 5"
        )

    def test_there_is_no_second_trial_without_a_contradiction_nor_a_third(self) -> None:
        controller = Controller(500, GRID[:4])
        history = trials(GRID[:4], Engine())
        assert controller.next_batch(history, 425).kind == "plateau"
        slow = trials((*GRID[:4], 40), lambda size: 99.0 if size == 40 else Engine()(size))
        assert controller.next_batch(slow, 385).kind != "trial"


class TestPlateau:
    @unhurried
    @given(
        st.floats(0.1, 1e6),
        st.floats(0.05, 2.5),
        st.integers(200, 50_000),
        st.lists(st.integers(1, 60), min_size=2, max_size=6, unique=True),
        st.floats(0.002, 0.2),
    )
    def test_a_power_law_leads_to_its_analytic_plateau_within_one_trace(
        self, a: float, alpha: float, n: int, grid: list[int], share: float
    ) -> None:
        slope_at_smallest = alpha * a * min(grid) ** -(alpha + 1)
        analytic = (alpha * a / (share * slope_at_smallest)) ** (1 / (alpha + 1))
        # An epoch that holds but a few traces more than one batch is made one batch.
        assume(analytic >= n or 1.25 * analytic < n)
        choice = first_after_trials(Controller(n, grid, tau_share=share), n, power_law(n, a, alpha))
        assert abs(choice.batch_size - min(n, analytic)) <= 1
        assert choice.kind == "plateau"

    @pytest.mark.parametrize(
        ("smallest", "least", "most"), [(5, 0.45, 0.6), (10, 0.9, 1.0)], ids=["from five", "from ten"]
    )
    @unhurried
    @given(data=st.data())
    def test_delays_shaped_as_the_papers_lead_to_the_batch_sizes_that_it_reports(
        self, smallest: int, least: float, most: float, data: st.DataObject
    ) -> None:
        """Iterations that take longer by bs^(1 - alpha), over whole batches: 84, 94, 80 and 64 are the paper's."""
        alpha, n = data.draw(st.floats(least, most)), data.draw(st.integers(500, 5000))
        grid = tuple(smallest * 2**step for step in range(4))
        choice = first_after_trials(Controller(n, grid), n, lambda size: 20 * size ** (1 - alpha))
        assert 64 <= choice.batch_size <= 94

    @pytest.mark.parametrize(
        ("grid", "seconds_of"),
        [
            # Calls that wait for 30 s and 1.5 s more for each trace, as an aggregator that reads them all takes.
            ((5, 10, 20, 40, 80), lambda size: 30 + 1.5 * size),
            # Terminal-Bench in the paper: 60 traces in 42.4 minutes one by one, in 2.4 minutes at batch size 30.
            ((10, 20, 40), lambda size: 42.4 * (size / 30) ** 0.0 * size ** (1 - 0.845)),
        ],
    )
    def test_so_do_delays_of_its_kind(self, grid: tuple[int, ...], seconds_of: Delays) -> None:
        assert 64 <= first_after_trials(Controller(2000, grid), 2000, seconds_of).batch_size <= 94

    def test_the_reason_says_what_one_more_trace_saves(self) -> None:
        choice = first_after_trials(Controller(1000, GRID), 1000, power_law(1000, 4000, 0.5))
        assert choice.why == "plateau: beyond 78 one more trace in a batch saves less than 2.9 s an epoch"
        assert 2.8 < 4000 * 78**-0.5 - 4000 * 79**-0.5 < 2.9

    def test_a_plateau_beyond_all_traces_puts_them_into_one_batch(self) -> None:
        controller = Controller(60, (5, 10))
        choice = controller.next_batch(trials((5, 10), power_law(60, 100, 0.1)), 60)
        assert choice.batch_size == 60
        assert choice.why == "plateau: all 60 traces go into one batch, as larger ones save time up to 214"

    @unhurried
    @given(st.integers(1, 600), st.floats(0, 40), st.integers(0, 1000), st.floats(0, 1))
    def test_a_run_learns_every_trace_exactly_once(self, n: int, growth: float, seed: int, noise: float) -> None:
        engine, draw = Engine(growth), Random(seed)
        waiting, learnt = list(range(n)), []
        run = simulate(Controller(n, candidates(n).sizes), n, lambda size: engine(size) * draw.lognormvariate(0, noise))
        for choice, _ in run:
            assert 1 <= choice.batch_size <= len(waiting)
            assert choice.why.startswith(f"{choice.kind}: ")
            batch, waiting = waiting[: choice.batch_size], waiting[choice.batch_size :]
            learnt += batch
        assert learnt == list(range(n))

    def test_the_last_batch_is_what_remains(self) -> None:
        controller, history = Controller(500, GRID[:4]), trials(GRID[:4], Engine())
        size = controller.next_batch(history, 425).batch_size
        few = controller.next_batch(history, 7)
        assert (few.batch_size, few.why) == (7, f"plateau: 7 traces remain in this epoch, fewer than a batch of {size}")
        spared = controller.next_batch(history, size + 3)
        assert spared.batch_size == size + 3
        assert (
            spared.why == f"plateau: the last {size + 3} traces of this epoch go into one batch, a few more than {size}"
        )
        assert controller.next_batch(history, 2 * size).batch_size == size


class TestRefit:
    def settled(self) -> tuple[Controller, list[Measurement], int, Delays]:
        law = power_law(2000, 4000, 0.5)
        controller, history = Controller(2000, GRID), trials(GRID, law)
        return controller, history, controller.next_batch(history, 1845).batch_size, law

    def test_the_batch_size_follows_when_the_plateau_has_moved_by_more_than_the_share(self) -> None:
        controller, history, size, law = self.settled()
        choice = controller.next_batch(after(history, size, *[law(size) / 3] * 3), 1000)
        assert choice.kind == "refit"
        assert choice.batch_size < 0.8 * size
        assert choice.why.startswith(f"refit: the plateau has moved from {size} to {choice.batch_size}; beyond ")

    def test_it_stays_when_the_plateau_has_moved_by_less(self) -> None:
        controller, history, size, law = self.settled()
        choice = controller.next_batch(after(history, size, *[law(size) / 1.1] * 3), 1000)
        assert (choice.kind, choice.batch_size) == ("plateau", size)
        assert choice.why.startswith(f"plateau: {size} stays, as the plateau, by now ")

    def test_the_share_can_be_set(self) -> None:
        _, history, size, law = self.settled()
        eager = Controller(2000, GRID, follow_share=0.01)
        assert eager.next_batch(after(history, size, *[law(size) / 1.1] * 3), 1000).kind == "refit"

    @pytest.mark.parametrize("times", [1, 2, 3])
    def test_it_stays_until_it_has_been_measured_three_times(self, times: int) -> None:
        law = power_law(2000, 4000, 0.5)
        controller, history = Controller(2000, GRID[:2]), trials(GRID[:2], law)
        choice = controller.next_batch(after(history, 78, *[law(78) / 3] * times), 1000)
        assert choice.kind == ("refit" if times == 3 else "plateau")
        assert choice.why.startswith("plateau: 78 stays until it has been measured 3 times; now at ") == (times < 3)

    @unhurried
    @given(st.integers(1, 12), st.data(), st.floats(1.5, 100))
    def test_one_slow_iteration_never_moves_it(self, iterations: int, data: st.DataObject, factor: float) -> None:
        controller, history, size, law = self.settled()
        slow = data.draw(st.integers(0, iterations - 1))
        delays = [law(size) * (factor if index == slow else 1) for index in range(iterations)]
        assert controller.next_batch(after(history, size, *delays), 500).batch_size == size

    def test_a_run_that_slows_down_all_round_stays(self) -> None:
        controller, history, size, law = self.settled()
        choice = controller.next_batch(after(history, size, *[law(size) * 30] * 3), 1000)
        assert (choice.kind, choice.batch_size) == ("plateau", size)

    @unhurried
    @given(st.floats(0, 3), st.sampled_from([500, 2000, 5000]))
    def test_a_playbook_that_grows_does_not_drag_it_along(self, growth: float, n: int) -> None:
        run = simulate(Controller(n, candidates(n).sizes), n, Engine(growth))
        assert sizes_of(run, "refit") == []

    def test_the_last_batch_of_an_epoch_is_no_batch_size_to_stay_at(self) -> None:
        law = power_law(400, 4000, 0.5)
        controller, history = Controller(400, (5, 10, 20)), trials((5, 10, 20), law)
        size = controller.next_batch(history, 365).batch_size
        history = after(history, size, *[law(size)] * (365 // size))
        rest = 400 - sum(measured.batch_size for measured in history)
        history = after(history, rest, law(rest))
        choice = controller.next_batch(history, 400)
        assert (choice.kind, choice.batch_size) == ("plateau", size)

    def test_the_same_history_gives_the_same_choice(self) -> None:
        controller, history, size, law = self.settled()
        history = after(history, size, *[law(size) / 3] * 3)
        first = controller.next_batch(history, 1000)
        controller.next_batch(history[:2], 1985)
        assert controller.next_batch(history, 1000) == first


class TestDefinedAnswers:
    def test_one_candidate_is_taken(self) -> None:
        run = simulate(Controller(20, (8,)), 20, Engine())
        assert sizes_of(run) == [8, 8, 4]
        assert run[0][0].why == "fixed: 8 is the only candidate"

    def test_fewer_traces_than_the_smallest_candidate_go_into_one_batch(self) -> None:
        run = simulate(Controller(3, (5, 10)), 3, Engine())
        assert sizes_of(run) == [3]
        assert run[0][0].why == "fixed: 3 traces do not fill the smallest candidate, 5"

    def test_larger_batches_that_save_no_time_leave_the_smallest_after_one_more_trial(self) -> None:
        run = simulate(Controller(500, GRID[:4]), 500, lambda size: float(size**1.2))
        assert sizes_of(run, "trial") == [5, 10, 20, 40, 20]
        assert set(sizes_of(run, "plateau")) == {5}
        assert run[5][0].why == "plateau: larger batches save no time, so that 5, the smallest candidate, is best"

    def test_epoch_times_that_are_all_alike_leave_the_smallest(self) -> None:
        choice = first_after_trials(Controller(400, (5, 10, 20)), 400, lambda size: 3.0 * size)
        assert choice.batch_size == 5

    def test_two_candidates_are_a_perfect_fit(self) -> None:
        choice = first_after_trials(Controller(1000, (10, 20)), 1000, power_law(1000, 300, 1.0))
        assert choice.batch_size == 79

    def test_trials_that_all_failed_leave_the_smallest(self) -> None:
        history = [Measurement(batch_size=size, seconds=5.0, trial=True, failed=True) for size in (5, 10, 20)]
        choice = Controller(500, (5, 10, 20)).next_batch(history, 465)
        assert choice.batch_size == 5
        assert choice.why == "fixed: every trial has failed, and 5, the smallest candidate, risks least"

    def test_the_only_trial_that_succeeded_is_gone_on_with(self) -> None:
        history = [Measurement(batch_size=size, seconds=5.0, trial=True, failed=size != 10) for size in (5, 10, 20)]
        choice = Controller(500, (5, 10, 20)).next_batch(history, 465)
        assert (choice.batch_size, choice.why) == (10, "fixed: 10 is the only batch size that could be measured")

    def test_delays_of_zero_leave_the_smallest(self) -> None:
        run = simulate(Controller(100, (2, 4, 8)), 100, lambda _: 0.0)
        assert set(sizes_of(run, "fixed")) == {2}
        assert run[3][0].why == "fixed: iterations take no time to speak of, so that 2 costs none"

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ((0, (1,)), "There must be at least 1 trace to choose a batch size for, not 0."),
            ((9, ()), "The candidate grid is empty: name at least one batch size."),
            ((9, (1, 2), 0.0), "τ must be above 0 and at most 1 of the steepest slope, not 0."),
            ((9, (1, 2), 0.1, -1), "The share by which the plateau must move cannot be negative, as -1 is."),
        ],
    )
    def test_numbers_that_allow_no_choice_are_refused_in_one_sentence(
        self, arguments: tuple[int, tuple[int, ...]], complaint: str
    ) -> None:
        with pytest.raises(ValueError, match=complaint):
            Controller(*arguments)

    def test_there_is_no_batch_without_traces(self) -> None:
        with pytest.raises(ValueError, match="The epoch has no trace left for another batch"):
            Controller(9, (1, 2)).next_batch([], 0)


class TestStartFrom:
    def first_run(self, n: int, growth: float = 0.0) -> list[Measurement]:
        run = simulate(Controller(n, candidates(n).sizes), n, Engine(growth))
        return [
            Measurement(batch_size=choice.batch_size, seconds=seconds, trial=choice.kind == "trial")
            for choice, seconds in run
        ]

    @pytest.mark.parametrize("n", [30, 500, 5000])
    def test_a_second_run_needs_no_trial_and_starts_at_the_first_ones_plateau(self, n: int) -> None:
        before = self.first_run(n)
        run = simulate(Controller(n, candidates(n).sizes, start_from=before), n, Engine())
        settled = next(measured.batch_size for measured in before if not measured.trial)
        assert "trial" not in {choice.kind for choice, _ in run}
        assert run[0][0].batch_size == pytest.approx(settled, rel=0.1)

    @pytest.mark.parametrize("factor", [0.2, 1.0, 7.0])
    def test_an_endpoint_that_is_slower_or_faster_by_now_changes_nothing(self, factor: float) -> None:
        controller = Controller(500, candidates(500).sizes, start_from=self.first_run(500))
        run = simulate(controller, 500, lambda size: Engine()(size) * factor)
        assert sizes_of(run, "refit") == []

    def test_measurements_outside_the_grid_do_not_spare_the_trials(self) -> None:
        controller = Controller(5000, candidates(5000).sizes, start_from=trials((1, 2, 4), Engine()))
        assert sizes_of(simulate(controller, 5000, Engine()), "trial") == list(candidates(5000).sizes)

    def test_that_larger_batches_save_nothing_is_tried_anew(self) -> None:
        before = trials(GRID, lambda size: float(size**1.5))
        run = simulate(Controller(5000, GRID, start_from=before), 5000, Engine())
        assert sizes_of(run, "trial") == list(GRID)

    def test_a_run_that_became_ever_slower_still_tells_by_its_trials(self) -> None:
        before = after(after(trials(GRID, Engine()), 60, 900.0, 900.0, 900.0), 90, 9e4, 9e4, 9e4)
        controller = Controller(5000, GRID, start_from=before)
        assert controller.next_batch([], 5000) == Controller(5000, GRID, start_from=before[:5]).next_batch([], 5000)
        assert controller.next_batch([], 5000).kind == "plateau"

    def test_its_curve_can_be_drawn_before_the_first_iteration(self) -> None:
        before = trials(GRID, power_law(1000, 400, 0.8))
        curve = Controller(1000, GRID, start_from=before).curve([])
        assert curve is not None
        assert curve.alpha == pytest.approx(0.8)


class TestCost:
    @pytest.mark.parametrize(("n", "goal"), [(30, 2.0), (500, 1.4), (5000, 1.10)])
    @pytest.mark.parametrize("growth", [0, 3, 40])
    def test_trials_included_a_run_takes_little_more_than_at_the_batch_size_that_it_picked(
        self, n: int, goal: float, growth: float
    ) -> None:
        run = simulate(Controller(n, candidates(n).sizes), n, Engine(growth))
        later = sizes_of(run, "plateau", "refit")
        for picked in {later[0], max(later, key=later.count)}:
            assert sum(seconds for _, seconds in run) <= goal * Engine(growth).epoch(n, picked)
