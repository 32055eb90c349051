"""Traces dealt out to iterations: every trace once an epoch, whatever decides on the batch sizes."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from combee_core.batch_size import Measurement
from combee_core.engine.dealing import Batch, Dealer, is_trial
from combee_core.engine.settings import RunSettings
from tests.batch_size.delays import Engine


def deal(dealer: Dealer, seconds_of=lambda size: 1.0) -> list[Batch]:
    """All batches of a run whose iterations take what `seconds_of` says."""
    dealt: list[Batch] = []
    history: list[Measurement] = []
    while batch := dealer.next(history):
        size = len(batch.trace_ids)
        history.append(Measurement(batch_size=size, seconds=seconds_of(size), trial=is_trial(batch.why)))
        dealt.append(batch)
    return dealt


batch_sizes = st.one_of(st.integers(1, 70), st.just("auto"))


@given(
    ids=st.sets(st.text("abcdef0123456789", min_size=4, max_size=8), min_size=1, max_size=60),
    batch=batch_sizes,
    epochs=st.integers(1, 3),
    seed=st.integers(-5, 5),
    order=st.randoms(use_true_random=False),
)
def test_every_epoch_deals_every_trace_once_whatever_order_they_came_in(ids, batch, epochs, seed, order):
    settings = RunSettings(prompt="p", batch=batch, epochs=epochs, seed=seed)
    dealt = deal(Dealer(sorted(ids), settings))
    shuffled = list(ids)
    order.shuffle(shuffled)
    assert deal(Dealer(shuffled, settings)) == dealt
    assert [one.iteration for one in dealt] == list(range(1, len(dealt) + 1))
    for epoch in range(1, epochs + 1):
        of_epoch = [trace for one in dealt if one.epoch == epoch for trace in one.trace_ids]
        assert sorted(of_epoch) == sorted(ids)
    if batch != "auto":
        assert all(len(one.trace_ids) <= batch for one in dealt)


@given(n=st.integers(1, 200), batch=batch_sizes, epochs=st.integers(1, 3), stop=st.integers(0, 30))
def test_a_dealer_that_goes_on_from_what_was_dealt_deals_what_the_first_one_would_have(n, batch, epochs, stop):
    settings = RunSettings(prompt="p", batch=batch, epochs=epochs)
    ids = [f"t{number:03}" for number in range(n)]
    delays = Engine()
    dealt = deal(Dealer(ids, settings), delays)
    before = dealt[:stop]
    history = [
        Measurement(batch_size=len(one.trace_ids), seconds=delays(len(one.trace_ids)), trial=is_trial(one.why))
        for one in before
    ]
    resumed = Dealer(ids, settings, before)
    if stop < len(dealt):
        assert resumed.next(history) == dealt[stop]
    else:
        assert resumed.next(history) is None


@given(n=st.integers(1, 300), batch=st.integers(1, 70), epochs=st.integers(1, 3), taken=st.integers(0, 40))
def test_iterations_of_a_fixed_batch_size_are_counted_beforehand(n, batch, epochs, taken):
    settings = RunSettings(prompt="p", batch=batch, epochs=epochs)
    ids = [f"t{number}" for number in range(n)]
    dealt = deal(Dealer(ids, settings))
    assert Dealer(ids, settings, dealt[:taken]).in_all() == len(dealt)


def test_an_automatic_batch_size_tries_its_candidates_and_then_stays_at_the_plateau():
    settings = RunSettings(prompt="p", batch="auto", batch_candidates=(5, 10, 20, 40))
    dealt = deal(Dealer([f"t{number}" for number in range(2_000)], settings), Engine())
    assert [len(one.trace_ids) for one in dealt[:4]] == [5, 10, 20, 40]
    assert all(one.why.startswith("trial: ") for one in dealt[:4])
    later = Counter(len(one.trace_ids) for one in dealt[4:])
    assert later.most_common(1)[0][0] > 40
    assert all(one.why.startswith(("plateau: ", "refit: ")) for one in dealt[4:])


def test_with_delays_of_an_earlier_run_no_trial_is_made():
    settings = RunSettings(prompt="p", batch="auto", batch_candidates=(5, 10, 20, 40))
    delays = Engine()
    earlier = [Measurement(batch_size=size, seconds=delays(size), trial=True) for size in (5, 10, 20, 40)]
    dealt = deal(Dealer([f"t{number}" for number in range(500)], settings, earlier=earlier), delays)
    assert not any(is_trial(one.why) for one in dealt)


def test_how_many_iterations_are_to_come_follows_the_batch_size_that_was_chosen():
    settings = RunSettings(prompt="p", batch="auto", batch_candidates=(5, 10, 20, 40), epochs=2)
    ids = [f"t{number}" for number in range(2_000)]
    dealt = deal(Dealer(ids, settings), Engine())
    halfway = Dealer(ids, settings, dealt[: len(dealt) // 2])
    assert abs(halfway.in_all() - len(dealt)) <= 2
    assert Dealer(ids, settings, dealt).in_all() == len(dealt)
