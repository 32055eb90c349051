"""Parts of a merge that is too large for one call."""

from hypothesis import given
from hypothesis import strategies as st

from combee_core.engine.split import CHARS_AROUND_ITEM, parts_of, room_for_items, size
from combee_core.lesson import Item


@st.composite
def inputs(draw: st.DrawFn) -> tuple[list[Item], dict[str, str], int]:
    blocks = draw(st.lists(st.lists(st.integers(1, 300), min_size=1, max_size=6), max_size=20))
    items, node_of = [], {}
    for block, lengths in enumerate(blocks):
        for number, length in enumerate(lengths):
            item = Item(id=f"m1-{block + 1}-{number + 1}", text="x" * length)
            items.append(item)
            node_of[item.id] = f"i1.m1.{block + 1}"
    return items, node_of, draw(st.integers(1, 4_000))


@given(inputs())
def test_every_item_is_in_one_part_in_its_order_and_every_part_fits(given_: tuple[list[Item], dict[str, str], int]):
    items, node_of, room = given_
    parts = parts_of(items, node_of, room)
    assert [item for part in parts for item in part] == items
    assert all(size(part) <= room or len(part) == 1 for part in parts)
    assert parts == parts_of(items, node_of, room)
    if items:
        assert all(parts)


@given(inputs())
def test_what_fits_stays_whole_and_nodes_are_cut_only_where_they_alone_do_not_fit(
    given_: tuple[list[Item], dict[str, str], int],
):
    items, node_of, room = given_
    parts = parts_of(items, node_of, room)
    if size(items) <= room:
        assert parts == [tuple(items)]
    for node in set(node_of.values()):
        of_node = [item for item in items if node_of[item.id] == node]
        if size(of_node) <= room:
            assert sum(of_node[0] in part for part in parts) == 1
            assert all(item in next(part for part in parts if of_node[0] in part) for item in of_node)


def test_equal_items_are_cut_into_equal_parts():
    items = [Item(id=f"r{number}-1", text="x" * 100) for number in range(1, 101)]
    node_of = {item.id: item.id for item in items}
    room = 30 * size(items[:1]) + 200
    assert [len(part) for part in parts_of(items, node_of, room)] == [25, 25, 25, 25]


def test_the_room_is_what_the_playbook_leaves_but_never_less_than_a_quarter():
    assert room_for_items(1_000, 4.0, 1_000) == 3_000
    assert room_for_items(1_000, 4.0, 3_900) == 1_000
    assert size([Item(id="r1-1", text="abc")]) == 4 + 3 + CHARS_AROUND_ITEM
