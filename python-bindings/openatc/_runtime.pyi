# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._display import Profile
from ._values import Ports, Shape

_Arrays = NDArray[Any] | Sequence[NDArray[Any]] | Mapping[str, NDArray[Any]]
"""An array for each input or output, in their order or by name; one array where there is one."""

class TensorInfo:
    """A tensor of a model."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str:
        """The runtime's name: "f32", "i64", "bool" ..."""
    @property
    def shape(self) -> Shape | None:
        """None for any rank. In it a dynamic dim is its name in the model, or None where it has
        none."""
    @property
    def kind(self) -> str:
        """"tensor", "sequence" or "map"."""
    @property
    def optional(self) -> bool:
        """Whether the value may be None."""
    @property
    def bytes(self) -> int: ...
    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """What an array for it has: bf16 is uint16, i4 and u4 are uint8, two in a byte."""
    @property
    def numpy_shape(self) -> tuple[int, ...]:
        """With -1 for a dim of any size."""

class LaunchInfo:
    """One step of a model's schedule."""

    @property
    def name(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    @property
    def cost(self) -> int:
        """Estimated operations, or bytes moved."""
    @property
    def tasks(self) -> int:
        """How many independent pieces the kernel has; of an NPU launch, its cores."""
    @property
    def npu(self) -> bool:
        """Whether `kernel` is a program of the NPU."""
    @property
    def host(self) -> bool:
        """Whether it is a call of a host kernel, on values of any shape."""
    @property
    def macs(self) -> int:
        """Multiply-accumulates of an NPU launch, else 0."""
    @property
    def reads(self) -> tuple[int, ...]:
        """Indices into Model.tensors."""
    @property
    def writes(self) -> tuple[int, ...]: ...

class LaunchTime:
    """The mean time of one launch over the runs since profiling was switched on."""

    @property
    def launch(self) -> int:
        """Index into Model.launches."""
    @property
    def name(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    @property
    def microseconds(self) -> float: ...
    @property
    def share(self) -> float:
        """Of the time in all launches, 0 to 1."""

class Model:
    """A verified .om file; any number of sessions and threads may share it."""

    def __init__(self, source: str | os.PathLike[str] | bytes | bytearray | memoryview, *,
                 verify: bool = True, cpu_level: str | None = None) -> None:
        """Opens a path, or the bytes of a file.

        `verify=False` does not read the weights, which `verify_weights` may check later;
        `cpu_level` takes that code instead of the best that fits this machine.
        """
    @property
    def inputs(self) -> Ports: ...
    @property
    def outputs(self) -> Ports: ...
    @property
    def tensors(self) -> Ports: ...
    @property
    def launches(self) -> list[LaunchInfo]: ...
    @property
    def name(self) -> str: ...
    @property
    def producer(self) -> str: ...
    @property
    def command_line(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def cpu_level(self) -> str: ...
    @property
    def soc(self) -> str:
        """The NPU that it is for; empty when it runs on the CPU alone."""
    @property
    def npu_bytes(self) -> int:
        """Of the NPU's programs."""
    @property
    def file_bytes(self) -> int: ...
    @property
    def weights_bytes(self) -> int: ...
    @property
    def code_bytes(self) -> int: ...
    @property
    def arena_bytes(self) -> int: ...
    @property
    def gears(self) -> list[tuple[int, ...]]:
        """The values of each gear; empty for a model without gears."""
    @property
    def gear_kind(self) -> str:
        """"none", "batch", "image" (height, width), "dims" or "range" (inputs are padded)."""
    @property
    def states(self) -> dict[str, str]:
        """The outputs that can be the next run's values of inputs: {input: output}."""
    @property
    def metadata(self) -> dict[str, str]:
        """What the author of the model has stated about it: {key: value}."""
    @property
    def schema_version(self) -> tuple[int, int]: ...
    def _repr_html_(self) -> str: ...
    def verify_weights(self) -> None:
        """Reads all weights and compares their hash with the file's."""
    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the .om file to a path."""
    def __copy__(self) -> Model: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Model: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Model], tuple[bytes]]:
        """A pickled model has its file in it, and the `cpu_level` that it was opened with."""

class Session:
    """Memory and threads for one inference at a time; other threads wait their turn."""

    def __init__(self, model: Model | str | os.PathLike[str] | bytes | bytearray | memoryview,
                 *, threads: int = 0, spin_us: int = 200,
                 serial_cost: int = 30000, max_memory: int = 0, max_iterations: int = 0,
                 max_seconds: float = 0.0, check_hazards: bool = False,
                 functional: bool = True, timed: bool = True, prefetch: bool = True,
                 soc_file: str | os.PathLike[str] | None = None,
                 timeline_spans: int = 1000000) -> None:
        """`model` may be a path or the bytes of a compiled file. `threads` 0 uses as many as the process may; idle ones spin for `spin_us`; a launch
        cheaper than `serial_cost` stays on the calling thread.

        `max_memory` bytes may be held at once (0: three quarters of the machine's memory), the
        loops of a run may have `max_iterations`, and it may take `max_seconds` (0: no limit);
        `openatc.NO_LIMIT` is none. A run beyond a ceiling is an `openatc.Error` of E10058.

        The others are for models with NPU launches, which run on a simulated NPU:
        `check_hazards` looks for accesses that nothing orders; without `functional` launches
        take time but compute nothing, without `timed` the other way round; without `prefetch`
        weights come into L2 only when they are used; `soc_file` simulates that table instead of
        the model's; `timeline_spans` instructions are kept for `timeline` and `report`.
        """
    @property
    def npu(self) -> dict[str, Any] | None:
        """What the simulated NPU says of the last run: cycles, ms, queues, stalls, l2, roofline
        and more, as `om-run --json`. None for a model without NPU launches."""
    def hazards(self) -> list[str]:
        """A line for each pair of accesses that nothing orders; needs `check_hazards`."""
    def timeline(self, path: str | os.PathLike[str]) -> None:
        """Writes when each instruction of all runs ran, for chrome://tracing or Perfetto."""
    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes an HTML page on where the time of the last run went."""
    @property
    def model(self) -> Model: ...
    @property
    def inputs(self) -> Ports:
        """Those of the model."""
    @property
    def outputs(self) -> Ports:
        """Those of the model."""
    @property
    def threads(self) -> int: ...
    @overload
    def run(self, inputs: NDArray[Any] | Sequence[NDArray[Any]],
            outputs: _Arrays | None = None) -> list[NDArray[Any]]: ...
    @overload
    def run(self, inputs: Mapping[str, NDArray[Any]],
            outputs: _Arrays | None = None) -> dict[str, NDArray[Any]]:
        """Runs the model without the GIL.

        One array may stand for a list of one. Numbers in lists, torch tensors and what
        has __array__ or __dlpack__ become arrays. Arrays must have the model's type and shape. One that is C-contiguous and 64-byte aligned
        (`openatc.empty`) is used in place, another is copied. `outputs` are arrays to write into;
        those not given are made.
        """
    @overload
    def run(self, inputs: Sequence[str] | None, outputs: Mapping[str, Any]) -> list[Any]:
        """The form of ONNX Runtime: names of outputs, None for all of them, and a dict of inputs.
        Returns a list of these outputs.
        """
    @overload
    def run(self, inputs: Sequence[Any]) -> list[Any]: ...
    @overload
    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The same for a model with an input or output whose shape is not known before: values
        are arrays (of objects for strings, which come out as bytes), `openatc.Raw` for types
        that numpy lacks, lists for sequences, `openatc.Map`, and None for no value.
        """
    @overload
    def run_async(self, inputs: Sequence[str] | None, outputs: Mapping[str, Any]
                  ) -> Coroutine[Any, Any, list[Any]]: ...
    @overload
    def run_async(self, inputs: Mapping[str, Any], outputs: Any = None
                  ) -> Coroutine[Any, Any, dict[str, Any]]: ...
    @overload
    def run_async(self, inputs: NDArray[Any] | Sequence[Any], outputs: Any = None
                  ) -> Coroutine[Any, Any, list[Any]]:
        """Runs the model in another thread, after the runs of this session before it. Cancelling
        the task ends this run and no other.
        """
    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Runs the model on an array per input, in its order or by name, and returns the output,
        or a tuple of several. A dict of inputs gives a dict.
        """
    def close(self) -> None:
        """Gives the memory and the threads back; `with` does so at its end. Every later run is
        a ValueError."""
    def __enter__(self) -> Session: ...
    def __exit__(self, *exception: object) -> None: ...
    def set_gear(self, values: Sequence[int] | None) -> None:
        """Chooses the gear of all runs from now on by its values; None: each run finds the gear
        with the shapes of its inputs."""
    @property
    def gear(self) -> tuple[int, ...] | None:
        """The gear that was set or used last; None before the first run and without gears."""
    @property
    def keep_state(self) -> bool:
        """Whether runs keep the model's state (`Model.states`), whose tensors are no inputs and
        outputs then; switching it on or off forgets the state."""
    @keep_state.setter
    def keep_state(self, on: bool) -> None: ...
    def reset_state(self) -> None:
        """Forgets the state: the next run starts from the beginning."""
    def read_state(self) -> dict[str, NDArray[Any] | None]:
        """Returns a copy of the state, by the names of its inputs; None before the first run."""
    def write_state(self, state: Mapping[str, NDArray[Any] | None]) -> None:
        """Sets the states that a dict names; None resets one."""
    def cancel(self) -> None:
        """Ends the run in progress, which another thread has begun, or else the next one: it is
        an `openatc.Error` of E10059. The session can be used again."""
    def _layers(self, inputs: _Arrays,
                shapes: dict[str, list[int]]) -> list[tuple[str, str, int, bool, str, NDArray[Any]]]: ...
    def tensors(self, inputs: _Arrays,
                names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
        """Runs the model once and returns what its launches wrote, all of it or `names`."""
    @property
    def profiling(self) -> bool:
        """Whether `run` measures each launch; switching it on clears the sums."""
    @profiling.setter
    def profiling(self, on: bool) -> None: ...
    def profile(self) -> Profile:
        """The mean time of each launch since profiling was switched on: a list of LaunchTime,
        which converts to a dict of columns and to a pandas.DataFrame."""

    def connect(self, ranks: Ranks) -> None:
        """Connects the runs to those of the other ranks."""

class Ranks:
    """The connection of one rank to the others."""
    @property
    def rank(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def sent_bytes(self) -> int: ...
    def gather(self, own: NDArray[Any]) -> NDArray[Any]:
        """Returns the float32 arrays of all ranks as rows; every rank calls it."""
    def abort(self, sentence: str) -> None: ...

def open_threads(count: int, timeout: float) -> list[Ranks]: ...
def open_mpi(timeout: float, folders: list[str]) -> Ranks: ...
def mpi_processes() -> int: ...

NO_LIMIT: int

def empty(shape: int | Sequence[int], dtype: DTypeLike = "float32") -> NDArray[Any]:
    """An array at a 64-byte boundary, which `Session.run` uses without a copy."""

def difference(tensor: TensorInfo, ours: NDArray[Any], reference: NDArray[Any]
               ) -> tuple[float, float, float]: ...
def runtime_version() -> str: ...
