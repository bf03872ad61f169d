# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The OpenAI-type routes, with a small GPT-2 whose words are t0, t1 ..."""

import json
import lzma
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("mlserver", reason="needs MLServer (pip install mlserver)")
tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers (pip install tokenizers)")

import openatc.lm
from openatc.serve._openai import CompletionRequest, RequestError, parse, until_stop

from conftest import ROOT, Server

PROMPT = "t5 t17 t40 t3"


def tokenizer(path, words):
    whole = tokenizers.Tokenizer(tokenizers.models.WordLevel(
        {f"t{i}": i for i in range(words)}, unk_token="t0"))
    whole.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    whole.save(str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("files")
    data = lzma.decompress((ROOT / "test" / "lm" / "models" / "gpt2.onnx.xz").read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        openatc.compile(data, root / "gpt2.om", load=False)
    tokenizer(root / "tokenizer.json", openatc.lm.load(root / "gpt2.om").logits([[1]]).shape[-1])
    (root / "template.jinja").write_text(
        "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools') }}{% endif %}"
        "{{ m.content }} {% endfor %}")
    (root / "models").mkdir()
    for name in ("gpt2", "other"):
        (root / "models" / name).mkdir()
        (root / "models" / name / "model-settings.json").write_text(json.dumps({
            "name": name, "implementation": "openatc.serve.ChatRuntime",
            "parameters": {"uri": "../../gpt2.om", "extra": {
                "tokenizer": "tokenizer.json", "chat_template": "template.jinja", "threads": 1,
                "max_new_tokens": 8, "max_answer_tokens": 20, "max_prompt_tokens": 16,
                "sessions": 2}}}))
    return root


@pytest.fixture(scope="module")
def server(folder, tmp_path_factory):
    server = Server(folder / "models", tmp_path_factory.mktemp("server") / "log")
    try:
        yield server.wait_ready("other").wait_ready("gpt2")
    finally:
        server.process.kill()
        server.process.wait()


@pytest.fixture(scope="module")
def right(folder):
    """What openatc.lm says after PROMPT, as text."""
    model = openatc.lm.load(folder / "gpt2.om", tokenizer=folder / "tokenizer.json", threads=1)
    return model.generate(PROMPT, max_new_tokens=12)


def ask(server, route="chat/completions", **changes):
    body = {"model": "gpt2", "temperature": 0, **changes}
    if route == "completions":
        body.setdefault("prompt", PROMPT)
    else:
        body.setdefault("messages", [{"role": "user", "content": PROMPT}])
    code, text = server.post(f"/v1/{route}", body)
    return code, text if changes.get("stream") else json.loads(text)


def words(text, count):
    return text.split()[:count]


def test_models_are_listed(server):
    names = {m["id"] for m in json.loads(server.get("/v1/models")[1])["data"]}
    assert names == {"gpt2", "other"}


@pytest.mark.parametrize("model", ["gpt2", "other"])
def test_a_conversation(server, right, model):
    code, answer = ask(server, model=model, max_tokens=12)
    assert code == 200 and answer["object"] == "chat.completion" and answer["model"] == model
    choice, = answer["choices"]
    assert choice["message"]["role"] == "assistant" and choice["finish_reason"] == "length"
    assert choice["message"]["content"].split() == right.split()
    assert answer["usage"] == {"prompt_tokens": 4, "completion_tokens": 12, "total_tokens": 16}


def test_a_completion_of_text_and_of_tokens(server, right):
    code, answer = ask(server, "completions", max_tokens=5)
    assert code == 200 and answer["choices"][0]["text"].split() == words(right, 5)
    code, answer = ask(server, "completions", prompt=[5, 17, 40, 3])
    assert answer["choices"][0]["text"].split() == words(right, 8)  # the settings' limit


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_answers_have_a_ceiling(server, name):
    assert ask(server, **{name: 20})[0] == 200
    for length in (21, 10**30):
        code, answer = ask(server, **{name: length})
        assert code == 400 and answer["error"]["param"] == name
        assert "at most 20" in answer["error"]["message"]


def test_turns_and_parts_become_one_prompt(server, right):
    turns = [{"role": "user", "content": "t5 t17"},
             {"role": "assistant", "content": [{"type": "text", "text": "t40"},
                                               {"type": "text", "text": " t3"}]}]
    answer = ask(server, messages=turns, max_tokens=6)[1]
    assert answer["choices"][0]["message"]["content"].split() == words(right, 6)


def events(text):
    lines = [line[len("data: "):] for line in text.decode().split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def test_a_stream(server, right):
    code, text = ask(server, stream=True, max_tokens=12, stream_options={"include_usage": True})
    assert code == 200
    first, *middle, last, usage = events(text)
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    pieces = [event["choices"][0]["delta"]["content"] for event in middle]
    assert len(pieces) == 12 and "".join(pieces).split() == right.split()
    assert last["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "length"}
    assert usage["choices"] == [] and usage["usage"]["completion_tokens"] == 12


def test_stop_strings_end_the_text(server, right):
    stop = right.split()[4]
    expected = right[:right.index(stop)]
    answer = ask(server, max_tokens=12, stop=[stop, "never"])[1]["choices"][0]
    assert answer["message"]["content"] == expected and answer["finish_reason"] == "stop"
    pieces = events(ask(server, max_tokens=12, stop=stop, stream=True)[1])
    assert "".join(p["choices"][0]["delta"].get("content", "") for p in pieces) == expected


def test_draws_depend_on_the_seed_alone(server):
    def draw(seed):
        return ask(server, temperature=1.5, seed=seed)[1]["choices"][0]["message"]["content"]
    assert draw(1) == draw(1) != draw(2)


def test_requests_at_the_same_time(server, right):
    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(
            lambda i: ask(server, max_tokens=12, stream=i % 2 == 1), range(16)))
    assert {code for code, _ in answers} == {200}
    for i, (_, answer) in enumerate(answers):
        text = ("".join(e["choices"][0]["delta"].get("content", "") for e in events(answer))
                if i % 2 else answer["choices"][0]["message"]["content"])
        assert text.split() == right.split()


BAD = {
    "model": ({"model": "none"}, 404, "'none' does not exist"),
    "several": ({"n": 2}, 400, "n: "),
    "unknown": ({"logit_bias": {"5": 1}}, 400, "logit_bias"),
    "both at once": ({"n": 2, "temperature": -1}, 400, "temperature: "),
    "penalty": ({"presence_penalty": 1}, 400, "presence_penalty"),
    "picture": ({"messages": [{"role": "user", "content": [
        {"type": "image_url", "text": ""}]}]}, 400, "only text"),
    "template": ({"messages": [{"role": "tool", "content": "t1"}]}, 400, "chat template refuses the messages: no tools"),
    "nothing": ({"messages": []}, 400, "messages"),
    "long": ({"messages": [{"role": "user", "content": "t1 " * 17}]}, 400, "17 tokens"),
    "no token": ({"messages": [{"role": "user", "content": ""}]}, 400, "no tokens"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("stream", [False, True])
def test_bad_requests_are_errors_of_the_route(server, case, stream):
    changes, expected, part = BAD[case]
    code, answer = ask(server, **changes, stream=stream)
    answer = json.loads(answer) if stream else answer
    assert code == expected and part in answer["error"]["message"]
    assert answer["error"]["type"] == "invalid_request_error"


def test_what_is_not_json(server):
    code, text = server.post("/v1/chat/completions", b"{")
    assert code == 400 and "not JSON" in json.loads(text)["error"]["message"]
    code, text = server.post("/v2/models/gpt2/infer", {"inputs": []})
    assert code == 400 and "language model" in json.loads(text)["error"]


def finish(generator):
    pieces = []
    while True:
        try:
            pieces.append(next(generator))
        except StopIteration as end:
            return pieces, end.value


@pytest.mark.parametrize("pieces,stops,expected", [
    (["ab", "cd"], [], (["ab", "cd"], False)),
    (["ab", "cd"], ["bc"], (["a"], True)),
    (["a", "b", "x"], ["bc"], (["a", "bx"], False)),
    (["stop"], ["stop"], ([], True)),
    (["xab"], ["ab", "x"], ([], True)),
    (["ab"], ["bc"], (["a", "b"], False)),
])
def test_stop_strings_over_pieces(pieces, stops, expected):
    assert finish(until_stop(pieces, stops)) == expected


@pytest.mark.parametrize("stop,fits", [(["a" * 256] * 16, True), (["a"] * 17, False),
                                       ("a" * 257, False)])
def test_stop_strings_are_few_and_short(stop, fits):
    """A client could have each piece of its answer compared with megabytes."""
    body = {"model": "m", "prompt": "x", "stop": stop}
    if fits:
        assert parse(CompletionRequest, body).stops == stop
    else:
        with pytest.raises(RequestError, match="at most 16 strings of 256 characters"):
            parse(CompletionRequest, body)


def test_a_body_of_brackets(server):
    status, body = server.post("/v1/completions", b"[" * 200000)[:2]
    assert status == 400 and "deeply nested" in str(body)
