# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sessions of a training step: one, or one per rank of data-parallel training."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from . import _runtime
from ._error import ArgumentError, Error
from ._runtime import Model, Session


RANDOM = "train.random"
"""The state behind dropouts: seed, rank and number of runs."""


def _library_folders() -> list[str]:
    """The folders where the plug-in for MPI may be, beside the package and installed."""
    package = Path(__file__).resolve().parent
    return [str(package / "lib"), str(package.parents[1] / "lib"), str(package.parents[2])]


class RankSessions:
    """Runs a step on `count` ranks, which are threads of this process, or under mpirun processes.

    Each rank has a session with a copy of all state, which is equal on all of them.
    """

    def __init__(self, model: Model, count: int, threads: int, max_memory: int,
                 timeout: float) -> None:
        self.count = count
        self.model = model
        self._connections: list[_runtime.Ranks] = []
        self._pool: ThreadPoolExecutor | None = None
        processes = _runtime.mpi_processes() if count > 1 else 0
        if processes and processes != count:
            raise ArgumentError([f"E10057: the step is for {count} ranks, but mpirun has started "
                                 f"{processes}: use mpirun -np {count}"])
        self.is_process = processes > 0
        """Whether this process is one rank of several."""
        if self.is_process:
            self._connections = [_runtime.open_mpi(timeout, _library_folders())]
        elif count > 1:
            self._connections = _runtime.open_threads(count, timeout)
            self._pool = ThreadPoolExecutor(count)
        # Ranks share the processors, and wait for each other.
        here = max(1, len(self._connections))
        spin = 0 if count > 1 else 200
        if count > 1 and threads == 0:
            local = int(os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE", here))
            threads = max(1, (os.cpu_count() or 1) // max(1, local))
        self.sessions = [Session(model, threads=threads, max_memory=max_memory, spin_us=spin)
                         for _ in range(here)]
        for session, connection in zip(self.sessions, self._connections):
            session.connect(connection)
        for session in self.sessions:
            session.keep_state = True

    @property
    def rank(self) -> int:
        """The rank of this process; 0 where it has all of them."""
        return self._connections[0].rank if self.is_process else 0

    @property
    def sent_bytes(self) -> int:
        """The bytes that all ranks of this process have sent."""
        return sum(connection.sent_bytes for connection in self._connections)

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Sets state on all ranks of this process, which is the same but for the rank behind random
        numbers: ranks drop different elements."""
        for index, session in enumerate(self.sessions):
            own = dict(state)
            if RANDOM in own:
                own[RANDOM] = np.array(own[RANDOM], np.float32)
                own[RANDOM][1] = self.rank if self.is_process else index
            session.write_state(own)

    def share(self, name: str, array: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
        """Returns the part of an input for each rank of this process: rows of the joint batch,
        or the array itself where it has the shape of one rank's input."""
        if self.count == 1 or array.shape == shape:
            return [array] * len(self.sessions)
        if not shape or array.shape != (shape[0] * self.count, *shape[1:]):
            raise ArgumentError([
                f"E10014: '{name}' has shape {list(array.shape)}, but the step of {self.count} "
                f"ranks takes {list(shape)} per rank, or a batch of all ranks together"])
        parts = np.split(array, self.count)
        return [parts[self.rank]] if self.is_process else parts

    def run(self, inputs: list[dict[str, np.ndarray]]) -> list[dict[str, np.ndarray]]:
        """Runs the step on all ranks of this process with an input per rank; after an error of
        one of them the others end, too."""
        if self._pool is None:
            try:
                return [self.sessions[0].run(inputs[0])]
            except Error as error:
                if self.is_process:
                    print(error, file=sys.stderr, flush=True)
                    self._connections[0].abort(f"rank {self.rank} has failed: {error}")
                raise
        futures = {self._pool.submit(session.run, own): index
                   for index, (session, own) in enumerate(zip(self.sessions, inputs))}
        first: BaseException | None = None
        for future in as_completed(futures):
            error = future.exception()
            if error is not None and first is None:
                first = error
                index = futures[future]
                self._connections[index].abort(f"rank {index} has failed: {error}")
        if first is not None:
            raise first
        return [future.result() for future in futures]
