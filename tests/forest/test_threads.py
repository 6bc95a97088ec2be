"""What is shared out over threads comes back in order, whole, and ends at once when told to."""

import threading
from itertools import chain

import numpy as np
import pytest

from forestlab.core.crew import WORTH, Crew
from forestlab.forest import threads
from forestlab.forest.threads import in_runs


def running():
    return np.zeros(1, np.uint8)


@pytest.mark.parametrize("seconds", [0.0, 0.001, 1.0])
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("numbers", [range(1), range(7, 8), range(3, 103), range(40)])
def test_every_number_is_in_one_run_and_runs_come_in_order(numbers, n_jobs, seconds, monkeypatch):
    """However long runs are: those of a second are for one number each."""
    monkeypatch.setattr(threads, "perf_counter", iter(np.arange(1000) * seconds).__next__)
    asked = []

    def work(first, count):
        asked.append(count)
        return range(first, first + count)

    stop = running()
    found = list(in_runs(work, numbers, n_jobs, stop))
    assert list(chain.from_iterable(found)) == list(numbers)
    assert (max(asked) == 1) == (seconds == 1.0 or len(numbers) < 4 * n_jobs)
    assert stop[0] == 1  # nothing grows any more


def test_a_run_that_is_done_early_waits_for_those_before():
    late = threading.Event()

    def work(first, count):
        if first == 0:
            assert late.wait(10)
        else:
            late.set()
        return first

    found = list(in_runs(work, range(8), 2, running()))
    assert found == sorted(found)
    assert found[0] == 0


def test_what_goes_wrong_in_a_run_is_raised_and_stops_the_others():
    stop, another, others_ended = running(), threading.Event(), threading.Event()

    def work(first, count):
        if first == 0:
            assert another.wait(10)
            raise ValueError("of run 0")
        another.set()
        while not stop[0]:  # as a kernel does
            threading.Event().wait(0.001)
        others_ended.set()

    with pytest.raises(ValueError, match="of run 0"):
        list(in_runs(work, range(8), 2, stop))
    assert others_ended.wait(10)


def test_who_takes_no_more_runs_stops_them():
    stop, begun = running(), []

    def work(first, count):
        begun.append(first)
        return first

    runs = in_runs(work, range(10_000), 1, stop)
    next(runs)
    runs.close()
    assert stop[0] == 1
    assert begun[0] == 0


@pytest.mark.parametrize("n_numbers", [0, WORTH])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_crew_does_all_in_order_and_alone_where_there_is_little(n_jobs, n_numbers):
    done, by = [], set()

    def work(item):
        by.add(threading.current_thread())
        done.append(item)
        return 2 * item

    with Crew(n_jobs, n_numbers) as crew:
        assert list(crew.map(work, range(20))) == list(range(0, 40, 2))
    assert sorted(done) == list(range(20))
    is_alone = n_jobs == 1 or n_numbers < WORTH
    assert (by == {threading.current_thread()}) == is_alone
