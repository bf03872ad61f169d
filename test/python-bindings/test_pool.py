# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Session.run_async, Pool: runs that do not wait."""

import asyncio
import itertools
import threading
import time

import numpy as np
import pytest

import openatc
from openatc import builder


def endless():
    """A model that counts up to its input: as slow as wanted, and it can be cancelled."""
    graph = builder.Graph("count")
    count = graph.input("count", "i64", [])
    body = graph.subgraph()
    body.input("i", "i64", [])
    condition = body.input("condition", "bool", [])
    total = body.input("so_far", "i64", [])
    body.output("again", body.op("Identity", condition), "bool", [])
    body.output("more", total + 1, "i64", [])
    graph.output("total", graph.op("Loop", count, None, np.int64(0), body=body), "i64", [])
    return openatc.compile(graph)


@pytest.fixture(scope="module")
def counter():
    return endless()


FOREVER = np.array(1 << 60)


def test_run_async(digits, pictures, right_scores):
    session = openatc.Session(digits)

    async def main():
        first = await session.run_async([pictures[3]])
        np.testing.assert_allclose(first[0][0], right_scores[3], atol=1e-4)
        all_at_once = await asyncio.gather(*(session.run_async({"image": x}) for x in pictures))
        given = openatc.empty((1, 10))
        assert (await session.run_async([pictures[1]], outputs=[given]))[0] is given
        with pytest.raises(openatc.Error):
            await session.run_async([pictures[3].astype("f8")])
        return all_at_once

    for scores, right in zip(asyncio.run(main()), right_scores):
        np.testing.assert_allclose(scores["scores"][0], right, atol=1e-4)


def test_cancelling_a_task_ends_its_run_only(counter):
    session = openatc.Session(counter)

    async def main():
        slow = asyncio.create_task(session.run_async([FOREVER]))
        others = [asyncio.create_task(session.run_async([np.array(n)])) for n in (5, 6, 7)]
        await asyncio.sleep(0.05)
        assert not slow.done() and not any(other.done() for other in others)
        others[1].cancel()       # which waits behind the slow one
        await asyncio.sleep(0.01)
        assert not slow.done()
        slow.cancel()
        results = await asyncio.gather(slow, *others, return_exceptions=True)
        assert [type(results[i]) for i in (0, 2)] == [asyncio.CancelledError] * 2
        assert [int(results[i][0]) for i in (1, 3)] == [5, 7]
        # A cancellation that comes with the end of a run leaves the session as it was.
        for _ in range(50):
            task = asyncio.create_task(session.run_async([np.array(20)]))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert int((await session.run_async([np.array(3)]))[0]) == 3

    asyncio.run(asyncio.wait_for(main(), 60))


def test_pool(digits, pictures, right_scores):
    with openatc.Pool(digits, sessions=3) as pool:
        assert pool.model is digits and len(pool.sessions) == 3 and "3 sessions" in repr(pool)
        assert {session.threads for session in pool.sessions} == {1}
        futures = [pool.submit([x]) for x in pictures]
        for future, right in zip(futures, right_scores):
            np.testing.assert_allclose(future.result()[0][0], right, atol=1e-4)
        results = list(pool.map([x] for x in pictures))
        np.testing.assert_allclose(np.concatenate([scores for scores, in results]), right_scores,
                                   atol=1e-4)
        # Of endless requests few are taken ahead.
        taken = itertools.count()
        endless_requests = ([pictures[next(taken) % 10]] for _ in itertools.repeat(0))
        assert len(list(itertools.islice(pool.map(endless_requests), 20))) == 20
        assert next(taken) <= 20 + 2 * 3 + 2
        given = openatc.empty((1, 10))
        assert pool.submit({"image": pictures[0]}, outputs={"scores": given}).result()["scores"] \
            is given
        with pytest.raises(openatc.Error):
            pool.submit([pictures[0].astype("f8")]).result()
        assert asyncio.run(pool.run_async([pictures[4]]))[0].argmax() == right_scores[4].argmax()
    with pytest.raises(RuntimeError):
        pool.submit([pictures[0]])
    with pytest.raises(ValueError):
        pool.sessions[0].run([pictures[0]])


def test_pool_from_a_path_with_options(digits_om, pictures):
    pool = openatc.Pool(digits_om, 1, threads=2, max_seconds=100)
    assert pool.sessions[0].threads == 2
    pool.close()
    assert len(openatc.Pool(digits_om).sessions) >= 1
    for wrong in (lambda: openatc.Pool(digits_om, -1),
                  lambda: openatc.Pool(digits_om, 1, max_seconds=-1)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        openatc.Pool(digits_om, 1, no_such_option=1)


def test_closing_a_pool_can_cancel(counter):
    pool = openatc.Pool(counter, 2)
    running = [pool.submit([FOREVER]) for _ in range(2)]
    waiting = pool.submit([np.array(1)])
    while not all(future.running() for future in running):
        time.sleep(0.001)
    time.sleep(0.05)
    pool.close(cancel=True)
    assert waiting.cancelled()
    for future in running:
        assert isinstance(future.exception(), openatc.CancelledError)


def test_pool_is_shared_by_threads(digits, pictures, right_scores):
    wrong = []
    with openatc.Pool(digits, 2) as pool:
        def work(digit):
            for _ in range(20):
                scores, = pool.submit([pictures[digit]]).result()
                if not np.allclose(scores[0], right_scores[digit], atol=1e-4):
                    wrong.append(digit)
        threads = [threading.Thread(target=work, args=(digit,)) for digit in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
