# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Serves language models over the OpenAI-type routes, with streaming."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, ClassVar

import mlserver
from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from mlserver.errors import MLServerError
from mlserver.handlers import custom_handler
from mlserver.types import (InferenceRequest, InferenceResponse, MetadataModelResponse)
from mlserver.utils import get_model_uri
from pydantic import BaseModel, ConfigDict, Field

from .. import lm
from .._error import ArgumentError, Error
from ._openai import (Answer, ChatRequest, CompletionRequest, RequestError, parse, until_stop)
from ._options import read_options
from ._template import Template, load_template, plain_template

class ChatOptions(BaseModel):
    """`parameters.extra` of a language model's settings."""

    model_config = ConfigDict(extra="forbid")
    tokenizer: str = Field(description="a tokenizer.json, beside the settings or absolute")
    chat_template: str = Field("", description="a file with a Jinja template of conversations")
    stop_tokens: list[int] = Field([], description="tokens that end an answer")
    max_new_tokens: int = Field(512, ge=1, description="length of answers without a limit")
    max_answer_tokens: int = Field(32768, ge=0, description="limit of max_tokens; 0: none")
    max_prompt_tokens: int = Field(0, ge=0, description="limit of prompts; 0: none")
    sessions: int = Field(1, ge=1, description="generations at a time")
    threads: int = Field(0, ge=0, description="threads of each of them; 0: one per core")


class ChatRuntime(mlserver.MLModel):
    """Serves an `.om` file of a language model at /v1/chat/completions and /v1/completions.

    Generations run in threads of the server's process, `sessions` at a time; others wait.
    """

    _models: ClassVar[dict[str, ChatRuntime]] = {}

    def __init__(self, settings: mlserver.ModelSettings) -> None:
        super().__init__(settings)
        self._executor: ThreadPoolExecutor | None = None
        self._idle: SimpleQueue[lm.LanguageModel] = SimpleQueue()
        self._template: Template = plain_template

    async def load(self) -> bool:
        """Opens the model, its tokenizer and its template."""
        self._options = read_options(ChatOptions, self._settings)
        uri = await get_model_uri(self._settings, wellknown_filenames=["model.om"])
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._open, uri)
        except (Error, OSError, ImportError) as error:
            raise MLServerError(f"model {self.name}: {error}", 422) from None
        self._executor = ThreadPoolExecutor(self._options.sessions,
                                            thread_name_prefix=f"openatc-{self.name}")
        self._models[self.name] = self
        return True

    async def unload(self) -> bool:
        """Waits for generations in progress and releases memory and threads."""
        self._models.pop(self.name, None)
        if self._executor:
            await asyncio.get_running_loop().run_in_executor(None, self._executor.shutdown)
        while not self._idle.empty():
            self._idle.get().session.close()
        return True

    async def metadata(self) -> MetadataModelResponse:
        """Returns the model's name: text has no ports."""
        return MetadataModelResponse(name=self.name, platform="openatc",
                                     versions=[self.version] if self.version else [])

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        """Refuses tensors: this runtime answers text."""
        raise MLServerError(f"model {self.name} is a language model: use /v1/chat/completions")

    @custom_handler(rest_path="/v1/models", rest_method="GET")
    async def list_models(self) -> Response:
        """Lists the language models of the server."""
        return JSONResponse({"object": "list", "data": [
            {"id": name, "object": "model", "owned_by": "openatc"} for name in self._models]})

    @custom_handler(rest_path="/v1/chat/completions")
    async def chat(self, request: Request) -> Response:
        """Answers a conversation."""
        return await self._respond(request, ChatRequest)

    @custom_handler(rest_path="/v1/completions")
    async def complete(self, request: Request) -> Response:
        """Continues a text."""
        return await self._respond(request, CompletionRequest)

    # ---- generations -----------------------------------------------------------------------

    def _open(self, uri: str) -> None:
        folder = Path(uri).parent
        model = lm.load(uri, tokenizer=folder / self._options.tokenizer,
                        threads=self._options.threads)
        self._idle.put(model)
        for _ in range(1, self._options.sessions):
            self._idle.put(lm.load(model.model, tokenizer=model.tokenizer,
                                   threads=self._options.threads))
        if self._options.chat_template:
            self._template = load_template(folder / self._options.chat_template)

    async def _respond(self, http: Request, kind: type[Any]) -> Response:
        try:
            try:
                body = json.loads(await http.body())
            except (ValueError, RecursionError):
                raise RequestError("the body is not JSON, or too deeply nested") from None
            request = parse(kind, body)
            # Routes of several models are one: the first that was loaded answers for all.
            model = self._models.get(request.model)
            if model is None:
                raise RequestError(f"the model '{request.model}' does not exist", param="model",
                                   status=404, code="model_not_found")
            return await model._answer(request)
        except RequestError as error:
            return JSONResponse(error.body(), status_code=error.status)

    async def _answer(self, request: Any) -> Response:
        chat = isinstance(request, ChatRequest)
        prompt = self._template(request.messages) if chat else request.prompt
        events = self._generate(prompt, request)
        answer = Answer(self.name, chat)
        if not request.stream:
            text = ""
            async for piece, end in events:
                text += piece
                if end:
                    return JSONResponse(answer.whole(text, end["reason"], end["usage"]))
        # An error before the first piece is an answer of its own, not a broken stream.
        first = await anext(events)
        return StreamingResponse(self._stream(first, events, request, answer),
                                 media_type="text/event-stream")

    async def _stream(self, first: Any, events: AsyncIterator[Any], request: Any,
                      answer: Answer) -> AsyncIterator[str]:
        def line(value: dict[str, Any]) -> str:
            return f"data: {json.dumps(value)}\n\n"

        yield line(answer.piece("", first=True))
        piece, end = first
        while True:
            if piece:
                yield line(answer.piece(piece))
            if end:
                yield line(answer.piece(None, reason=end["reason"]))
                if request.stream_options and request.stream_options.include_usage:
                    yield line(answer.usage(end["usage"]))
                break
            try:
                piece, end = await anext(events)
            except RequestError as error:
                yield line(error.body())
                break
        yield "data: [DONE]\n\n"

    async def _generate(self, prompt: Any, request: Any) -> AsyncIterator[tuple[str, Any]]:
        """Yields pieces of text; the last one comes with the reason of the end and the usage.

        A client that goes away ends its generation with the token in progress.
        """
        assert self._executor
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[Any] = asyncio.Queue()
        gone = False

        def produce() -> None:
            def send(what: Any) -> None:
                loop.call_soon_threadsafe(pieces.put_nowait, what)
            try:
                for what in self._pieces(prompt, request):
                    if gone:
                        return
                    send(what)
            except (ArgumentError, RequestError) as error:
                send(error if isinstance(error, RequestError) else RequestError(str(error)))
            except Exception as error:  # pylint: disable=broad-exception-caught
                send(RequestError(str(error), status=500))

        self._executor.submit(produce)
        try:
            while True:
                what = await pieces.get()
                if isinstance(what, RequestError):
                    raise what
                yield what
                if what[1]:
                    return
        finally:
            gone = True

    def _pieces(self, prompt: Any, request: Any) -> Iterator[tuple[str, Any]]:
        model = self._idle.get()
        try:
            tokens = model.encode(prompt)
            if not tokens:
                raise RequestError("the prompt has no tokens")
            most = self._options.max_prompt_tokens
            if most and len(tokens) > most:
                raise RequestError(f"the prompt has {len(tokens)} tokens, at most {most} are "
                                   "accepted", code="context_length_exceeded")
            limit = request.length(self._options.max_new_tokens, self._options.max_answer_tokens)
            stream = model.stream(
                tokens, as_text=True, max_new_tokens=limit, temperature=request.temperature,
                top_p=request.top_p, top_k=request.top_k, seed=request.seed,
                stop_tokens=self._options.stop_tokens)
            text = until_stop(stream, request.stops)
            stopped = yield from _with_result(text)
            count = model.timing.new_tokens
            usage = {"prompt_tokens": len(tokens), "completion_tokens": count,
                     "total_tokens": len(tokens) + count}
            yield "", {"reason": "stop" if stopped or model.ended else "length", "usage": usage}
        finally:
            self._idle.put(model)


def _with_result(text: Iterator[str]) -> Iterator[tuple[str, None]]:
    """Yields (piece, None) for each piece and returns what the generator `text` returns."""
    while True:
        try:
            yield next(text), None
        except StopIteration as end:
            return end.value
