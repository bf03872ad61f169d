# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Requests and answers of the OpenAI-type routes for text: checks, forms and stop strings."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator


class RequestError(Exception):
    """A request that is answered with `status` and the route's form of an error."""

    def __init__(self, message: str, *, param: str | None = None, status: int = 400,
                 code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code

    def body(self) -> dict[str, Any]:
        """Returns the answer's JSON."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param,
                          "code": self.code}}


_MAX_STOPS = 16
_MAX_STOP_LENGTH = 256


class _StreamOptions(BaseModel):
    include_usage: bool = False


class _Common(BaseModel):
    # What is not listed would change the answer and is refused rather than ignored.
    model_config = ConfigDict(extra="forbid")
    model: str
    max_tokens: int | None = Field(None, ge=0)
    max_completion_tokens: int | None = Field(None, ge=0)
    temperature: float = Field(1.0, ge=0, le=2)
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=0)
    seed: int | None = Field(None, ge=0)
    stop: str | list[str] | None = None
    stream: bool = False
    stream_options: _StreamOptions | None = None
    n: int = Field(1, ge=1, le=1)
    presence_penalty: float = Field(0.0, ge=0, le=0)
    frequency_penalty: float = Field(0.0, ge=0, le=0)
    logprobs: bool | None = None
    user: str | None = None

    @field_validator("stop")
    @classmethod
    def _few_stops(cls, value: str | list[str] | None) -> str | list[str] | None:
        # Each piece of an answer is compared with all of them.
        given = [value] if isinstance(value, str) else value or []
        if len(given) > _MAX_STOPS or any(len(text) > _MAX_STOP_LENGTH for text in given):
            raise ValueError(f"at most {_MAX_STOPS} strings of {_MAX_STOP_LENGTH} characters "
                             "can end an answer")
        return value

    @field_validator("logprobs")
    @classmethod
    def _no_logprobs(cls, value: bool | None) -> bool | None:
        if value:
            raise ValueError("log probabilities are not supported")
        return value

    @property
    def stops(self) -> list[str]:
        given = [self.stop] if isinstance(self.stop, str) else self.stop or []
        return [text for text in given if text]

    def length(self, default: int, ceiling: int) -> int:
        """Returns how many tokens the answer may have: `default` where the request does not say;
        a RequestError above `ceiling` (0: none), so that no client can keep a session for ever."""
        name = "max_tokens" if self.max_completion_tokens is None else "max_completion_tokens"
        wanted = getattr(self, name)
        if wanted is None:
            return default
        if ceiling and wanted > ceiling:
            raise RequestError(f"{name} is {wanted}, at most {ceiling} are accepted", param=name)
        return wanted


class _Part(BaseModel):
    type: str
    text: str

    @field_validator("type")
    @classmethod
    def _only_text(cls, value: str) -> str:
        if value != "text":
            raise ValueError(f"a part of type {value} is not supported, only text")
        return value


class Message(BaseModel):
    """A turn of a conversation."""

    role: str
    content: str | list[_Part]

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content)


class ChatRequest(_Common):
    """The body of /v1/chat/completions."""

    messages: list[Message] = Field(min_length=1)


class CompletionRequest(_Common):
    """The body of /v1/completions."""

    prompt: str | list[int]


def parse(kind: type[_Common], body: Any) -> Any:
    """Returns the request in `body`, or raises a RequestError that lists all of its errors."""
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        lines = [f"{'.'.join(str(part) for part in entry['loc'])}: {entry['msg']}"
                 for entry in error.errors()]
        raise RequestError("; ".join(lines), param=lines[0].split(":")[0]) from None


def until_stop(pieces: Iterable[str], stops: list[str]) -> Iterator[str]:
    """Yields the text before the first of `stops`; what may be the begin of one is held back.

    The generator's return value is whether a stop string was found.
    """
    held = ""
    for piece in pieces:
        held += piece
        found = min((at for at in (held.find(stop) for stop in stops) if at >= 0), default=-1)
        if found >= 0:
            if found:
                yield held[:found]
            return True
        keep = max((size for stop in stops for size in range(1, min(len(stop), len(held) + 1))
                    if held.endswith(stop[:size])), default=0)
        if len(held) > keep:
            yield held[:len(held) - keep]
            held = held[len(held) - keep:]
    if held:
        yield held
    return False


class Answer:
    """The forms of an answer: whole, or in pieces for a stream."""

    def __init__(self, model: str, chat: bool) -> None:
        self._chat = chat
        self._head = {"id": ("chatcmpl-" if chat else "cmpl-") + uuid.uuid4().hex,
                      "created": int(time.time()), "model": model}

    def whole(self, text: str, reason: str, usage: dict[str, int]) -> dict[str, Any]:
        """Returns the JSON of an answer that is sent at once."""
        choice: dict[str, Any] = {"index": 0, "finish_reason": reason}
        if self._chat:
            choice["message"] = {"role": "assistant", "content": text}
        else:
            choice["text"] = text
        kind = "chat.completion" if self._chat else "text_completion"
        return {**self._head, "object": kind, "choices": [choice], "usage": usage}

    def piece(self, text: str | None, reason: str | None = None,
              first: bool = False) -> dict[str, Any]:
        """Returns the JSON of one event of a stream."""
        choice: dict[str, Any] = {"index": 0, "finish_reason": reason}
        if self._chat:
            delta: dict[str, Any] = {"role": "assistant"} if first else {}
            choice["delta"] = delta if text is None else {**delta, "content": text}
        else:
            choice["text"] = text or ""
        kind = "chat.completion.chunk" if self._chat else "text_completion"
        return {**self._head, "object": kind, "choices": [choice]}

    def usage(self, usage: dict[str, int]) -> dict[str, Any]:
        """Returns the JSON of the last event of a stream that was asked for its usage."""
        return {**self.piece(None), "choices": [], "usage": usage}
