# Attention operators of a .json file: results against NumPy on both targets, and mistakes. Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest

from test_singleop import compile_, op, run, tensor

RNG = np.random.default_rng(31)
F32 = np.float32
TYPES = {"float32": "float", "float16": "float16", "bool": "bool", "int64": "int64", "int32": "int32", "int8": "int8"}
Q, K, V, SHIFT = (RNG.standard_normal(dims).astype(F32) for dims in ((2, 4, 5, 8), (2, 2, 6, 8), (2, 2, 6, 8), (2, 4, 5, 6)))
ROW, COLUMN = np.arange(5)[:, None], np.arange(6)
MASK = RNG.random((2, 1, 5, 6)) > 0.6
MASK[..., 0] = False
PREFIX = [RNG.standard_normal((1, 2, 3, 8)).astype(F32) for _ in range(2)]
ROPE = [RNG.standard_normal(dims).astype(F32) for dims in ((2, 4, 5, 4), (2, 2, 6, 4))]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def scores(q, k, scale):
    return np.einsum("bnsd,bntd->bnst", q, k.repeat(q.shape[1] // k.shape[1], 1)) * scale


def attended(q=Q, k=K, v=V, hidden=False, shift=0, scale=0.25):
    weights = softmax(np.where(hidden, -1e30, scores(q, k, scale) + shift))
    return np.einsum("bnst,bntd->bnsd", weights, v.repeat(q.shape[1] // v.shape[1], 1))


def form(x, layout):
    order = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (2, 0, 1, 3), "NBSD": (1, 0, 2, 3)}
    if layout == "NSD":
        return x[0]
    moved = x.transpose(order[layout])
    return np.ascontiguousarray(moved if layout[-1] == "D" else moved.reshape(*moved.shape[:2], -1))


def prompt(*more, layout="BNSD", q=Q, k=K, v=V, **attributes):
    inside = layout.split("_")[0]
    return "PromptFlashAttention", [*(form(x, inside) for x in (q, k, v)), *more], {
        "num_heads": q.shape[1], "scale_value": 0.25, "input_layout": layout, "num_key_value_heads": k.shape[1], **attributes}


def blocks(x, table):
    """Caches of 4 blocks of 3 tokens, [blocks, tokens, heads * width]."""
    cache = np.full((4, 3, 16), np.inf, F32)
    for batch, row in enumerate(table):
        for i, block in enumerate(row):
            if block >= 0:
                cache[block] = x[batch, :, 3 * i:3 * i + 3].transpose(1, 0, 2).reshape(3, 16)
    return cache


LENGTHS, ROWS = np.array([4, 6]), np.array([3, 5])
SHOWN = COLUMN < LENGTHS[:, None, None, None]
KEPT = ROW < ROWS[:, None, None, None]
END = (LENGTHS - ROWS)[:, None, None, None]
TABLE = np.array([[2, 1], [0, 3]], np.int32)
ONE = Q[:, :, :1]
FUSED = {"num_heads": 4, "scale": 0.25, "input_layout": "BNSD"}
CASES = {
    "plain": (*prompt(), attended()),
    **{layout: (*prompt(layout=layout), form(attended(), layout)) for layout in ("BSH", "SBH", "BSND")},
    "NSD": (*prompt(layout="NSD", q=Q[:1], k=K[:1], v=V[:1]), attended(Q[:1], K[:1], V[:1])[0]),
    "BNSD_BSND": (*prompt(layout="BNSD_BSND"), form(attended(), "BSND")),
    "shift": (*prompt(SHIFT), attended(shift=SHIFT)),
    "mask": (*prompt(None, MASK, sparse_mode=1), attended(hidden=MASK)),
    "int8 mask": (*prompt(None, np.pad(MASK[0, 0], ((0, 3), (0, 2))).astype(np.int8), sparse_mode=1), attended(hidden=MASK[0, 0])),
    "band": (*prompt(None, MASK, pre_tokens=2, next_tokens=1), attended(hidden=MASK | (COLUMN > ROW + 1) | (COLUMN < ROW - 2))),
    "triangle": (*prompt(None, np.ones((16, 16), bool), sparse_mode=2), attended(hidden=COLUMN > ROW)),
    "to the last key": (*prompt(sparse_mode=3), attended(hidden=COLUMN > ROW + 1)),
    "lengths": (*prompt(None, None, ROWS, LENGTHS, sparse_mode=3), np.where(KEPT, attended(hidden=~SHOWN | (COLUMN > ROW + END)), 0)),
    "one row": ("IncreFlashAttention", [ONE, K, V, None, None, LENGTHS], {"num_heads": 4, "scale_value": 0.25, "input_layout": "BNSD"},
                attended(ONE, hidden=~SHOWN)),
    "cache": ("IncreFlashAttention", [form(ONE, "BSH"), blocks(K, TABLE), blocks(V, TABLE), None, None, LENGTHS, *[None] * 7, TABLE],
              {"num_heads": 4, "scale_value": 0.25, "num_key_value_heads": 2, "block_size": 3}, form(attended(ONE, hidden=~SHOWN), "BSH")),
    "fused": ("FusedInferAttentionScore", [Q, K, V, SHIFT, MASK], {**FUSED, "softmax_lse_flag": True},
              attended(hidden=MASK, shift=SHIFT), np.log(np.exp(np.where(MASK, -np.inf, scores(Q, K, 0.25) + SHIFT)).sum(-1, keepdims=True))),
    "prefix": ("FusedInferAttentionScore", [Q, K, V, *[None] * 3, LENGTHS, *[None] * 14, *PREFIX], FUSED,
               attended(k=np.concatenate([PREFIX[0].repeat(2, 0), K], 2), v=np.concatenate([PREFIX[1].repeat(2, 0), V], 2),
                        hidden=np.arange(9) >= 3 + LENGTHS[:, None, None, None])),
    "rope": ("FusedInferAttentionScore", [Q, K, V, *[None] * 21, *ROPE], FUSED,
             attended(np.concatenate([Q, ROPE[0]], -1), np.concatenate([K, ROPE[1]], -1))),
}


def described(x, half):
    if x is None:
        return tensor([], "UNDEFINED", "RESERVED")
    name = "float16" if half and x.dtype.kind == "f" else "float" if x.dtype.kind == "f" else TYPES[str(x.dtype)]
    return tensor(x.shape, name, "ND")


@pytest.fixture(scope="module", params=["--soc_version=Ascend310P3", "--target=cpu"])
def folder(request, tmp_path_factory):
    path, half = tmp_path_factory.mktemp("ops"), "soc" in request.param
    compile_(path, [op(type, [described(x, half) for x in inputs], [described(y, half) for y in outputs], name=f"case{i}", **attributes)
                    for i, (type, inputs, attributes, *outputs) in enumerate(CASES.values())], request.param)
    return path, half


@pytest.mark.parametrize("name", CASES)
def test_results(folder, name):
    path, half = folder
    _, inputs, _, *outputs = CASES[name]
    run(path, f"case{list(CASES).index(name)}",
        *(x.astype(np.float16) if half and x is not None and x.dtype.kind == "f" else x for x in inputs))
    for i, want in enumerate(outputs):
        got = np.load(path / "results" / f"y{i}.npy")
        assert got.shape == want.shape
        np.testing.assert_allclose(got.astype(F32), want, rtol=0, atol=1e-2 if half else 1e-5)


X, BASE = tensor([1, 2, 3, 8]), {"num_heads": 2, "input_layout": "BNSD"}


@pytest.mark.parametrize("inputs, attributes, words", [
    ([X] * 3, {"input_layout": "BNSD"}, '"num_heads" is required'),
    ([X] * 3, {**BASE, "input_layout": "TND"}, '"input_layout" must be BSH'),
    ([X] * 3, {**BASE, "sparse_mode": 5}, '"sparse_mode" must be 0 to 4'),
    ([X, X, tensor([1, 2, 4, 8])], BASE, "as many rows as each other"),
    ([tensor([-1, 2, 3, 8]), X, X], BASE, "fixed dims"),
    ([X] * 3 + [X, tensor([3, 2], "bool")], {**BASE, "sparse_mode": 1}, "atten_mask must have the dims [1 or 1, 1, 3, 3]"),
    ([X] * 3 + [tensor([], "UNDEFINED", "RESERVED")] * 2 + [tensor([3], "int64")], BASE, "1 or 1 numbers"),
    ([X] * 8, BASE, "input 7 must not be given"),
])
def test_mistakes(tmp_path, inputs, attributes, words):
    text = compile_(tmp_path, [op("PromptFlashAttention", inputs, [X], **attributes)], fails=True)
    errors = text.split("for more information\n")[1].splitlines()
    assert errors[0].startswith("E10030") and words in errors[0], text
