import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from combee_core.strategies import representatives

words = st.lists(st.sampled_from("date invoice total api token retry 30 csv header € ...".split()), max_size=5)
texts = st.lists(words.map(" ".join), max_size=25)


@settings(max_examples=40, deadline=None)
@given(texts, st.integers(1, 8), st.integers(0, 2**40))
def test_at_most_k_different_texts_that_are_not_blank_are_chosen_and_the_seed_decides(
    given_texts: list[str], k: int, seed: int
) -> None:
    chosen = representatives(given_texts, k, seed)
    assert chosen == sorted(set(chosen)) == representatives(given_texts, k, seed)
    distinct = {text for text in given_texts if text.strip()}
    picked = [given_texts[index] for index in chosen]
    assert len(set(picked)) == len(picked) <= k
    assert set(picked) <= distinct
    assert picked or not distinct
    if len(distinct) <= k:
        assert set(picked) == distinct


def test_each_topic_sends_one_text() -> None:
    topics = {
        "dates": ["Write the date as ISO 8601", "The date is to be ISO 8601, not US", "An ISO 8601 date is expected"],
        "retries": ["Retry the payment API on 503", "On 503 retry the payment API twice", "A 503 means: retry payment"],
        "csv": ["Skip the CSV header row", "The CSV has a header row to skip", "Header row of a CSV is no record"],
    }
    topic_of = {text: topic for topic, of_topic in topics.items() for text in of_topic}
    everything = [text for triple in zip(*topics.values(), strict=True) for text in triple]
    chosen = representatives(everything, 3, seed=1)
    assert {topic_of[everything[index]] for index in chosen} == set(topics)


def test_scikit_learn_is_loaded_by_the_first_selection_and_not_before() -> None:
    code = "import sys, combee_core.workspace, combee_core.cli; print('sklearn' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
