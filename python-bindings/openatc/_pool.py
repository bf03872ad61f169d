# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that do not wait: coroutines, and a queue of requests for several sessions."""

from __future__ import annotations

import asyncio
import collections
import os
import queue
import threading
import weakref
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ._error import CancelledError
from ._runtime import Model, Session

_turns: weakref.WeakKeyDictionary[Session, threading.Lock] = weakref.WeakKeyDictionary()
_turns_lock = threading.Lock()


class _Run:
    """A run in another thread, which can be cancelled without touching the runs of others."""

    def __init__(self, session: Session, inputs: Any, outputs: Any) -> None:
        self.session, self.inputs, self.outputs = session, inputs, outputs
        self.lock = threading.Lock()
        self.is_running = self.is_cancelled = self.is_sent = False
        with _turns_lock:
            self.turn = _turns.setdefault(session, threading.Lock())

    def __call__(self) -> Any:
        with self.turn:
            with self.lock:
                if self.is_cancelled:
                    return None
                self.is_running = True
            try:
                result = self.session.run(self.inputs, self.outputs)
            finally:
                with self.lock:
                    self.is_running = False
            if self.is_sent:
                # The run was over before it could be cancelled, and the next one would be: this
                # one, which ends at once.
                try:
                    self.session.run(self.inputs, self.outputs)
                except CancelledError:
                    pass
            return result

    def cancel(self) -> None:
        """Ends the run, or keeps it from beginning."""
        with self.lock:
            self.is_cancelled = True
            if self.is_running:
                self.is_sent = True
                self.session.cancel()


async def run_async(session: Session, inputs: Any, outputs: Any = None) -> Any:
    """Runs a model in a thread of the event loop; `Session.run_async` calls it."""
    run = _Run(session, inputs, outputs)
    future = asyncio.get_running_loop().run_in_executor(None, run)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        run.cancel()
        # The arrays are in use until the run has ended.
        await asyncio.wait([future])
        if not future.cancelled():
            future.exception()  # which is this cancellation
        raise


class Pool:
    """Several sessions of one model, and a queue of requests for them.

        with openatc.Pool(model, sessions=4) as pool:
            futures = [pool.submit([x]) for x in requests]
            for scores, in pool.map([x] for x in more):
                ...

    All methods may be called by any number of threads. A request is what `Session.run` takes.
    `sessions` is one per processor where it is 0; `options` are arguments of `Session`, of which
    `threads` is 1 here.
    """

    def __init__(self, model: Model | str | os.PathLike[str], sessions: int = 0,
                 **options: Any) -> None:
        if sessions < 0:
            raise ValueError(f"sessions must be 0, for one per processor, or more, not {sessions}")
        count = sessions or len(os.sched_getaffinity(0))
        self._model = model if isinstance(model, Model) else Model(model)
        self._sessions = [Session(self._model, **{"threads": 1, **options}) for _ in range(count)]
        self._free: queue.SimpleQueue[Session] = queue.SimpleQueue()
        for session in self._sessions:
            self._free.put(session)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="openatc.Pool")

    @property
    def model(self) -> Model:
        """The model that the sessions run."""
        return self._model

    @property
    def sessions(self) -> list[Session]:
        """The sessions, which runs of the pool may be using."""
        return list(self._sessions)

    def submit(self, inputs: Any, outputs: Any = None) -> Future[Any]:
        """Puts a request into the queue and returns its Future: `result()` waits for it, and
        `cancel()` takes it out of the queue as long as it has not begun. RuntimeError after
        `close`."""
        return self._threads.submit(self._run, inputs, outputs)

    def map(self, requests: Iterable[Any]) -> Iterator[Any]:
        """Yields the result of each request, in their order. A few more than the sessions can
        run are taken from `requests` ahead, which may be endless."""
        waiting: collections.deque[Future[Any]] = collections.deque()
        try:
            for request in requests:
                waiting.append(self.submit(request))
                if len(waiting) > 2 * len(self._sessions):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    async def run_async(self, inputs: Any, outputs: Any = None) -> Any:
        """Puts a request into the queue and waits for its result in the event loop."""
        return await asyncio.wrap_future(self.submit(inputs, outputs))

    def close(self, *, cancel: bool = False) -> None:
        """Waits for all requests, or with `cancel` ends those that run and refuses the others,
        and closes the sessions; `with` does so at its end."""
        if cancel:
            self._threads.shutdown(wait=False, cancel_futures=True)
            busy = set(self._sessions) - set(self._drain())
            for session in busy:
                session.cancel()
        self._threads.shutdown(wait=True)
        for session in self._sessions:
            session.close()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close(cancel=exception[0] is not None)

    def __repr__(self) -> str:
        return f"<openatc.Pool of {len(self._sessions)} sessions of {self._model!r}>"

    def _run(self, inputs: Any, outputs: Any) -> Any:
        session = self._free.get()
        try:
            return session.run(inputs, outputs)
        finally:
            self._free.put(session)

    def _drain(self) -> list[Session]:
        """Takes all sessions that no request uses."""
        free = []
        while True:
            try:
                free.append(self._free.get_nowait())
            except queue.Empty:
                return free
