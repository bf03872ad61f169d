# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLServer's runtime for models of OpenATC."""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import mlserver
import numpy as np
from mlserver.errors import InferenceError, MLServerError
from mlserver.logging import logger
from mlserver.types import InferenceRequest, InferenceResponse, MetadataModelResponse
from mlserver.utils import get_model_uri
from pydantic import BaseModel, ConfigDict, Field

from .. import _runtime
from .._error import Error, LimitError
from ._batcher import Batcher
from ._metrics import observe
from ._options import read_options
from ._tensors import decode, encode, metadata, unservable, wanted_outputs


class Options(BaseModel):
    """`parameters.extra` of a model's settings."""

    model_config = ConfigDict(extra="forbid")
    sessions: int = Field(0, ge=0, description="inferences at a time; 0: one per core")
    threads: int = Field(1, ge=0, description="threads of each of them; 0: one per core")
    max_batch: int = Field(1, ge=1, description="rows of a batch; above 1: the rows of the first "
                           "dim are samples that do not depend on each other")
    max_wait_ms: float = Field(0.0, ge=0, description="time in which an idle session waits for more")
    max_seconds: float = Field(0.0, ge=0, description="limit of one inference; 0: none")
    max_memory: int = Field(0, ge=0, description="bytes of one inference; 0: the runtime's default")
    verify: bool = Field(True, description="whether the file's hashes are checked")
    compile: dict[str, Any] = Field({}, description="arguments of openatc.compile for a model file")


class Runtime(mlserver.MLModel):
    """Serves an `.om` file, or a model file that is compiled when it is loaded.

    Inferences run without the GIL, in `sessions` threads that share the weights. With `max_batch`
    above 1, concurrent requests are joined along the first dim, which must be dynamic.
    """

    def __init__(self, settings: mlserver.ModelSettings) -> None:
        super().__init__(settings)
        self._sessions: SimpleQueue[_runtime.Session] = SimpleQueue()
        self._executor: ThreadPoolExecutor | None = None

    async def load(self) -> bool:
        """Opens the model and creates its sessions."""
        options = read_options(Options, self._settings)
        uri = await get_model_uri(self._settings, wellknown_filenames=["model.om", "model.onnx"])
        loop = asyncio.get_running_loop()
        try:
            self._model = await loop.run_in_executor(None, self._open, uri, options)
        except (Error, OSError) as error:
            raise MLServerError(f"model {self.name}: {error}", 422) from None
        refused = unservable(list(self._model.inputs) + list(self._model.outputs))
        if refused:
            raise MLServerError(f"model {self.name}: only dense tensors can be served: "
                                + "; ".join(refused), 422)
        if options.max_batch > 1 and not self._has_rows():
            logger.warning("model %s: requests are not joined into batches, the first dim of an "
                           "input or output is not dynamic; compile with "
                           "--input_shape=NAME:-1,...", self.name)
            options.max_batch = 1
        count = options.sessions or len(os.sched_getaffinity(0))
        for _ in range(count):
            self._sessions.put(_runtime.Session(
                self._model, threads=options.threads, max_seconds=options.max_seconds,
                max_memory=options.max_memory))
        self._executor = ThreadPoolExecutor(count, thread_name_prefix=f"openatc-{self.name}")
        self._batcher = (Batcher(self._run, max_rows=options.max_batch,
                                 max_wait=options.max_wait_ms / 1e3, lanes=count)
                         if options.max_batch > 1 else None)
        return True

    async def unload(self) -> bool:
        """Waits for inferences in progress and releases threads and memory."""
        if self._executor:
            await asyncio.get_running_loop().run_in_executor(None, self._executor.shutdown)
        while not self._sessions.empty():
            self._sessions.get().close()
        return True

    async def metadata(self) -> MetadataModelResponse:
        """Returns the model's ports; the protocol's -1 is a dynamic dim."""
        return MetadataModelResponse(
            name=self.name, platform="openatc", versions=[self.version] if self.version else [],
            inputs=[metadata(port) for port in self._model.inputs],
            outputs=[metadata(port) for port in self._model.outputs])

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        """Runs the model on a request; a bad request is a 400 that lists all of its errors."""
        chosen = wanted_outputs(payload, self._model.outputs)
        arrays = decode(payload, self._model.inputs)
        rows = {len(array) for array in arrays if array.ndim}
        try:
            if self._batcher and len(rows) == 1 and rows != {0}:
                outputs = await self._batcher.submit(arrays)
            else:
                outputs = await self._run(arrays)
        except LimitError as error:
            raise MLServerError(f"model {self.name}: {error}", 503) from None
        except (Error, ValueError) as error:
            raise InferenceError(f"model {self.name}: {error}") from None
        return InferenceResponse(
            id=payload.id, model_name=self.name, model_version=self.version,
            outputs=[encode(np.asarray(outputs[i]), self._model.outputs[i]) for i in chosen])

    def _open(self, uri: str, options: Options) -> _runtime.Model:
        if os.path.isfile(uri) and uri.endswith(".om"):
            return _runtime.Model(uri, verify=options.verify)
        from .. import compile as compile_model  # needs the compiler, which .om files do not
        return compile_model(uri, **options.compile)

    def _has_rows(self) -> bool:
        """Returns whether the first dim of every input and output is dynamic."""
        ports = list(self._model.inputs) + list(self._model.outputs)
        return not self._model.gears and all(port.shape and not isinstance(port.shape[0], int)
                                             for port in ports)

    async def _run(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        start = time.monotonic()
        loop = asyncio.get_running_loop()
        outputs = await loop.run_in_executor(self._executor, self._infer, arrays)
        observe(self.name, self.version, time.monotonic() - start,
                len(arrays[0]) if arrays and arrays[0].ndim else 1)
        return outputs

    def _infer(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        session = self._sessions.get()
        try:
            return session.run(arrays)
        finally:
            self._sessions.put(session)
