# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How requests are joined, without a server."""

import asyncio

import numpy as np
import pytest

import conftest  # noqa: F401, pylint: disable=unused-import  (puts the package on the path)
from openatc.serve._batcher import Batcher


class Recorder:
    """Doubles its input after `seconds` and notes the rows of each call."""

    def __init__(self, seconds=0.01):
        self.rows = []
        self.seconds = seconds

    async def __call__(self, arrays):
        await asyncio.sleep(self.seconds)
        self.rows.append(len(arrays[0]))
        if np.isnan(arrays[0]).any():
            raise ValueError("a bad row")
        return [arrays[0] * 2]


def answers(batcher, requests):
    async def run():
        return await asyncio.gather(*(batcher.submit([r]) for r in requests),
                                    return_exceptions=True)
    return asyncio.run(run())


def rows(*values):
    return np.array(values, np.float32).reshape(-1, 1)


def made(run, **options):
    async def make():
        return Batcher(run, **options)
    return asyncio.run(make())


def test_each_request_has_its_own_rows():
    run = Recorder()
    results = answers(made(run, max_rows=8), [rows(1), rows(2, 3), rows(4)])
    assert [r[0].reshape(-1).tolist() for r in results] == [[2], [4, 6], [8]]
    assert run.rows == [4]


def test_what_comes_while_a_session_is_busy_is_joined():
    async def scenario():
        run = Recorder()
        batcher = Batcher(run, max_rows=8)
        first = asyncio.ensure_future(batcher.submit([rows(1)]))
        await asyncio.sleep(0.002)
        await asyncio.gather(first, *(batcher.submit([rows(i)]) for i in range(3)))
        return run.rows
    assert asyncio.run(scenario()) == [1, 3]


def test_an_idle_session_waits_for_others_if_asked():
    run = Recorder()
    answers(made(run, max_rows=8, max_wait=0.05), [rows(1), rows(2), rows(3)])
    assert run.rows == [3]


def test_a_full_batch_does_not_wait():
    run = Recorder()
    batcher = made(run, max_rows=2, max_wait=60)
    assert len(answers(batcher, [rows(1), rows(2)])) == 2
    assert run.rows == [2]


def test_no_batch_exceeds_its_rows():
    run = Recorder()
    answers(made(run, max_rows=4), [rows(i, i, i) for i in range(6)])
    assert run.rows == [3] * 6


def test_a_request_above_the_limit_runs_alone():
    run = Recorder()
    (result,) = answers(made(run, max_rows=2), [rows(1, 2, 3)])
    assert len(result[0]) == 3


def test_other_shapes_are_not_joined():
    run = Recorder()
    wide = np.zeros((1, 2), np.float32)
    answers(made(run, max_rows=8), [rows(0), rows(1), wide, rows(2)])
    assert sorted(run.rows) == [1, 3]


def test_a_bad_request_fails_alone():
    results = answers(made(Recorder(), max_rows=8, max_wait=0.05),
                      [rows(1), rows(float("nan")), rows(3)])
    assert results[0][0].item() == 2 and results[2][0].item() == 6
    assert isinstance(results[1], ValueError)


def test_outputs_must_have_a_row_per_row():
    async def run(arrays):
        return [arrays[0][:1]]
    results = answers(made(run, max_rows=8, max_wait=0.05), [rows(1), rows(2, 3)])
    assert results[0][0].item() == 1
    assert "max_batch to 1" in str(results[1])


def test_lanes_run_side_by_side():
    running, most = 0, 0

    async def run(arrays):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return arrays
    answers(made(run, max_rows=1, lanes=3), [rows(i) for i in range(9)])
    assert most == 3


@pytest.mark.parametrize("lanes", [1, 2])
def test_a_cancelled_request_does_not_hold_the_others(lanes):
    async def scenario():
        batcher = Batcher(Recorder(), max_rows=1, lanes=lanes)
        first = [asyncio.ensure_future(batcher.submit([rows(i)])) for i in range(5)]
        await asyncio.sleep(0)
        first[3].cancel()
        return await asyncio.gather(*first, return_exceptions=True)
    results = asyncio.run(scenario())
    assert isinstance(results[3], asyncio.CancelledError)
    assert [r[0].item() for i, r in enumerate(results) if i != 3] == [0, 2, 4, 8]
