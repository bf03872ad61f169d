# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""openatc.lm on small models with seeded weights, which test/lm/make_models.py has exported;
expected.json has the tokens that `transformers` generates from them in f32."""

import json
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import openatc
import openatc.builder
import openatc.lm
import pytest

from conftest import BUILD, ROOT

LM = ROOT / "test" / "lm"
EXPECTED = json.loads((LM / "expected.json").read_text())
PROMPTS = EXPECTED["prompts"]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The path of each model's .om by its type."""
    folder = tmp_path_factory.mktemp("lm")
    paths = {}
    for kind in ("gpt2", "llama", "qwen"):
        paths[kind] = folder / f"{kind}.om"
        data = lzma.decompress((LM / "models" / f"{kind}.onnx.xz").read_bytes())
        with pytest.warns(UserWarning, match="W11001"):
            openatc.compile(data, paths[kind], load=False)
    return paths


def in_half(model):
    """Turns all floats of an ONNX model into f16."""
    from onnx import TensorProto, numpy_helper

    def narrow(tensor):
        if tensor.data_type == TensorProto.FLOAT:
            array = np.clip(numpy_helper.to_array(tensor), -65504, 65504).astype(np.float16)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))

    for tensor in model.graph.initializer:
        narrow(tensor)
    for node in model.graph.node:
        for attribute in node.attribute:
            narrow(attribute.t)
            if node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    return model.SerializeToString()


def test_a_model_in_f16_is_fused_as_one_in_f32(compiled, kind, tmp_path):
    onnx = pytest.importorskip("onnx")
    data = lzma.decompress((LM / "models" / f"{kind}.onnx.xz").read_bytes())
    with pytest.warns(UserWarning, match="W11001"):
        openatc.compile(in_half(onnx.load_model_from_string(data)), tmp_path / "half.om",
                        load=False)

    def calls(path):
        text = subprocess.run([BUILD / "bin" / "om-dump", path], check=True, text=True,
                              capture_output=True).stdout
        return [text.count(f"{kernel}(") for kernel in ("KvAttention", "RMSNormalization",
                                                        "RotateHalf", "Softmax", "Concat")]

    assert calls(tmp_path / "half.om") == calls(compiled[kind])
    # No step converts the cache.
    names = [launch.name for launch in openatc.Model(tmp_path / "half.om").launches]
    assert not [name for name in names if name.startswith("past_key_values")], names
    wide, half = (openatc.lm.load(path, threads=1) for path in (compiled[kind],
                                                                tmp_path / "half.om"))
    for tokens in ([PROMPTS[0]], [[7]], [[3]]):
        want = wide.logits(np.array(tokens))
        got = half.logits(np.array(tokens))
        assert got.dtype == np.float16
        assert np.abs(got.astype(np.float32) - want).max() < 5e-3 * np.abs(want).max()


@pytest.fixture(params=["gpt2", "llama", "qwen"])
def kind(request):
    return request.param


def test_greedy_tokens_are_those_of_transformers(compiled, kind):
    model = openatc.lm.load(compiled[kind], threads=1)
    for prompt, tokens in zip(PROMPTS, EXPECTED[kind]):
        assert model.generate(prompt, max_new_tokens=64) == tokens
    assert model.timing.new_tokens == 64 and model.timing.tokens_per_second > 0


def test_a_batch_of_prompts_of_different_length(compiled, kind):
    model = openatc.lm.load(compiled[kind], threads=2)
    assert model.generate(PROMPTS, max_new_tokens=64) == EXPECTED[kind]


def test_a_prompt_in_pieces_and_without_a_kept_state(compiled):
    model = openatc.lm.load(compiled["llama"], threads=1)
    assert model.generate(PROMPTS, max_new_tokens=20, chunk=2) == [
        row[:20] for row in EXPECTED["llama"]]
    # By hand, with the cache as inputs and outputs.
    session = openatc.Session(openatc.Model(compiled["llama"]), threads=1)
    states = session.model.states
    assert states["past_key_values.0.key"] == "present.0.key" and len(states) == 4
    past = {name: np.zeros((1, 2, 0, 8), np.float32) for name in states}
    ids, length, tokens = np.array([PROMPTS[0]]), 0, []
    for _ in range(20):
        length += ids.shape[1]
        out = session.run({"input_ids": ids, "attention_mask": np.ones((1, length), np.int64),
                           "position_ids": np.arange(length - ids.shape[1], length)[None], **past})
        past = {name: out[output] for name, output in states.items()}
        tokens.append(int(out["logits"][0, -1].argmax()))
        ids = np.array([[tokens[-1]]])
    assert tokens == EXPECTED["llama"][0][:20]
    assert past["past_key_values.1.value"].shape == (1, 2, len(PROMPTS[0]) + 19, 8)


def test_streaming_stop_tokens_and_conversations(compiled):
    model = openatc.lm.load(compiled["gpt2"], threads=1)
    whole = EXPECTED["gpt2"][0]
    assert list(model.stream(PROMPTS[0], max_new_tokens=64)) == whole
    stop = whole[10]
    ended = whole[:whole.index(stop) + 1]
    assert model.generate(PROMPTS[0], stop_tokens=[stop]) == ended
    rows = model.generate(PROMPTS, max_new_tokens=64, stop_tokens=[stop])
    assert rows[0] == ended
    assert rows[1] == EXPECTED["gpt2"][1][:len(rows[1])]

    # A second prompt goes on behind what was generated.
    first = model.generate(PROMPTS[0], max_new_tokens=5)
    second = model.generate([7, 8], max_new_tokens=6, continued=True)
    assert second == model.generate(PROMPTS[0] + first + [7, 8], max_new_tokens=6)


def test_sampling_is_reproducible_and_bounded(compiled):
    model = openatc.lm.load(compiled["gpt2"], threads=1)
    draw = dict(max_new_tokens=30, temperature=3.0, seed=4)
    tokens = model.generate(PROMPTS[0], **draw)
    assert tokens == model.generate(PROMPTS[0], **draw)
    assert tokens != model.generate(PROMPTS[0], **{**draw, "seed": 5})
    assert model.generate(PROMPTS[0], top_k=1, **draw) == EXPECTED["gpt2"][0][:30]
    assert model.generate(PROMPTS[0], top_p=1e-9, **draw) == EXPECTED["gpt2"][0][:30]
    # A row of a batch draws what it draws alone.
    assert model.generate([PROMPTS[0], PROMPTS[0]], **draw)[0] == tokens


def test_choosing_from_logits():
    random = np.random.default_rng(0)
    logits = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))
    assert openatc.lm.Sampling().choose(np.array([1.0, 3.0, 3.0]), random) == 1
    # Quotients by so small a number are infinite.
    assert openatc.lm.Sampling(1e-320).choose(np.array([1.0, 3.0, 2.0]), random) == 1
    draws = [openatc.lm.Sampling(1.0).choose(logits, random) for _ in range(4000)]
    assert np.allclose(np.bincount(draws, minlength=4) / 4000, [0.5, 0.3, 0.15, 0.05], atol=0.03)
    draws = [openatc.lm.Sampling(1.0, top_p=0.75).choose(logits, random) for _ in range(500)]
    assert set(draws) == {0, 1}
    draws = [openatc.lm.Sampling(1.0, top_k=3).choose(logits, random) for _ in range(500)]
    assert set(draws) == {0, 1, 2}


class Letters:
    """A tokenizer of letters, of which token 2 is none."""

    def encode(self, text):
        return [ord(letter) - ord("a") + 3 for letter in text]

    def decode(self, tokens):
        return "".join(chr(token + ord("a") - 3) for token in tokens)


def test_text_in_and_out(compiled):
    letters = Letters()
    model = openatc.lm.load(compiled["gpt2"], threads=1, tokenizer=letters)
    tokens = model.generate(letters.encode("hello"), max_new_tokens=12)
    assert model.generate("hello", max_new_tokens=12) == letters.decode(tokens)
    assert "".join(model.stream("hello", max_new_tokens=12)) == letters.decode(tokens)


class Scalar:
    """An integer of another package, such as a tensor of PyTorch without dims."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def test_tokens_of_other_packages(compiled):
    model = openatc.lm.load(compiled["gpt2"], threads=1)
    for tokens in (np.array(PROMPTS[2], np.uint16), [np.int32(token) for token in PROMPTS[2]],
                   [Scalar(token) for token in PROMPTS[2]]):
        assert model.generate(tokens, max_new_tokens=3) == EXPECTED["gpt2"][2][:3]
    model.reset()
    right = model.logits([PROMPTS[2]])
    for tokens in (np.array([PROMPTS[2]], np.uint64), [[Scalar(token) for token in PROMPTS[2]]]):
        model.reset()
        assert np.array_equal(model.logits(tokens), right)


@pytest.mark.parametrize("call, message", [
    (lambda m: m.generate([]), "E10014: a prompt has no tokens"),
    (lambda m: m.generate([[1], []]), "E10014: a prompt has no tokens"),
    (lambda m: m.generate("text"), "E10014: a prompt is text, but the model has no tokenizer"),
    (lambda m: m.generate([1], temperature=-1), "E10001: temperature is -1"),
    (lambda m: m.generate([1], top_p=0), "E10001: top_p is 0"),
    (lambda m: m.stream([[1], [2]]), "E10014: stream\\(\\) takes one prompt"),
    (lambda m: m.logits(np.zeros((1, 0))), "E10014: tokens have the shape"),
    (lambda m: m.generate([4000]), "E10014"),
    (lambda m: m.generate([[1 << 63]]), "E10014: a prompt has the token 9223372036854775808"),
    (lambda m: m.generate([1.5]), "E10014: a prompt has the token 1.5"),
    (lambda m: m.generate([[1.5]]), "E10014: a prompt has the token 1.5"),
    (lambda m: m.logits([[1 << 63]]), "E10014: a prompt has the token .*9223372036854775808"),
    (lambda m: m.logits([[1 << 70]]), "E10014: a prompt has the token 1180591620717411303424"),
    (lambda m: m.logits([[1.5]]), "E10014: a prompt has the token .*1.5"),
    (lambda m: m.logits([["a"]]), "E10014: a prompt has the token .*'a'"),
    (lambda m: m.logits([[1], [2, 3]]), "E10014: "),
    (lambda m: m.generate([1], temperature=1, seed=-1), "E10001: seed is -1"),
])
def test_mistakes_have_codes(compiled, call, message):
    model = openatc.lm.load(compiled["gpt2"], threads=1)
    with pytest.raises(openatc.Error, match=message):
        call(model)
    assert model.generate(PROMPTS[2], max_new_tokens=3) == EXPECTED["gpt2"][2][:3]


def test_a_model_that_is_none_of_language(digits_om):
    with pytest.raises(openatc.Error, match="E10014|E10017"):
        openatc.lm.load(digits_om).generate([1])


def test_states_of_a_session(compiled):
    session = openatc.Session(openatc.Model(compiled["llama"]), threads=1)
    assert not session.keep_state
    session.keep_state = True
    inputs = {"input_ids": np.array([[1, 2, 3]]), "attention_mask": np.ones((1, 3), np.int64),
              "position_ids": np.arange(3)[None]}
    assert session.read_state()["past_key_values.0.key"] is None
    assert list(session.run(inputs)) == ["logits"]
    state = session.read_state()
    assert state["past_key_values.0.key"].shape == (1, 2, 3, 8)
    more = {"input_ids": np.array([[4]]), "attention_mask": np.ones((1, 4), np.int64),
            "position_ids": np.array([[3]])}
    after = session.run(more)["logits"]
    session.write_state(state)
    assert np.array_equal(session.run(more)["logits"], after)
    with pytest.raises(openatc.Error, match="E10017: 'nothing' is not a state"):
        session.write_state({"nothing": None})
    session.reset_state()
    assert session.read_state()["past_key_values.0.key"] is None
    with pytest.raises(openatc.Error, match="E10017"):
        session.run({**inputs, "past_key_values.0.key": np.zeros((1, 2, 0, 8), np.float32)})


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_group_query_attention_keeps_its_cache(tmp_path, dtype):
    """Token by token, with a cache that grows in place, as all positions at once; then sequences of
    different length, whose step copies what has grown."""
    graph = openatc.builder.Graph("group")
    x = graph.input("x", "float32", ["batch", "length", 64])
    lengths = graph.input("lengths", "int32", ["batch"])
    total = graph.input("total", "int32", [])
    past = [graph.input(f"past_key_values.0.{name}", dtype, ["batch", 4, "past", 16])
            for name in ("key", "value")]
    angles = np.outer(np.arange(80), 0.3 ** np.arange(8)).astype(np.float32)
    results = graph.op("GroupQueryAttention", x, x, x, *past, lengths, total, np.cos(angles),
                       np.sin(angles), outputs=3, domain="com.microsoft", num_heads=4,
                       kv_num_heads=4, do_rotary=1)
    for name, value in zip(("y", "present.0.key", "present.0.value"), results):
        graph.output(name, value)
    with pytest.warns(UserWarning, match="W11001"):
        model = openatc.compile(graph, tmp_path / "group.om")
    session = openatc.Session(model, threads=1)
    data = np.random.default_rng(4).standard_normal((2, 70, 64)).astype(np.float32)
    empty = np.zeros((2, 4, 0, 16), dtype)
    bounds = {"rtol": 1e-4, "atol": 1e-5} if dtype == "float32" else {"rtol": 0, "atol": 4e-3}

    def feed(begin, end):
        return {"x": data[:, begin:end], "lengths": np.full(2, end - 1, np.int32),
                "total": np.array(end, np.int32)}

    want = session.run({**feed(0, 70), "past_key_values.0.key": empty,
                        "past_key_values.0.value": empty})
    session.keep_state = True
    pieces = [session.run(feed(0, 7))["y"], *(session.run(feed(i, i + 1))["y"]
                                             for i in range(7, 70))]
    np.testing.assert_allclose(np.concatenate(pieces, 1), want["y"], **bounds)
    state = session.read_state()
    for name in ("key", "value"):
        assert state[f"past_key_values.0.{name}"].dtype == dtype
        np.testing.assert_allclose(state[f"past_key_values.0.{name}"], want[f"present.0.{name}"],
                                   **bounds)
    last = {"x": data[:, :1], "lengths": np.array([40, 70], np.int32),
            "total": np.array(71, np.int32)}
    got = session.run(last)["y"]
    session.keep_state = False
    dense = {name: np.ascontiguousarray(value) for name, value in state.items()}
    np.testing.assert_array_equal(got, session.run({**last, **dense})["y"])


def test_om_run_keeps_the_state(compiled, tmp_path):
    np.save(tmp_path / "ids.npy", np.array([[3]]))
    np.save(tmp_path / "mask.npy", np.ones((1, 1), np.int64))
    np.save(tmp_path / "positions.npy", np.array([[0]]))
    # All runs have one input, so that a mask of one token only fits the first.
    run = [BUILD / "bin" / "om-run", compiled["gpt2"], "--state", "--threads=1", "-o",
           tmp_path / "out", "-i", f"input_ids={tmp_path}/ids.npy,attention_mask={tmp_path}/"
           f"mask.npy,position_ids={tmp_path}/positions.npy"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files = sorted(Path(tmp_path / "out").iterdir())
    shapes = {np.load(file).shape for file in files if "present" in file.name}
    assert shapes == {(1, 4, 1, 8)} and len(files) == 5


def test_chat(compiled):
    chat = [sys.executable, ROOT / "examples" / "chat" / "chat.py", compiled["gpt2"],
            "--temperature", "0", "--max-new-tokens", "4", "--threads", "1"]
    line = " ".join(str(token) for token in PROMPTS[0])
    done = subprocess.run(chat, input=f"{line}\n/reset\n{line}\n\n", capture_output=True,
                          text=True, check=False, env={"PYTHONPATH": str(BUILD / "python")})
    assert done.returncode == 0, done.stderr
    answer = " ".join(str(token) for token in EXPECTED["gpt2"][0][:4])
    assert done.stdout.count(answer) == 2 and "tokens per second" in done.stdout
