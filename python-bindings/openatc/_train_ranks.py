# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sessions of a training step: one, or one per rank of data-parallel training."""

from __future__ import annotations

import math
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

    Each rank has a session with all state, which is equal on all of them but for what they share:
    the states of `shared`, with their shapes. Of these a rank has a vector of 1 / count of the
    elements.
    """

    def __init__(self, model: Model, count: int, threads: int, max_memory: int,
                 timeout: float, shared: Mapping[str, tuple[int, ...]] | None = None) -> None:
        self.count = count
        self.model = model
        self.shared = dict(shared or {})
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
        """Sets state on all ranks of this process: the whole of it, of which a rank keeps its
        share, and the rank behind random numbers, since ranks drop different elements."""
        errors = [f"E10014: the state '{name}' has shape {list(np.shape(state[name]))}, expected "
                  f"{list(shape)}" for name, shape in self.shared.items()
                  if name in state and np.shape(state[name]) != shape]
        if errors:
            raise ArgumentError(errors)
        for index, session in enumerate(self.sessions):
            rank = self.rank if self.is_process else index
            own = dict(state)
            for name in self.shared.keys() & own.keys():
                own[name] = self._share_of(np.asarray(own[name], np.float32), rank)
            if RANDOM in own:
                own[RANDOM] = np.array(own[RANDOM], np.float32)
                own[RANDOM][1] = rank
            session.write_state(own)

    def read_state(self) -> dict[str, np.ndarray]:
        """Returns a copy of all state by name. Where processes share some of it, all of them have
        to call this."""
        parts = [session.read_state() for session in self.sessions]
        state = {name: array for name, array in parts[0].items() if array is not None}
        for name, shape in self.shared.items():
            elements = self._connections[0].gather(state[name]) if self.is_process \
                else np.concatenate([part[name] for part in parts])
            state[name] = elements.reshape(-1)[:math.prod(shape)].reshape(shape)
        return state

    def _share_of(self, array: np.ndarray, rank: int) -> np.ndarray:
        """Returns a rank's elements of a shared tensor, with zeros behind the last ones."""
        size = -(-array.size // self.count)
        padded = np.zeros(size * self.count, np.float32)
        padded[:array.size] = array.reshape(-1)
        return padded[rank * size:(rank + 1) * size]

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
            failure = future.exception()
            if failure is not None and first is None:
                first = failure
                index = futures[future]
                self._connections[index].abort(f"rank {index} has failed: {failure}")
        if first is not None:
            raise first
        return [future.result() for future in futures]
