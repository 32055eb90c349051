"""One text for each cluster of texts: TF-IDF vectors of their words, clustered by k-means."""

import re
import warnings
from collections.abc import Sequence

_TOKEN = r"\w+|[^\w\s]"
STARTS = 4
"""k-means ends where it started from: the best of so many starts is taken."""


def representatives(texts: Sequence[str], k: int, seed: int) -> list[int]:
    """Indexes of at most k texts, ascending: of each cluster the text nearest to its middle, the first of equals.

    Equal texts count as one, blank ones not at all; where no more than k are left, it is all of them. The same
    arguments give the same choice, whatever the number of processors.
    """
    first = {text: index for index, text in reversed(list(enumerate(texts))) if re.search(_TOKEN, text)}
    indexes = sorted(first.values())
    return indexes if len(indexes) <= k else [indexes[row] for row in _nearest([texts[i] for i in indexes], k, seed)]


def load() -> None:
    """Import what the first choice would import."""
    import sklearn.cluster
    import sklearn.feature_extraction.text  # noqa: F401


def _nearest(texts: Sequence[str], k: int, seed: int) -> list[int]:
    # Takes seconds to import, and only this needs it.
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction.text import TfidfVectorizer
    from threadpoolctl import threadpool_limits

    vectors = TfidfVectorizer(token_pattern=_TOKEN, sublinear_tf=True).fit_transform(texts)
    means = KMeans(k, n_init=STARTS, random_state=seed % 2**32)
    # Sums over several threads differ in their last digits; texts of the same words may make fewer clusters than k.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        distances = means.fit_transform(vectors)
    nearest: dict[int, int] = {}
    for row, cluster in enumerate(means.labels_):
        best = nearest.setdefault(int(cluster), row)
        if distances[row, cluster] < distances[best, cluster]:
            nearest[int(cluster)] = row
    return sorted(nearest.values())
