#===-- test_token_search.py - searches for tokens of com.microsoft ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches around small decoders, against the same searches over lists.

With the package onnxruntime they are compared with that, too. Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, tool  # noqa: E402

VOCABULARY, WIDTH, PAD, END, PROMPT = 9, 4, 0, 3, np.array([[0, 5, 7], [8, 4, 6]], np.int32)
INT32, FLOAT = TensorProto.INT32, TensorProto.FLOAT
RNG = np.random.default_rng(5)
WORDS, PLACES = RNG.standard_normal((VOCABULARY, WIDTH)), RNG.standard_normal((32, WIDTH)) / 4
LOGITS = RNG.standard_normal((WIDTH, VOCABULARY))


def decoder(scale=1):
    """Scores come from a word, its position, and the mean of all words so far; the past has the words twice."""
    node = helper.make_node
    nodes = [node("Gather", ["words", "input_ids"], ["word"]), node("Gather", ["places", "position_ids"], ["place"]),
             node("Unsqueeze", ["word", "axes"], ["pair"]), node("Concat", ["pair", "pair"], ["new"], axis=0),
             node("Concat", ["past_0", "new"], ["present_0"], axis=3),
             node("Gather", ["present_0", "zero"], ["key"]), node("Squeeze", ["key", "one"], ["all"]),
             node("Cast", ["attention_mask"], ["mask"], to=FLOAT), node("Unsqueeze", ["mask", "one"], ["row"]),
             node("MatMul", ["row", "all"], ["sum"]), node("ReduceSum", ["row", "two"], ["count"], keepdims=1),
             node("Div", ["sum", "count"], ["mean"]), node("Add", ["word", "place"], ["own"]),
             node("Add", ["own", "mean"], ["both"]), node("MatMul", ["both", "table"], ["logits"])]
    weights = {"words": WORDS.astype("f4"), "places": PLACES.astype("f4"), "table": (scale * LOGITS).astype("f4"), "zero": np.array(0),
               "one": np.array([1]), "two": np.array([2]), "axes": np.array([0, 2])}
    info = helper.make_tensor_value_info
    return helper.make_graph(
        nodes, "decoder", [info("input_ids", INT32, ["b", "s"]), info("position_ids", INT32, ["b", "s"]),
                           info("attention_mask", INT32, ["b", "t"]), info("past_0", FLOAT, [2, "b", 1, "p", WIDTH])],
        [info("logits", FLOAT, ["b", "s", VOCABULARY]), info("present_0", FLOAT, [2, "b", 1, "t", WIDTH])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()])


def scores_of(prompt, tokens, mask):
    """The logits of the token behind `tokens`, of which the first are the prompt."""
    mask = np.concatenate([mask, np.ones(len(tokens) - len(prompt))])
    place = np.count_nonzero(prompt != PAD) + len(tokens) - len(prompt) - 1
    words = WORDS[tokens]
    return (words[-1] + PLACES[place] + mask @ words / mask.sum()) @ LOGITS


def changed(scores, tokens, given):
    scores = scores.copy()
    for token in set(tokens):
        scores[token] *= given["repetition_penalty"] ** (1 if scores[token] < 0 else -1)
    size = given["no_repeat_ngram_size"]
    for i in range(len(tokens) - size + 1 if size else 0):
        if list(tokens[i:i + size - 1]) == list(tokens[len(tokens) - size + 1:]):
            scores[tokens[i + size - 1]] = -np.inf
    scores[given["vocab_mask"] == 0] = -np.inf
    if len(tokens) < given["min_length"]:
        scores[END] = -np.inf
    return scores


def greedy(prompt, mask, given):
    tokens = list(prompt)
    while len(tokens) < given["max_length"]:
        best = int(changed(scores_of(prompt, tokens, mask), tokens, given).argmax())
        if best == END:
            break
        tokens.append(best)
    return tokens + [PAD] * (given["max_length"] - len(tokens))


def beam(prompt, score, given):
    """The sequences with the best sums of `score`, which has the logits behind tokens."""
    count, power = given["num_beams"], given["length_penalty"]
    beams, ended = [(0.0, list(prompt))] + [(-1e9, list(prompt))] * (count - 1), []
    while len(beams[0][1]) < given["max_length"]:
        found = []
        for total, tokens in beams:
            logits = score(tokens)
            own = changed(logits - np.log(np.exp(logits).sum()), tokens, given)
            found += [(total + own[token], tokens, token) for token in range(VOCABULARY)]
        found = sorted(found, key=lambda one: -one[0])[:2 * count]
        length = len(beams[0][1])
        ended += [(total / length ** power, tokens) for total, tokens, token in found[:count] if token == END]
        ended = sorted(ended, key=lambda one: -one[0])[:count]
        beams = [(total, tokens + [token]) for total, tokens, token in found if token != END][:count]
        if len(ended) == count and (given["early_stopping"] or ended[-1][0] >= found[0][0] / length ** power):
            break
    else:
        ended += [(total / len(tokens) ** power, tokens) for total, tokens in beams]
    ended = sorted(ended, key=lambda one: -one[0])[:given["num_return_sequences"]]
    return [tokens + [PAD] * (given["max_length"] - len(tokens)) for _, tokens in ended], [score for score, _ in ended]


DEFAULTS = dict(max_length=10, min_length=0, num_beams=3, num_return_sequences=2, length_penalty=1.0, repetition_penalty=1.0,
                no_repeat_ngram_size=0, early_stopping=0, vocab_mask=np.ones(VOCABULARY, np.int32))


def search(folder, op, mask, given, outputs=None, **attributes):
    """Returns the outputs of the compiled search."""
    is_beam = op == "BeamSearch"
    order = ["max_length", "min_length"] + ["num_beams", "num_return_sequences", "length_penalty"] * is_beam
    order += ["repetition_penalty", "vocab_mask"]
    reals = {"length_penalty", "repetition_penalty"}
    values = {name: np.atleast_1d(given[name]).astype("f4" if name in reals else "i4") for name in order}
    inputs = ["ids"] + order
    feed = {"ids": PROMPT}
    if mask is not None:
        inputs += ["", "mask"]
        feed["mask"] = mask
    attributes["no_repeat_ngram_size"] = given["no_repeat_ngram_size"]
    if is_beam:
        attributes["early_stopping"] = given["early_stopping"]
    if op == "Sampling":
        inputs += [""] * (8 - len(inputs)) + ["seed"]
        feed["seed"] = np.array([given["seed"]], np.int32)
    outputs = outputs or ["sequences", "scores"][:1 + is_beam]
    node = helper.make_node(op, inputs, outputs, domain="com.microsoft", decoder=decoder(), eos_token_id=END, pad_token_id=PAD,
                            model_type=0, **attributes)
    info = helper.make_tensor_value_info
    graph = helper.make_graph([node], "g", [info(name, INT32, [None] * value.ndim) for name, value in feed.items()],
                              [info(name, INT32 if name == "sequences" else FLOAT, None) for name in outputs],
                              [numpy_helper.from_array(value, name) for name, value in values.items()])
    # What follows the end of a greedy search is not set in onnxruntime.
    return run(folder, graph, feed, outputs, is_compared=is_beam)


def run(folder, graph, feed, outputs, is_compared=True):
    model = helper.make_model(graph, ir_version=8,
                              opset_imports=[helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)])
    onnx.save(model, folder / "search.onnx")
    got = Session(RUNTIME, npu.build(folder / "search.onnx", folder, None), threads=1).run_values(feed)
    try:
        import onnxruntime
    except ImportError:
        return got
    if is_compared:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for name, want in zip(outputs, session.run(None, feed)):
            np.testing.assert_allclose(got[name], want, rtol=1e-4)
    return got


@pytest.mark.parametrize("own", [
    {}, dict(min_length=7, repetition_penalty=1.6), dict(no_repeat_ngram_size=2, vocab_mask=np.arange(VOCABULARY) % 5 != 4)])
def test_greedy_search(tmp_path, own):
    given = {**DEFAULTS, **own}
    got = search(tmp_path, "GreedySearch", None, given)
    want = [greedy(row, row != PAD, given) for row in PROMPT]
    assert got["sequences"].tolist() == want


def test_a_given_mask_hides_words_but_counts_no_positions(tmp_path):
    mask = np.array([[0, 1, 1], [1, 0, 1]], np.int32)
    got = search(tmp_path, "GreedySearch", mask, DEFAULTS)
    assert got["sequences"].tolist() == [greedy(row, own, DEFAULTS) for row, own in zip(PROMPT, mask)]


@pytest.mark.parametrize("own", [
    {}, dict(length_penalty=1.4, min_length=5, num_return_sequences=3), dict(early_stopping=1, repetition_penalty=1.3),
    dict(num_beams=4, no_repeat_ngram_size=2)])
def test_beam_search(tmp_path, own):
    given = {**DEFAULTS, **own}
    got = search(tmp_path, "BeamSearch", None, given)
    want = [beam(row, lambda tokens: scores_of(row, tokens, row != PAD), given) for row in PROMPT]
    assert got["sequences"].tolist() == [sequences for sequences, _ in want]
    np.testing.assert_allclose(got["scores"], [scores for _, scores in want], rtol=1e-5)


def test_scores_of_all_steps(tmp_path):
    given = {**DEFAULTS, "early_stopping": 1}
    got = search(tmp_path, "BeamSearch", None, given, outputs=["sequences", "scores", "all"])
    assert got["all"].shape == (given["max_length"] - 3, 2, 3, VOCABULARY)
    for row, scores in zip(PROMPT, got["all"][0]):
        logits = scores_of(row, row, row != PAD)
        np.testing.assert_allclose(scores[0], logits - np.log(np.exp(logits).sum()), rtol=1e-4)


def test_the_first_step_has_a_decoder_of_its_own(tmp_path):
    given = {**DEFAULTS, "max_length": 6}
    got = search(tmp_path, "GreedySearch", None, given, init_decoder=decoder(scale=-1))
    for row, tokens in zip(PROMPT, got["sequences"]):
        begin = np.append(row, scores_of(row, row, row != PAD).argmin())
        begin_mask = np.append(row != PAD, True)
        want = greedy(begin, begin_mask, given) if begin[-1] != END else [*row, PAD, PAD, PAD]
        assert tokens.tolist() == want


def test_sampling(tmp_path):
    given = {**DEFAULTS, "max_length": 4, "seed": 1}
    options = dict(top_p=0.7, temperature=3.0, min_tokens_to_keep=1)
    seen = [set(), set()]
    for seed in range(1, 25):
        given["seed"] = seed
        got = search(tmp_path, "Sampling", None, given, **options) if seed == 1 else \
            Session(RUNTIME, next(tmp_path.glob("*.om")), threads=1).run_values({"ids": PROMPT, "seed": np.array([seed], np.int32)})
        assert (got["sequences"][:, :3] == PROMPT).all()
        for tokens, token in zip(seen, got["sequences"][:, 3]):
            tokens.add(int(token))
    for row, tokens in zip(PROMPT, seen):
        scores = scores_of(row, row, row != PAD) / 3
        order = np.argsort(scores)
        shares = np.exp(scores[order]) / np.exp(scores).sum()
        allowed = set(order[(shares.cumsum() > 0.3) | (np.arange(VOCABULARY) == VOCABULARY - 1)].tolist())
        # The end becomes padding.
        assert 1 < len(tokens) and tokens <= {PAD if token == END else token for token in allowed}


def coder(kind, has_first):
    """An encoder and a decoder, whose scores come from a word, its place, and the means of the words of both sides."""
    node = helper.make_node
    info = helper.make_tensor_value_info
    weights = {"words": WORDS.astype("f4"), "places": PLACES.astype("f4"), "table": LOGITS.astype("f4"), "one": np.array([1]),
               "two": np.array([2]), "index": np.array(2), "step": np.array(1)}
    stored = [numpy_helper.from_array(value, name) for name, value in weights.items()]

    def decode(ids, cross, past):
        own = [node("Gather", ["words", ids], ["word"]), node("Unsqueeze", ["word", "one"], ["new"])]
        own.append(node("Concat", [past, "new"], ["present_key_self_0"], axis=2) if past else
                   node("Identity", ["new"], ["present_key_self_0"]))
        own += [node("Identity", ["present_key_self_0"], ["present_value_self_0"]),
                node("ReduceMean", ["present_key_self_0"], ["side"], axes=[2], keepdims=0),
                node("ReduceMean", [cross], ["other"], axes=[2], keepdims=0), node("Add", ["side", "other"], ["means"]),
                node("Shape", ["present_key_self_0"], ["shape"]), node("Gather", ["shape", "index"], ["length"]),
                node("Sub", ["length", "step"], ["at"]), node("Gather", ["places", "at"], ["place"]),
                node("Add", ["word", "place"], ["here"]), node("Add", ["here", "means"], ["both"]),
                node("MatMul", ["both", "table"], ["logits"])]
        return own

    values = lambda names, length: [info(name, FLOAT, ["b", 1, length, WIDTH]) for name in names]
    own, cross = ([f"{kind}_{side}_0" for kind in ("key", "value")] for side in ("self", "cross"))
    hidden = node("Gather", ["words", "encoder_input_ids"], ["encoder_hidden_states"]) if kind == 1 else \
        node("Transpose", ["encoder_input_ids"], ["encoder_hidden_states"], perm=[0, 2, 1])
    nodes = [hidden, node("Unsqueeze", ["encoder_hidden_states", "one"], ["present_key_cross_0"]),
             node("Identity", ["present_key_cross_0"], ["present_value_cross_0"])]
    mask = [info("encoder_attention_mask", INT32, ["b", "s"])] if kind == 1 else []
    source = info("encoder_input_ids", INT32, ["b", "s"]) if kind == 1 else info("encoder_input_ids", FLOAT, ["b", WIDTH, "s"])
    begin, logits = [info("decoder_input_ids", INT32, ["b", "q"])], [info("logits", FLOAT, ["b", "q", VOCABULARY])]
    states = [info("encoder_hidden_states", FLOAT, ["b", "s", WIDTH])]
    made = values([f"present_{name}" for name in cross], "s")
    if has_first:
        nodes += decode("decoder_input_ids", "present_key_cross_0", None)
        made = logits + states + values([f"present_{name}" for name in own], "q") + made
    encoder = helper.make_graph(nodes, "encoder", [source] + mask + begin * has_first, made, stored)
    taken = [info("input_ids", INT32, ["b", 1])] + mask + states * has_first
    taken += values([f"past_{name}" for name in own], "p") + values([f"past_{name}" for name in cross], "s")
    made = [info("logits", FLOAT, ["b", 1, VOCABULARY])] + values([f"present_{name}" for name in own], "t")
    return encoder, helper.make_graph(decode("input_ids", "past_key_cross_0", "past_key_self_0"), "decoder", taken, made, stored)


@pytest.mark.parametrize("op, kind, has_first, begin", [("BeamSearch", 1, 1, [4]), ("BeamSearch", 1, 0, [4]),
                                                        ("BeamSearch", 2, 1, [4]), ("WhisperBeamSearch", 2, 1, [6])])
def test_beams_behind_an_encoder(tmp_path, op, kind, has_first, begin):
    given = {**DEFAULTS, "length_penalty": 1.2}
    order = ["max_length", "min_length", "num_beams", "num_return_sequences", "length_penalty", "repetition_penalty"]
    values = {name: np.atleast_1d(given[name]).astype("f4" if "penalty" in name else "i4") for name in order}
    source = np.array([[5, 7, 1], [8, 4, 6]], np.int32)
    feed = {"x": source if kind == 1 else WORDS[source].transpose(0, 2, 1).astype("f4")}
    inputs = ["x"] + order
    if begin != [4]:  # tokens that are given instead of the first one
        inputs += [""] * 3 + ["begin"]
        feed["begin"] = np.array([begin] * 2, np.int32)
    encoder, own = coder(kind, has_first)
    node = helper.make_node(op, inputs, ["sequences", "scores"], domain="com.microsoft", encoder=encoder, decoder=own,
                            eos_token_id=END, pad_token_id=PAD, decoder_start_token_id=4, model_type=kind)
    info = helper.make_tensor_value_info
    graph = helper.make_graph([node], "g", [info(name, FLOAT if value.dtype == np.float32 else INT32, [None] * value.ndim)
                                            for name, value in feed.items()],
                              [info("sequences", INT32, None), info("scores", FLOAT, None)],
                              [numpy_helper.from_array(value, name) for name, value in values.items()])
    got = run(tmp_path, graph, feed, ["sequences", "scores"])
    for row, sequences, scores in zip(source, got["sequences"], got["scores"]):
        def score(tokens):
            means = WORDS[tokens].mean(0) + WORDS[row].mean(0)
            return (WORDS[tokens[-1]] + PLACES[len(tokens) - 1] + means) @ LOGITS
        want, sums = beam(begin, score, given)
        assert sequences.tolist() == want
        np.testing.assert_allclose(scores, sums, rtol=1e-4)


def test_forms_that_are_refused(tmp_path):
    """A greedy search behind an encoder, and an encoder without one of its outputs."""
    encoder, own = coder(1, 1)
    encoder.output.pop()
    info = helper.make_tensor_value_info
    for op, message in (("GreedySearch", "'model_type' is 1, expected 0"), ("BeamSearch", "its encoder has 3 inputs and 5 outputs")):
        node = helper.make_node(op, ["x", "m", "", "n", "n"] if op == "BeamSearch" else ["x", "m"], ["y"], encoder=encoder,
                                domain="com.microsoft", decoder=own, model_type=1)
        graph = helper.make_graph([node], "g", [info("x", INT32, ["b", "s"]), info("m", INT32, [1]), info("n", INT32, [1])],
                                  [info("y", INT32, None)])
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 14),
                                                                        helper.make_opsetid("com.microsoft", 1)]),
                  tmp_path / "m.onnx")
        code, out, err = call(tool("atc"), f"--model={tmp_path / 'm.onnx'}", "--framework=5", f"--output={tmp_path / 'm'}",
                              f"--soc_version={npu.SOCS[0]}")
        assert code and "E14001" in out + err and message in out + err
