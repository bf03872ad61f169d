# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""openatc.lm with an encoder, in folders, with GroupQueryAttention, and how well a model predicts;
test/lm/make_encoder_decoder.py has exported the encoder and the decoders."""

import json
import lzma
import os
import subprocess
import sys
import types

import numpy as np
import openatc
import openatc.builder
import openatc.lm
import pytest

from conftest import BUILD, ROOT

LM = ROOT / "test" / "lm"
EXPECTED = json.loads((LM / "encoder_decoder" / "expected.json").read_text())
NAMES = ("encoder_model", "decoder_model", "decoder_with_past_model", "decoder_model_merged")

pytestmark = pytest.mark.filterwarnings("ignore:W11001")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The folder of the compiled encoder and decoders."""
    folder = tmp_path_factory.mktemp("parts")
    for name in NAMES:
        data = lzma.decompress((LM / "encoder_decoder" / f"{name}.onnx.xz").read_bytes())
        openatc.compile(data, folder / f"{name}.om", load=False)
    (folder / "config.json").write_text('{"decoder_start_token_id": 5, "eos_token_id": 7}')
    (folder / "generation_config.json").write_text(
        '{"decoder_start_token_id": 0, "eos_token_id": [2]}')
    return folder


@pytest.mark.parametrize("form", ["plain", "with past", "merged", "folder"])
def test_an_encoder_and_a_decoder(parts, form):
    encoder = parts / "encoder_model.om"
    if form == "plain":
        model = openatc.lm.load(parts / "decoder_model.om", encoder=encoder)
    elif form == "with past":
        model = openatc.lm.load(parts / "decoder_model.om", encoder=encoder,
                                with_past=parts / "decoder_with_past_model.om")
    elif form == "merged":
        model = openatc.lm.load(parts / "decoder_model_merged.om", encoder=encoder)
    else:
        model = openatc.lm.load(parts)
        assert model.start_tokens == (0,) and model.stop_tokens == (2,)
    options = dict(max_new_tokens=24, stop_tokens=())
    assert model.generate(EXPECTED["prompts"], **options) == EXPECTED["tokens"]
    for prompt, tokens in zip(EXPECTED["prompts"], EXPECTED["tokens"]):
        assert model.generate(prompt, **options) == tokens
        assert list(model.stream(prompt, **options)) == tokens


def test_caches_of_the_encoder_are_no_states(parts):
    states = openatc.Model(parts / "decoder_model_merged.om").states
    assert states == {f"past_key_values.0.decoder.{name}": f"present.0.decoder.{name}"
                      for name in ("key", "value")}


def test_stop_tokens_of_the_configuration(parts):
    model = openatc.lm.load(parts)
    whole = EXPECTED["tokens"][1]
    model.stop_tokens = (whole[5],)
    assert model.generate(EXPECTED["prompts"][1]) == whole[:whole.index(whole[5]) + 1]


@pytest.mark.parametrize("call, message", [
    (lambda m: m.generate([4, 5], continued=True), "E10014: an encoder reads a prompt as a whole"),
    (lambda m: m.generate([[4], []]), "E10014: a prompt has no tokens"),
    (lambda m: m.generate(np.zeros((2, 3), np.float32)), "E10014: the encoder's input 'input_ids' is int"),
])
def test_mistakes_with_an_encoder(parts, call, message):
    with pytest.raises(openatc.Error, match=message):
        call(openatc.lm.load(parts))


def test_a_decoder_without_its_encoder(parts):
    with pytest.raises(openatc.Error, match="E10017: input 'encoder_.*give load.. an encoder"):
        openatc.lm.load(parts / "decoder_model.om")


def test_folders_that_have_no_model(tmp_path):
    with pytest.raises(openatc.Error, match="E10410: folder .* has none of model"):
        openatc.lm.load(tmp_path)
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(openatc.Error, match="E10014: .*config.json' is not a JSON file"):
        openatc.lm.load(tmp_path)


def too_large(path):
    path.touch()
    os.truncate(path, 5 << 30)


@pytest.mark.parametrize("name, write, message", [
    ("config.json", lambda path: path.write_text("[" * 200000), "is nested too deep"),
    ("genai_config.json", lambda path: path.write_text('{"model":' * 200000), "is nested too deep"),
    ("generation_config.json", too_large, "has 5368709120 bytes"),
    ("genai_config.json", lambda path: path.write_text(json.dumps(
        {"model": {"decoder": {"filename": "a" * 5000 + "\0.onnx"}}})), "has none of model"),
])
def test_hostile_settings_of_folders(name, write, message, tmp_path):
    write(tmp_path / name)
    if "none" not in message:
        (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(openatc.Error, match=message):
        openatc.lm.load(tmp_path)


def test_a_tokenizer_that_is_none(parts, tmp_path, monkeypatch):
    """The package `tokenizers` raises plain exceptions."""
    class Tokenizer:
        @staticmethod
        def from_file(path):
            raise Exception("missing field `version`")
    monkeypatch.setitem(sys.modules, "tokenizers", types.SimpleNamespace(Tokenizer=Tokenizer))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(openatc.Error, match="E10014: .*tokenizer.json' is no tokenizer: missing field"):
        openatc.lm.load(parts / "decoder_model.om", encoder=parts / "encoder_model.om",
                        tokenizer=tmp_path / "tokenizer.json")


def group_model(path, bits=0, **attributes):
    """A decoder as builders for ONNX Runtime write it: lengths of sequences are counted in the
    mask. With `bits` caches are quantized, with one scale per channel."""
    random = np.random.default_rng(3)
    graph = openatc.builder.Graph("group")
    ids = graph.input("input_ids", "int64", ["batch", "sequence"])
    mask = graph.input("attention_mask", "int64", ["batch", "total"])
    # The builders leave the sizes of heads open by a name, and those of windows.
    past = [graph.input(f"past_key_values.0.{name}", {0: "float32", 8: "int8", 4: "uint8"}[bits],
                        ["batch", 2, "past", "head_size"]) for name in ("key", "value")]
    one = np.array([1])
    counted = graph.op("Sub", graph.op("ReduceSum", mask, one, keepdims=1), one)
    total = graph.op("Gather", graph.op("Shape", mask), np.array(1), axis=0)
    weights = [random.standard_normal(shape).astype(np.float32) * 0.3
               for shape in ((40, 64), (64, 128), (64, 40))]
    x = graph.op("Gather", weights[0], ids, axis=0)
    angles = np.outer(np.arange(80), 0.3 ** np.arange(8)).astype(np.float32)
    scales = [np.full((1, 2, 1, 16), 0.05 if bits == 8 else 1, np.float32)] * 2 if bits else []
    if bits:
        attributes |= dict(k_quant_type="PER_CHANNEL", v_quant_type="PER_CHANNEL",
                           kv_cache_bit_width=bits)
    y, *present = graph.op(
        "GroupQueryAttention", graph.op("MatMul", x, weights[1]), None, None, *past,
        graph.op("Cast", counted, to=6), graph.op("Cast", total, to=6), np.cos(angles),
        np.sin(angles), *([None] * 3 if scales else []), *scales, outputs=3,
        domain="com.microsoft", num_heads=4, kv_num_heads=2, do_rotary=1, **attributes)
    graph.output("logits", graph.op("MatMul", graph.op("Add", x, y), weights[2]))
    for name, value in zip(("key", "value"), present):
        graph.output(f"present.0.{name}", value)
    openatc.compile(graph, path, load=False)
    return path


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    return group_model(tmp_path_factory.mktemp("group") / "group.om")


@pytest.mark.parametrize("bits", [0, 8, 4])
@pytest.mark.parametrize("window", [-1, 4])
def test_forms_of_a_cache(tmp_path, bits, window):
    """A cache of a window answers as one of all positions; whatever the form, one call answers as
    several. Caches begin without positions."""
    whole = openatc.lm.load(group_model(tmp_path / "whole.om", bits, local_window_size=window), threads=1)
    prompts = [[5, 17, 3, 22, 8], [11], [30, 2, 2, 9, 31, 33, 20, 11]]
    answers = [whole.generate(prompt, max_new_tokens=20) for prompt in prompts]
    assert whole.generate(prompts[2], max_new_tokens=20, chunk=3) == answers[2]
    if window > 0:
        part = openatc.lm.load(group_model(tmp_path / "part.om", bits, local_window_size=window,
                                           sliding_window_cache=1), threads=1)
        assert [part.generate(prompt, max_new_tokens=20) for prompt in prompts] == answers
        assert part.generate(prompts[2], max_new_tokens=20, chunk=3) == answers[2]


def test_sequences_of_different_length_with_group_query_attention(group):
    model = openatc.lm.load(group, threads=1)
    prompts = [[5, 17, 3, 22, 8], [11], [30, 2, 2, 9, 31, 33, 20, 11]]
    alone = [model.generate(prompt, max_new_tokens=20) for prompt in prompts]
    assert len({tuple(tokens) for tokens in alone}) == 3
    assert model.generate(prompts, max_new_tokens=20) == alone
    assert model.generate(prompts, max_new_tokens=20, chunk=3) == alone
    stop = alone[1][4]
    rows = model.generate(prompts, max_new_tokens=20, stop_tokens=[stop])
    assert rows == [row[:row.index(stop) + 1] if stop in row else row for row in alone]
    with pytest.raises(openatc.Error, match="E10014: a model with GroupQueryAttention continues"):
        model.generate(prompts, continued=True)


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    path = tmp_path_factory.mktemp("gpt2") / "gpt2.onnx"
    path.write_bytes(lzma.decompress((LM / "models" / "gpt2.onnx.xz").read_bytes()))
    return path


def test_perplexity_is_that_of_the_logits(gpt2):
    model = openatc.lm.load(gpt2, threads=1)
    tokens = np.random.default_rng(0).integers(0, 48, (2, 30))
    model.reset()
    logits = model.logits(tokens).astype(np.float64)
    chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    wanted = np.take_along_axis(chances[:, :-1], tokens[:, 1:, None], -1)
    for chunk in (7, 256):
        assert model.perplexity(tokens, chunk=chunk) == pytest.approx(
            np.exp(-np.log(wanted).mean()), rel=1e-4)
    same = openatc.lm.compare(model, openatc.lm.load(gpt2, threads=1), tokens[0])
    assert (same.tokens, same.rise, same.agreement) == (29, 0, 1)
    assert same.cosine == pytest.approx(1, abs=1e-6)
    with pytest.raises(openatc.Error, match="E10014: tokens of type float64"):
        model.perplexity(tokens.astype(float))
    with pytest.raises(openatc.Error, match="E10014: tokens of type int64 and shape"):
        model.perplexity(tokens[:, :1])


def perplexity(*flags):
    return subprocess.run([sys.executable, "-m", "openatc", "perplexity", *map(str, flags)],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(BUILD / "python")})


def test_a_command_reports_by_how_much_quantization_raises_perplexity(gpt2, tmp_path):
    """On samples of the model itself, and as JSON."""
    found = {}
    for form in ("int8", "int4"):
        small = tmp_path / f"{form}.onnx"
        subprocess.run([BUILD / "bin" / "amct", "weights", f"--model={gpt2}", f"--output={small}",
                        f"--weight_only={form}"], check=True, capture_output=True)
        done = perplexity(small, "--reference", gpt2, "--samples", 4, "--length", 100, "--json")
        assert done.returncode == 0, done.stderr
        found[form] = json.loads(done.stdout)
        assert found[form]["tokens"] == 4 * 99
        assert found[form]["perplexity"] == pytest.approx(
            found[form]["reference_perplexity"] * (1 + found[form]["rise"]))
    # Samples are the same, and what a model draws it predicts better than chance among 48 tokens.
    assert found["int4"]["reference_perplexity"] == found["int8"]["reference_perplexity"] < 40
    assert abs(found["int8"]["rise"]) < abs(found["int4"]["rise"]) < 0.2
    assert 0.98 < found["int4"]["cosine"] < found["int8"]["cosine"] <= 1
    # More than the model has positions for: pieces of ten tokens, in batches.
    text = np.random.default_rng(2).integers(0, 48, 209)
    np.save(tmp_path / "text.npy", text)
    done = perplexity(gpt2, "--tokens", tmp_path / "text.npy", "--length", 10)
    assert done.returncode == 0 and done.stdout.startswith("tokens 180, perplexity ")
    assert float(done.stdout.split()[-1]) == pytest.approx(openatc.lm.load(gpt2).perplexity(
        text[:200].reshape(20, 10)), rel=1e-4)


def test_perplexity_needs_tokens(gpt2):
    done = perplexity(gpt2)
    assert done.returncode == 1 and "E10007: --tokens or --reference is needed" in done.stderr


def test_an_encoder_that_makes_the_caches_of_the_decoder(tmp_path):
    """As ONNX Runtime GenAI's builder writes Whisper: folder, names and prompts of floats."""
    random = np.random.default_rng(5)
    table, mix, head = (random.standard_normal(shape).astype(np.float32) for shape in ((30, 8), (6, 8), (8, 30)))
    encoder = openatc.builder.Graph("encoder")
    features = encoder.input("audio_features", "float32", ["batch", 6])
    encoder.output("hidden_states", encoder.op("Neg", features))
    encoder.output("present_key_cross_0", encoder.op("MatMul", features, mix))
    decoder = openatc.builder.Graph("decoder")
    ids = decoder.input("input_ids", "int32", ["batch", "sequence"])
    past = decoder.input("past_key_self_0", "float32", ["batch", "past", 8])
    cross = decoder.input("past_key_cross_0", "float32", ["batch", 8])
    x = decoder.op("Gather", table, ids, axis=0)
    present = decoder.op("Concat", past, x, axis=1)
    mean = decoder.op("ReduceMean", present, np.array([1]), keepdims=1)
    given = decoder.op("Add", decoder.op("Add", x, mean), decoder.op("Unsqueeze", cross, np.array([1])))
    decoder.output("logits", decoder.op("MatMul", given, head))
    decoder.output("present_key_self_0", present)
    for graph, name in ((encoder, "encoder"), (decoder, "decoder")):
        openatc.compile(graph, tmp_path / f"{name}.om", load=False)
    (tmp_path / "genai_config.json").write_text(json.dumps({"model": {
        "decoder": {"filename": "decoder.onnx"}, "encoder": {"filename": "encoder.onnx"}}}))
    model = openatc.lm.load(tmp_path)
    model.start_tokens = (3, 7)
    prompt = random.standard_normal((2, 6)).astype(np.float32)
    wanted = []
    for row in prompt:
        tokens = [3, 7]
        for _ in range(8):
            x = table[tokens]
            tokens.append(int(((x[-1] + x.mean(0) + row @ mix) @ head).argmax()))
        wanted.append(tokens[2:])
    assert model.generate(prompt, max_new_tokens=8) == wanted
    assert model.generate(prompt[1], max_new_tokens=8) == wanted[1]
