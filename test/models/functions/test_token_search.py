#===-- test_token_search.py - GreedySearch and BeamSearch of com.microsoft -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches around small decoders, against the same searches over lists.

Where the package onnxruntime is, they are compared with that, too. Needs numpy, pytest and the onnx package.
"""

import sys
from functools import partial
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
INT32, FLOAT, FLOAT16 = TensorProto.INT32, TensorProto.FLOAT, TensorProto.FLOAT16
RNG = np.random.default_rng(5)
WORDS, PLACES = RNG.standard_normal((VOCABULARY, WIDTH)), RNG.standard_normal((32, WIDTH)) / 4
LOGITS = RNG.standard_normal((WIDTH, VOCABULARY))


def decoder(real=FLOAT, scale=1):
    """Scores come from a word, its position, and the mean of all words so far; the past has the words twice."""
    node = helper.make_node
    nodes = [node("Gather", ["words", "input_ids"], ["word"]), node("Gather", ["places", "position_ids"], ["place"]),
             node("Unsqueeze", ["word", "axes"], ["pair"]), node("Concat", ["pair", "pair"], ["new"], axis=0),
             node("Concat", ["past_0", "new"], ["present_0"], axis=3),
             node("Gather", ["present_0", "zero"], ["key"]), node("Squeeze", ["key", "one"], ["all"]),
             node("Cast", ["attention_mask"], ["shown"], to=real), node("Unsqueeze", ["shown", "one"], ["row"]),
             node("MatMul", ["row", "all"], ["sum"]), node("ReduceSum", ["row", "two"], ["count"], keepdims=1),
             node("Div", ["sum", "count"], ["mean"]), node("Add", ["word", "place"], ["own"]),
             node("Add", ["own", "mean"], ["both"]), node("MatMul", ["both", "table"], ["logits"])]
    kind = "f4" if real == FLOAT else "f2"
    weights = {"words": WORDS.astype(kind), "places": PLACES.astype(kind), "table": (scale * LOGITS).astype(kind), "zero": np.array(0),
               "one": np.array([1]), "two": np.array([2]), "axes": np.array([0, 2])}
    info = helper.make_tensor_value_info
    return helper.make_graph(
        nodes, "decoder", [info("input_ids", INT32, ["b", "s"]), info("position_ids", INT32, ["b", "s"]),
                           info("attention_mask", INT32, ["b", "t"]), info("past_0", real, [2, "b", 1, "p", WIDTH])],
        [info("logits", real, ["b", "s", VOCABULARY]), info("present_0", real, [2, "b", 1, "t", WIDTH])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()])


def scores_of(prompt, tokens, mask):
    """The logits of the token behind `tokens`, of which the first are the prompt."""
    mask = np.concatenate([mask, np.ones(len(tokens) - len(prompt))])
    place = np.count_nonzero(prompt != PAD) + len(tokens) - len(prompt) - 1
    if len(tokens) == len(prompt) and prompt[-1] == PAD:  # padding has the first place
        place = 0
    words = WORDS[tokens]
    return (words[-1] + PLACES[place] + mask @ words / mask.sum()) @ LOGITS


def changed(scores, prompt, tokens, given, row):
    scores = scores.copy()
    for token in set(tokens):
        scores[token] *= given["repetition_penalty"] ** (1 if scores[token] < 0 else -1)
    size = given["no_repeat_ngram_size"]
    for i in range(len(tokens) - size + 1 if size else 0):
        if list(tokens[i:i + size - 1]) == list(tokens[len(tokens) - size + 1:]):
            scores[tokens[i + size - 1]] = -np.inf
    scores[given["vocab_mask"] == 0] = -np.inf
    if len(tokens) == len(prompt):
        scores[given["prefix_vocab_mask"][row] == 0] = -np.inf
    if len(tokens) < given["min_length"] and 0 <= given["eos_token_id"] < VOCABULARY:
        scores[given["eos_token_id"]] = -np.inf
    return scores


def padded(tokens, given):
    return list(tokens) + [PAD] * (given["max_length"] - len(tokens))


def greedy(prompt, mask, given, row):
    tokens = list(prompt)
    while len(tokens) < given["max_length"]:
        best = int(changed(scores_of(prompt, tokens, mask), prompt, tokens, given, row).argmax())
        if best == given["eos_token_id"]:
            break
        tokens.append(best)
    return tokens


def beam(prompt, score, given, row=0):
    """The sequences with the best sums of `score`, which has the logits behind tokens."""
    count, power, end = given["num_beams"], given["length_penalty"], given["eos_token_id"]
    beams, ended = [(0.0, list(prompt))] + [(-1e9, list(prompt))] * (count - 1), []
    while len(beams[0][1]) < given["max_length"]:
        found = []
        for total, tokens in beams:
            logits = score(tokens)
            own = changed(logits - np.log(np.exp(logits).sum()), prompt, tokens, given, row)
            found += [(total + own[token], tokens, token) for token in range(VOCABULARY)]
        found = sorted(found, key=lambda one: -one[0])[:2 * count]
        length = len(beams[0][1])
        ended += [(total / length ** power, tokens) for total, tokens, token in found[:count] if token == end]
        ended = sorted(ended, key=lambda one: -one[0])[:count]
        beams = [(total, tokens + [token]) for total, tokens, token in found if token != end][:count]
        if len(ended) == count and (given["early_stopping"] or ended[-1][0] >= found[0][0] / length ** power):
            break
    else:
        ended += [(total / len(tokens) ** power, tokens) for total, tokens in beams]
    ended = sorted(ended, key=lambda one: -one[0])[:given["num_return_sequences"]]
    return [padded(tokens, given) for _, tokens in ended], [score for score, _ in ended]


DEFAULTS = dict(max_length=10, min_length=0, num_beams=3, num_return_sequences=2, length_penalty=1.0, repetition_penalty=1.0,
                no_repeat_ngram_size=0, early_stopping=0, eos_token_id=END, vocab_mask=np.ones(VOCABULARY, np.int32),
                prefix_vocab_mask=np.ones((2, VOCABULARY), np.int32))
ATTRIBUTES = ["no_repeat_ngram_size", "eos_token_id"]


def inputs_of(op, given, real="f4"):
    """The inputs that are numbers or masks of tokens, in their order."""
    is_beam = op == "BeamSearch"
    order = ["max_length", "min_length"] + ["num_beams", "num_return_sequences", "length_penalty"] * is_beam
    order += ["repetition_penalty", "vocab_mask", "prefix_vocab_mask"]
    reals = {"length_penalty", "repetition_penalty"}
    return {name: np.atleast_1d(given[name]).astype(real if name in reals else "i4") for name in order}


def model_of(node, inputs, outputs, weights):
    """A model of one node, whose inputs have types and dims, its outputs types, and its weights values."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph([node], "g", [info(one, *kind) for one, kind in inputs.items()],
                              [info(one, kind, None) for one, kind in outputs.items()],
                              [numpy_helper.from_array(value, one) for one, value in weights.items()])
    return helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)])


def search_model(op, given, fixed, mask=True, real=FLOAT, name="", **others):
    """A model of one search. Its numbers are constants where they are `fixed`, else inputs."""
    is_beam = op == "BeamSearch"
    values = inputs_of(op, given, "f4" if real == FLOAT else "f2")
    dims = {"vocab_mask": [VOCABULARY], "prefix_vocab_mask": ["b", VOCABULARY]}
    kinds = {one: real if "penalty" in one else INT32 for one in values}
    attributes = {one: given[one] for one in ATTRIBUTES + ["early_stopping"] * is_beam}
    outputs = {"sequences": INT32, **({"scores": real, "steps": real} if is_beam else {})}
    inputs = {one: (INT32, ["b", "s"]) for one in ["ids"] + ["mask"] * mask}
    inputs.update({} if fixed else {one: (kinds[one], dims.get(one, [1])) for one in values})
    names = ["ids", *values] + ["mask"] * mask
    if op == "Sampling":
        inputs["seed"] = INT32, [1]
        names += [""] * (8 - len(names)) + ["seed"]
    node = helper.make_node(op, names, list(outputs), domain="com.microsoft", name=name,
                            **{"decoder": decoder(real), "pad_token_id": PAD, "model_type": 0, **attributes, **others})
    return model_of(node, inputs, outputs, values if fixed else {})


def compiled(model, folder):
    onnx.save(model, folder / "search.onnx")
    return Session(RUNTIME, npu.build(folder / "search.onnx", folder, None), threads=1)


# One program of each operator, whose numbers come with each run.
@pytest.fixture(scope="module", params=["GreedySearch", "BeamSearch"])
def general(request, tmp_path_factory):
    model = search_model(request.param, DEFAULTS, fixed=False)
    return request.param, model, compiled(model, tmp_path_factory.mktemp(request.param))


FIRST = np.array([[1, 1, 1, 0, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 0, 1, 1, 0]], np.int32)
PADDED = np.array([[5, 7, 0], [8, 0, 0]], np.int32)
MASK = np.array([[0, 1, 1], [1, 0, 1]], np.int32)  # hides words but counts no positions
RUNS = {
    "plain": {}, "short": dict(min_length=7, repetition_penalty=1.6), "words": dict(vocab_mask=np.arange(VOCABULARY) % 5 != 4),
    "first": dict(prefix_vocab_mask=FIRST), "one_step": dict(max_length=4), "one_row": dict(prompt=PROMPT[:1]),
    "pads_behind": dict(prompt=PADDED), "masked": dict(mask=MASK), "one_beam": dict(num_beams=1, num_return_sequences=1),
    "wide": dict(num_beams=4, num_return_sequences=3, length_penalty=1.4, min_length=5, max_length=12)}


def feed_of(op, own):
    """What a general search is run with, and the settings for the search over lists."""
    given = {**DEFAULTS, **own}
    prompt = given.pop("prompt", PROMPT)
    mask = given.pop("mask", (prompt != PAD).astype(np.int32))
    given["prefix_vocab_mask"] = given["prefix_vocab_mask"][:len(prompt)]
    return {"ids": prompt, "mask": mask, **inputs_of(op, given)}, given


def check(op, got, prompts, masks, given, rtol=1e-5):
    rows = list(enumerate(zip(prompts, masks)))
    if op == "GreedySearch":
        assert got["sequences"].tolist() == [padded(greedy(row, mask, given, i), given) for i, (row, mask) in rows]
        return
    want = [beam(row, partial(scores_of, row, mask=mask), given, i) for i, (row, mask) in rows]
    assert got["sequences"].tolist() == [sequences for sequences, _ in want]
    np.testing.assert_allclose(got["scores"], [scores for _, scores in want], rtol=rtol)


@pytest.mark.parametrize("run", RUNS)
def test_search(general, run):
    op, _, session = general
    feed, given = feed_of(op, RUNS[run])
    check(op, session.run_values(feed), feed["ids"], feed["mask"], given)


def test_searches_of_onnxruntime(general):
    onnxruntime = pytest.importorskip("onnxruntime")
    op, model, session = general
    other = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for run, own in RUNS.items():
        feed, given = feed_of(op, own)
        got, want = session.run_values(feed), dict(zip(["sequences", "scores", "steps"], other.run(None, feed)))
        if op == "BeamSearch":
            for name, value in want.items():
                np.testing.assert_allclose(got[name], value, rtol=1e-4, err_msg=run)
            continue
        for i, row in enumerate(feed["ids"]):  # what follows the end of a sequence is not set there
            length = len(greedy(row, feed["mask"][i], given, i))
            assert got["sequences"][i, :length].tolist() == want["sequences"][i, :length].tolist(), run


@pytest.mark.parametrize("own, text", [
    (dict(max_length=3), "input 'max_length' must be more than the number of tokens of 'input_ids'"),
    (dict(repetition_penalty=0.0), "input 'repetition_penalty' must be a positive number"),
    (dict(num_beams=0), "input 'num_beams' must be 1 to 128"),
    (dict(num_return_sequences=4), "input 'num_return_sequences' must be 1 to 'num_beams'"),
    (dict(num_return_sequences=0), "input 'num_return_sequences' must be 1 to 'num_beams'")])
def test_what_a_run_does_not_take(general, own, text):
    op, _, session = general
    if own.keys() & inputs_of(op, DEFAULTS).keys():
        with pytest.raises(RuntimeError, match=text):
            session.run_values(feed_of(op, own)[0])


@pytest.mark.parametrize("op, real, own", [
    ("GreedySearch", FLOAT, dict(no_repeat_ngram_size=2, eos_token_id=-1, min_length=7)),
    ("BeamSearch", FLOAT, dict(num_beams=4, no_repeat_ngram_size=2, early_stopping=1, repetition_penalty=1.3)),
    ("BeamSearch", FLOAT16, dict(eos_token_id=50, min_length=7))], ids=["endless", "early", "halves"])
def test_fixed_search(tmp_path, op, real, own):
    given = {**DEFAULTS, **own}
    got = compiled(search_model(op, given, fixed=True, mask=False, real=real), tmp_path).run_values({"ids": PROMPT})
    check(op, got, PROMPT, PROMPT != PAD, given, rtol=1e-5 if real == FLOAT else 1e-2)
    if op == "GreedySearch":
        return
    assert got["scores"].dtype == got["steps"].dtype == (np.float32 if real == FLOAT else np.float16)
    assert got["steps"].shape == (given["max_length"] - 3, 2, given["num_beams"], VOCABULARY)
    if real == FLOAT:
        for i, row in enumerate(PROMPT):
            logits = scores_of(row, row, row != PAD)
            want = changed(logits - np.log(np.exp(logits).sum()), row, row, given, i)
            np.testing.assert_allclose(got["steps"][0, i, 0][want > -np.inf], want[want > -np.inf], rtol=1e-4)


def swapped(model):
    """The decoder's inputs in another order, and a second search of the same name."""
    node = model.graph.node[0]
    inputs = next(one for one in node.attribute if one.name == "decoder").g.input
    first, second = inputs[1].SerializeToString(), inputs[2].SerializeToString()
    inputs[1].ParseFromString(second)
    inputs[2].ParseFromString(first)
    twin = model.graph.node.add()
    twin.CopyFrom(node)
    twin.output[0] = "again"
    model.graph.output.append(helper.make_tensor_value_info("again", INT32, None))
    return model


def test_two_searches_of_one_name(tmp_path):
    model = swapped(search_model("GreedySearch", DEFAULTS, True, False, name="search"))
    got = compiled(model, tmp_path).run_values({"ids": PROMPT})
    check("GreedySearch", got, PROMPT, PROMPT != PAD, DEFAULTS)
    assert (got["again"] == got["sequences"]).all()


def test_the_first_step_has_a_decoder_of_its_own(tmp_path):
    given = {**DEFAULTS, "max_length": 6}
    first = decoder(scale=-1)
    first.input.insert(0, first.input.pop(2))  # inputs are found by name
    model = search_model("GreedySearch", given, True, False, init_decoder=first)
    got = compiled(model, tmp_path).run_values({"ids": PROMPT})
    for i, (row, tokens) in enumerate(zip(PROMPT, got["sequences"])):
        begin = np.append(row, scores_of(row, row, row != PAD).argmin())
        want = greedy(begin, np.append(row != PAD, True), given, i) if begin[-1] != END else row
        assert tokens.tolist() == padded(want, given)


def test_sampling(tmp_path):
    given = {**DEFAULTS, "max_length": 4}
    model = search_model("Sampling", given, True, False, top_p=0.7, temperature=3.0, min_tokens_to_keep=1)
    session = compiled(model, tmp_path)
    seen = [set(), set()]
    for seed in range(1, 25):
        got = session.run_values({"ids": PROMPT, "seed": np.array([seed], np.int32)})
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
    names = ["x"] + order
    if begin != [4]:  # tokens that are given instead of the first one
        names += [""] * 3 + ["begin"]
        feed["begin"] = np.array([begin] * 2, np.int32)
    encoder, own = coder(kind, has_first)
    node = helper.make_node(op, names, ["sequences", "scores"], domain="com.microsoft", encoder=encoder, decoder=own,
                            eos_token_id=END, pad_token_id=PAD, decoder_start_token_id=4, model_type=kind)
    inputs = {name: (FLOAT if value.dtype == np.float32 else INT32, [None] * value.ndim) for name, value in feed.items()}
    model = model_of(node, inputs, {"sequences": INT32, "scores": FLOAT}, values)
    got = compiled(model, tmp_path).run_values(feed)
    try:
        import onnxruntime
        other = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for name, want in zip(["sequences", "scores"], other.run(None, feed)):
            np.testing.assert_allclose(got[name], want, rtol=1e-4)
    except ImportError:
        pass  # the search over lists is enough
    for row, sequences, scores in zip(source, got["sequences"], got["scores"]):
        def score(tokens):
            means = WORDS[tokens].mean(0) + WORDS[row].mean(0)
            return (WORDS[tokens[-1]] + PLACES[len(tokens) - 1] + means) @ LOGITS
        want, sums = beam(begin, score, given)
        assert sequences.tolist() == want
        np.testing.assert_allclose(scores, sums, rtol=1e-4)


def retyped(graph):
    graph.input[2].type.tensor_type.elem_type = FLOAT
    return graph


def renamed(graph):
    graph.input[1].name = "places"
    return graph


def inside_branch(model):
    """The search in both branches of an If; the second one negates the tokens."""
    search = model.graph.node[0]
    own = helper.make_graph([search], "own", [], [helper.make_tensor_value_info("sequences", INT32, None)])
    negated = helper.make_graph([search, helper.make_node("Neg", ["sequences"], ["negated"])], "negated", [],
                                [helper.make_tensor_value_info("negated", INT32, None)])
    both = helper.make_node("If", ["condition"], ["result"], then_branch=own, else_branch=negated)
    del model.graph.node[:], model.graph.output[:]
    model.graph.node.append(both)
    model.graph.input.append(helper.make_tensor_value_info("condition", onnx.TensorProto.BOOL, []))
    model.graph.output.append(helper.make_tensor_value_info("result", INT32, None))
    return model


def as_function(model):
    search = model.graph.node[0]
    inputs = [name for name in search.input if name]
    model.functions.append(helper.make_function("own", "Search", inputs, ["sequences"], [search],
                                                [*model.opset_import]))
    del model.graph.node[:]
    model.graph.node.append(helper.make_node("Search", inputs, ["sequences"], domain="own"))
    model.opset_import.append(helper.make_opsetid("own", 1))
    return model


def test_searches_in_branches(tmp_path):
    session = compiled(inside_branch(search_model("GreedySearch", DEFAULTS, True, False)), tmp_path)
    for condition, sign in ((True, 1), (False, -1)):
        got = session.run_values({"ids": PROMPT, "condition": np.array(condition)})
        check("GreedySearch", {"sequences": sign * got["result"]}, PROMPT, PROMPT != PAD, DEFAULTS)


def test_errors(tmp_path):
    def made(op="BeamSearch", others=None, **own):
        return search_model(op, {**DEFAULTS, **own}, True, False, **(others or {}))
    encoder, own = coder(1, 1)
    whole = coder(1, 1)[0]
    encoder.output.pop()
    stated = made(max_length=3)
    stated.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 3
    for model, text in [
            (stated, "E14001: node of output 'sequences' (BeamSearch): input 'max_length' is 3, expected more than 3, the number of tokens"),
            (made(num_beams=0), "input 'num_beams' is 0, expected 1 to 128"),
            (made(num_return_sequences=4), "input 'num_return_sequences' is 4, expected 1 to the 3 of 'num_beams'"),
            (made(repetition_penalty=-0.5), "input 'repetition_penalty' is -0.5000, expected a positive number"),
            (made(others=dict(vocab_size=12)), "'vocab_size' is 12, but the decoder has scores of 9 tokens"),
            (made(others=dict(decoder=renamed(decoder()))), "its decoder has no input 'position_ids'"),
            (made(others=dict(decoder=retyped(decoder()))), "'attention_mask' of its decoder has the type FLOAT, expected INT32"),
            (made(others=dict(model_type=3)), "'model_type' is 3, expected 0 (GPT-2), 1 (T5) or 2 (Whisper)"),
            (made(others=dict(model_type=1)), "attribute 'encoder' is needed with this model_type"),
            (made("GreedySearch", others=dict(model_type=1)), "'model_type' is 1, expected 0: a decoder"),
            (made(others=dict(model_type=1, encoder=encoder, decoder=own)), "its encoder has 3 inputs and 5 outputs"),
            (made(others=dict(model_type=1, encoder=whole, decoder=own), max_length=1),
             "input 'max_length' is 1, expected more than 1, the number of tokens that sequences begin with"),
            (made(others=dict(init_decoder=renamed(decoder()))), "attribute 'init_decoder': its decoder has no input 'position_ids'"),
            (inside_branch(made(num_beams=0)), "input 'num_beams' is 0, expected 1 to 128"),
            (as_function(made("GreedySearch")), "E16002: no importer for these operators of opset 14: "
             "com.microsoft.GreedySearch x1 [searches are supported in graphs, not in functions")]:
        onnx.save(model, tmp_path / "wrong.onnx")
        code, out, err = call(tool("atc"), f"--model={tmp_path}/wrong.onnx", "--framework=5", "--target=cpu",
                              f"--output={tmp_path}/model")
        assert code != 0 and text in out + err, out + err
