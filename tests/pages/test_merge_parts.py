"""The Merges page's view of a tree whose merges were cut into parts."""

from pathlib import Path

from combee_core.engine.outlook import planned_nodes
from pages.merge_figure import lay_out, rows_of
from pages.merge_view import MergeView
from tests.engine.bench import Bench
from tests.engine.scripted import Scripted
from tests.engine.test_flow import SMALL_BUDGET, shortened


def test_parts_have_names_of_their_own_and_each_group_is_drawn_once(tmp_path: Path) -> None:
    for n in (36, 120):
        place = Bench(tmp_path / f"{n}.duckdb", n)
        run, _ = place.learn(Scripted(merge=shortened), batch=n, token_budget=SMALL_BUDGET)
        view = MergeView({node["id"]: node for node in planned_nodes(place.database, run, 1)})
        place.close()
        names = [view.name(merge["id"]) for merge in view.merges]
        assert len(set(names)) == len(names)
        assert any(", part 2" in name for name in names)
        rows = rows_of(view)
        assert sorted(rows) == sorted({merge for merge in view.copies if view.copies[merge]})
        assert lay_out(view).merges.keys() == {merge["id"] for merge in view.merges}
