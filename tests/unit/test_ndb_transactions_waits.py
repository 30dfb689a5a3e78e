"""Who waits for whom, whatever the locks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.ndb_transactions.diagnosis import Chain, wanted
from stallwatch.probes.ndb_transactions.queries import Lock

locks = st.lists(
    st.builds(
        Lock,
        st.tuples(st.just(3), st.just(21), st.just(0), st.integers(0, 4)),
        st.integers(1, 6),
        st.floats(0, 99),
    )
)


def waits(*pairs, held=9.0, waited=1.0, is_whole=True):
    """Of ``(waiter, row, holders...)``."""
    waiting = [Lock((3, 21, 0, row), waiter, waited) for waiter, row, *_ in pairs]
    holding = [Lock((3, 21, 0, row), holder, held) for _, row, *holders in pairs for holder in holders]
    return wanted(waiting, holding, is_whole=is_whole)


@pytest.mark.parametrize(
    ("pairs", "heads"),
    [
        ([(1, 1, 2)], {2}),
        ([(1, 1, 2, 3)], {2, 3}),
        ([(1, 1, 2), (2, 2, 3)], {3}),
        ([(1, 1, 2), (2, 2, 3), (3, 3, 4)], {4}),
        ([(1, 1, 2, 3), (2, 2, 4)], {3, 4}),
        ([(1, 1, 2, 3), (2, 2, 3)], {3}),
        ([(1, 1, 1, 2)], {2}),  # it shares the row
        ([(1, 1, 1, 2), (3, 1)], {2}),
        ([(1, 1, 2), (2, 2, 1)], set()),
        ([(1, 1, 2), (2, 2, 3), (3, 3, 2)], set()),
    ],
)
def test_all_waiting_leads_to_its_heads(pairs, heads):
    found = waits(*pairs)
    chain = found.chain(found.rows[0])
    assert set(chain.heads) == heads
    assert chain.is_whole
    assert chain.is_deadlock == (not heads)


@pytest.mark.parametrize(
    "pairs", [[(1, 1, 2), (2, 2)], [(1, 1, 2), (2, 2, 2)], [(1, 1, 2), (2, 2, 3), (3, 3)]]
)
def test_whoever_waits_for_somebody_unseen_leaves_it_open(pairs):
    found = waits(*pairs)
    assert found.chain(found.rows[0]) == Chain((), is_whole=False)


def test_if_not_all_locks_were_read_it_is_open_too():
    found = waits((1, 1, 2), is_whole=False)
    assert found.chain(found.rows[0]) == Chain((2,), is_whole=False)


def test_who_has_waited_for_longer_than_it_holds_waits_no_more():
    assert not waits((1, 1, 1, 2), held=1.0, waited=2.0).rows
    assert waits((1, 1, 1, 2), held=2.0, waited=2.0).rows


@given(locks, locks)
def test_nobody_is_at_the_head_who_waits(waiting, holding):
    found = wanted(waiting, holding)
    waiters = {one for row in found.rows for one in row.waiters}
    for row in found.rows:
        assert not waiters.intersection(found.chain(row).heads)
        assert not set(row.waiters).intersection(row.holders)
        assert row.waited == max(row.waiters.values())


@given(locks, locks)
def test_the_end_of_a_single_head_is_waited_for_by_all(waiting, holding):
    """Whoever waits for the row waits for it, however indirectly."""
    found = wanted(waiting, holding)
    for row in found.rows:
        chain = found.chain(row)
        if not chain.is_whole or len(chain.heads) != 1:
            continue
        (head,) = chain.heads
        assert head in {lock.transaction for lock in holding}
        assert row.held is not None
