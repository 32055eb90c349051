from math import exp, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from combee_core.batch_size import Fit, Measurement, fit, plateau, tau
from tests.batch_size.delays import Engine, power_law, trials

GRID = (5, 10, 20, 40, 80)


def fitted(measurements: list[Measurement], n: int, plain: bool = False) -> Fit:
    curve = fit(measurements, n, plain)
    assert curve is not None
    return curve


class TestFit:
    @given(
        st.floats(0.01, 1e6),
        st.floats(-2, 3),
        st.integers(100, 100_000),
        st.sets(st.integers(1, 100), min_size=2, max_size=8),
    )
    def test_a_power_law_is_found_and_robust_and_plain_agree_on_it(
        self, a: float, alpha: float, n: int, sizes: set[int]
    ) -> None:
        measured = trials(tuple(sizes), power_law(n, a, alpha))
        curve, plain = fitted(measured, n), fitted(measured, n, plain=True)
        assert curve.alpha == pytest.approx(alpha, abs=1e-6)
        assert pytest.approx(a, rel=1e-5) == curve.A
        assert curve == plain
        assert all(point.weight == 1 for point in curve.points)
        assert curve.spread < 1e-6
        assert curve.r2 == pytest.approx(1) or abs(alpha) < 1e-4

    def test_plain_is_the_textbook_least_squares_line(self) -> None:
        curve = fitted(trials((1, 2, 4), {1: 10.0, 2: 18.0, 4: 22.0}.__getitem__), 8, plain=True)
        # log2 of T = 80, 72, 44 over 0, 1, 2: the slope is half of the last less the first.
        y = [log2(80), log2(72), log2(44)]
        slope, level = (y[2] - y[0]) / 2, sum(y) / 3
        assert curve.alpha == pytest.approx(-slope)
        assert pytest.approx(2 ** (level - slope)) == curve.A
        off = [y[0] - level + slope, y[1] - level, y[2] - level - slope]
        assert curve.r2 == pytest.approx(1 - sum(e**2 for e in off) / sum((value - level) ** 2 for value in y))

    def test_a_real_curve_of_few_bends_is_fitted_as_the_paper_does(self) -> None:
        measured = trials(GRID, Engine())
        assert fitted(measured, 5000).alpha == pytest.approx(fitted(measured, 5000, plain=True).alpha, rel=0.05)

    @given(st.floats(0.3, 1.2), st.integers(0, 4), st.one_of(st.floats(3, 100), st.floats(0.01, 0.3)), st.booleans())
    def test_one_batch_size_out_of_line_moves_the_plateau_by_a_few_percent_at_most(
        self, alpha: float, which: int, factor: float, four: bool
    ) -> None:
        grid = GRID[: 5 - four]
        law, off = power_law(1000, 500, alpha), grid[which % len(grid)]
        curve = fitted(trials(grid, lambda size: law(size) * (factor if size == off else 1)), 1000)
        clean = fitted(trials(grid, law), 1000)
        assert plateau(curve, 5) == pytest.approx(plateau(clean, 5), rel=0.03)
        assert min(curve.points, key=lambda point: point.weight).batch_size == off

    def test_a_batch_size_that_was_out_of_line_three_times_counts_in_full(self) -> None:
        law = power_law(1000, 500, 0.6)
        measured = trials(GRID[:4], law)
        twice, thrice = ([Measurement(batch_size=80, seconds=law(80) * 3)] * times for times in (2, 3))
        assert fitted(measured + twice, 1000).points[-1].weight < 0.1
        assert fitted(measured + thrice, 1000).points[-1].weight == 1

    def test_the_plain_fit_is_moved_by_it(self) -> None:
        law = power_law(1000, 500, 0.6)
        curve = fitted(trials(GRID, lambda size: law(size) * (10 if size == 80 else 1)), 1000, plain=True)
        assert curve.alpha < 0.2

    @given(st.integers(2, 20), st.data())
    def test_one_slow_iteration_among_several_of_a_batch_size_changes_nothing(
        self, times: int, data: st.DataObject
    ) -> None:
        law = power_law(900, 100, 0.7)
        measured = trials((10, 30), law) + [Measurement(batch_size=60, seconds=law(60))] * times
        slow = data.draw(st.integers(2, len(measured) - 1))
        with_slow = measured.copy()
        with_slow[slow] = Measurement(batch_size=60, seconds=law(60) * 50)
        assert fit(with_slow, 900) == fit(measured, 900)

    def test_a_run_that_slows_down_as_it_learns_is_not_held_against_its_batch_size(self) -> None:
        law = power_law(900, 100, 0.7)
        measured = trials((10, 30), law)
        measured += [Measurement(batch_size=60, seconds=law(60) * slower) for slower in [1.0] * 5 + [2.0] * 5]
        measured += [Measurement(batch_size=90, seconds=law(90) * 2)] * 3
        assert fitted(measured, 900).alpha == pytest.approx(0.7)

    def test_failed_iterations_and_delays_of_zero_are_left_out(self) -> None:
        law = power_law(900, 100, 0.7)
        measured = trials((10, 30), law)
        noise = [
            Measurement(batch_size=5, seconds=99.0, failed=True),
            Measurement(batch_size=30, seconds=99.0, failed=True),
            Measurement(batch_size=60, seconds=0.0),
        ]
        assert fit(measured + noise, 900) == fit(measured, 900)

    @pytest.mark.parametrize(
        "measured",
        [
            [],
            trials((8,), lambda _: 3.0),
            trials((8, 8), lambda _: 3.0),
            trials((8, 16), lambda _: 0.0),
            [Measurement(batch_size=size, seconds=2.0, failed=True) for size in (8, 16)],
        ],
    )
    def test_fewer_than_two_batch_sizes_with_a_delay_give_no_curve(self, measured: list[Measurement]) -> None:
        assert fit(measured, 100) is None

    @pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
    def test_a_delay_that_cannot_be_is_refused(self, seconds: float) -> None:
        with pytest.raises(ValidationError):
            Measurement(batch_size=4, seconds=seconds)


class TestBand:
    def test_a_perfect_fit_has_no_width_and_two_points_no_band(self) -> None:
        law = power_law(1000, 500, 0.6)
        perfect = fitted(trials(GRID, law), 1000).band(70)
        assert perfect is not None
        assert perfect == pytest.approx((500 * 70**-0.6, 500 * 70**-0.6))
        assert fitted(trials(GRID[:2], law), 1000).band(70) is None

    def test_it_is_that_of_the_textbook(self) -> None:
        # log T over log bs = 0, 1, 2 is 0, -1, -1: line -1/6 - x/2, one degree of freedom, s = sqrt(1/6), t = 12.71.
        points = {1.0: 1.0, exp(1): exp(-1), exp(2): exp(-1)}
        curve = fitted(trials((1, 20, 400), dict(zip((1, 20, 400), points.values(), strict=True)).__getitem__), 1)
        low, high = curve.band(20) or (0, 0)
        assert curve.epoch_seconds(20) == pytest.approx(exp(-2 / 3))
        assert low == pytest.approx(exp(-2 / 3 - 12.71 * (1 / 6) ** 0.5 * (1 / 3) ** 0.5))
        assert high == pytest.approx(exp(-2 / 3 + 12.71 * (1 / 6) ** 0.5 * (1 / 3) ** 0.5))

    @given(st.lists(st.floats(0.7, 1.4), min_size=5, max_size=5))
    def test_it_holds_the_curve_and_widens_away_from_the_points(self, noise: list[float]) -> None:
        law = power_law(1000, 500, 0.6)
        factors = dict(zip(GRID, noise, strict=True))
        curve = fitted(trials(GRID, lambda size: law(size) * factors[size]), 1000)
        widths = []
        for size in (80, 200, 1000):
            low, high = curve.band(size) or (1, 0)
            assert low <= curve.epoch_seconds(size) <= high
            widths.append(high / low)
        assert widths == sorted(widths)


class TestPlateau:
    @given(st.floats(0.01, 1e5), st.floats(0.05, 3), st.integers(1, 50), st.floats(0.001, 1))
    def test_it_is_the_formula_of_the_paper(self, a: float, alpha: float, smallest: int, share: float) -> None:
        curve = Fit(A=a, alpha=alpha, r2=1, spread=0, alpha_error=0, points=())
        least = tau(curve, smallest, share)
        assert least == pytest.approx(share * alpha * a * smallest ** -(alpha + 1))
        assert plateau(curve, smallest, share) == pytest.approx((alpha * a / least) ** (1 / (alpha + 1)))
        assert curve.slope(plateau(curve, smallest, share)) == pytest.approx(least)

    @given(st.floats(-3, 0))
    def test_it_is_the_smallest_candidate_where_larger_batches_save_no_time(self, alpha: float) -> None:
        assert plateau(Fit(A=7, alpha=alpha, r2=1, spread=0, alpha_error=0, points=()), 5) == 5
