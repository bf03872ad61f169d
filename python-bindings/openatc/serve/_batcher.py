# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Joins concurrent requests into batches.

A request that comes while a session is idle runs at once (or after `max_wait` seconds, in which
others may join it). Requests that come while all sessions are busy wait, and what waits is joined
along the first dim when a session is free again: the batch grows with the load by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import numpy as np

Arrays = list[np.ndarray]


@dataclass
class _Waiting:
    arrays: Arrays
    rows: int
    result: asyncio.Future[Arrays]
    since: float = field(default_factory=time.monotonic)

    def joins(self, other: _Waiting) -> bool:
        """Returns whether both differ in nothing but their number of rows."""
        return all(a.shape[1:] == b.shape[1:] for a, b in zip(self.arrays, other.arrays))


class Batcher:
    """Runs requests in batches of at most `max_rows` rows.

    `run` takes an array per input and returns an array per output, each with the same number of
    rows; up to `lanes` calls of it are in progress at a time.
    """

    def __init__(self, run: Callable[[Arrays], Awaitable[Arrays]], *, max_rows: int,
                 max_wait: float = 0.0, lanes: int = 1) -> None:
        self._run = run
        self._max_rows = max_rows
        self._max_wait = max_wait
        self._free = lanes
        self._waiting: deque[_Waiting] = deque()
        self._filled = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.batches = 0
        self.rows = 0

    async def submit(self, arrays: Arrays) -> Arrays:
        """Returns the outputs for `arrays`, which have the same number of rows."""
        entry = _Waiting(arrays, len(arrays[0]), asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        if self._full():
            self._filled.set()
        self._start()
        return await entry.result

    def _start(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            task = asyncio.ensure_future(self._serve())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            if self._max_wait > 0:
                return

    async def _serve(self) -> None:
        try:
            await self._collect_time()
            batch = self._take()
            if batch:
                await self._answer(batch)
        finally:
            self._free += 1
            self._start()

    async def _collect_time(self) -> None:
        """Waits until the oldest request has waited for `max_wait`, or a batch is full."""
        if self._max_wait <= 0 or not self._waiting or self._full():
            return
        self._filled.clear()
        left = self._waiting[0].since + self._max_wait - time.monotonic()
        try:
            await asyncio.wait_for(self._filled.wait(), max(left, 0.0))
        except asyncio.TimeoutError:
            pass

    def _full(self) -> bool:
        return sum(entry.rows for entry in self._waiting) >= self._max_rows

    def _take(self) -> list[_Waiting]:
        """Removes the oldest request and those that can join it, in their order."""
        batch: list[_Waiting] = []
        rows = 0
        kept: deque[_Waiting] = deque()
        while self._waiting:
            entry = self._waiting.popleft()
            if entry.result.cancelled():
                continue
            if not batch or (rows + entry.rows <= self._max_rows and entry.joins(batch[0])):
                batch.append(entry)
                rows += entry.rows
            else:
                kept.append(entry)
        self._waiting = kept
        return batch

    async def _answer(self, batch: list[_Waiting]) -> None:
        self.batches += 1
        self.rows += sum(entry.rows for entry in batch)
        try:
            joined = [np.concatenate(columns) if len(columns) > 1 else columns[0]
                      for columns in zip(*(entry.arrays for entry in batch))]
            outputs = await self._run(joined)
            self._check(outputs, len(joined[0]))
        except Exception as error:  # pylint: disable=broad-exception-caught
            if len(batch) == 1:
                self._fail(batch[0], error)
                return
            # One request must not fail the others: each has an answer of its own.
            for entry in batch:
                await self._answer([entry])
            return
        row = 0
        for entry in batch:
            if not entry.result.done():
                entry.result.set_result([output[row:row + entry.rows] for output in outputs])
            row += entry.rows

    @staticmethod
    def _check(outputs: Arrays, rows: int) -> None:
        """Raises a ValueError for an output that does not have a row per row of the inputs."""
        for output in outputs:
            if not output.ndim or len(output) != rows:
                raise ValueError(f"a batch of {rows} rows has an output of shape "
                                 f"{list(output.shape)}: this model cannot run in batches, "
                                 "set max_batch to 1")

    @staticmethod
    def _fail(entry: _Waiting, error: Exception) -> None:
        if not entry.result.done():
            entry.result.set_exception(error)
