# ===-- test_packed_trees.py - trees that the compiler packed --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ensembles of random trees: packed and as lists, against a walk in Python."""

import numpy as np
import pytest
from host_kernels import KernelError, call

PACKED = ["packed_nodes", "packed_votes", "packed_roots", "packed_members", "packed_facts"]
MODES = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal,
         "BRANCH_GT": np.greater, "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}


class Ensemble:
    """Trees of random shape. Weights are eighths, whose sums are exact in any order."""

    def __init__(self, trees, features, targets, modes, seed):
        rng = np.random.default_rng(seed)
        self.nodes = []  # tree, id, feature, split, mode, yes, no, missing
        self.votes = []  # tree, id, target, weight
        for tree in range(trees):
            self.grow(rng, tree, features, targets, modes, depth=int(rng.integers(0, 7)))

    def grow(self, rng, tree, features, targets, modes, depth):
        ids = iter(range(1000))

        def add(depth):
            own = next(ids)
            if depth == 0 or rng.random() < .1:
                self.nodes.append((tree, own, 0, 0.0, "LEAF", 0, 0, 0))
                for target in rng.permutation(targets)[:rng.integers(0, targets + 1)]:
                    self.votes.append((tree, own, int(target), int(rng.integers(-40, 40)) / 8))
                return own
            place = len(self.nodes)
            self.nodes.append(None)
            yes, no = add(depth - 1), add(depth - 1)
            self.nodes[place] = (tree, own, int(rng.integers(features)),
                                 int(rng.integers(-4, 5)) / 2, str(rng.choice(modes)), yes, no,
                                 int(rng.integers(2)))
            return own
        add(depth)

    def attributes(self, kind, **more):
        nodes, votes = list(zip(*self.nodes)), list(zip(*self.votes)) or [()] * 4
        names = ["nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_values",
                 "nodes_modes", "nodes_truenodeids", "nodes_falsenodeids",
                 "nodes_missing_value_tracks_true"]
        return {**dict(zip(names, map(list, nodes))),
                **{f"{kind}_{end}": list(values)
                   for end, values in zip(["treeids", "nodeids", "ids", "weights"], votes)}, **more}

    def sums(self, x, targets):
        index = {node[:2]: node for node in self.nodes}
        out = np.zeros((len(x), targets))
        for row, values in enumerate(x):
            for tree in {node[0] for node in self.nodes}:
                at = index[tree, 0]
                while at[4] != "LEAF":
                    value = values[at[2]]
                    holds = MODES[at[4]](value, at[3]) or (at[7] and value != value)
                    at = index[tree, at[5] if holds else at[6]]
                for vote_tree, node, target, weight in self.votes:
                    if (vote_tree, node) == at[:2]:
                        out[row, target] += weight
        return out


def pack(attributes):
    kept = {name: value for name, value in attributes.items()
            if not name.startswith(("nodes_", "target_", "class_", "leaf_", "tree_", "member"))}
    return {**kept, **dict(zip(PACKED, call("PackTrees", outputs=5, **attributes)))}


def features(rows, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(-6, 7, (rows, 5)) / 2
    if np.issubdtype(dtype, np.floating):
        x[rng.random(x.shape) < .1] = np.nan
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("modes", [["BRANCH_LEQ"], ["BRANCH_LT"], ["BRANCH_EQ"], list(MODES)],
                         ids=["LEQ", "LT", "EQ", "all"])
@pytest.mark.parametrize("rows", [0, 1, 7, 8, 150])
def test_packed_is_as_lists(dtype, modes, rows):
    ensemble = Ensemble(trees=11, features=5, targets=3, modes=modes, seed=rows)
    x = features(rows, dtype)
    lists = ensemble.attributes("target", n_targets=3)
    want = ensemble.sums(x.astype("f8"), 3)
    for attributes in (lists, pack(lists)):
        np.testing.assert_array_equal(call("TreeEnsembleRegressor", x, **attributes)[0], want)
    lists = ensemble.attributes("class", classlabels_int64s=[4, 5, 6])
    apart = call("TreeEnsembleClassifier", x, outputs=2, **lists)
    packed = call("TreeEnsembleClassifier", x, outputs=2, **pack(lists))
    np.testing.assert_array_equal(apart[1], want)
    for a, b in zip(apart, packed):
        np.testing.assert_array_equal(a, b)


def test_nodes_are_as_small_as_their_numbers_allow():
    ensemble = Ensemble(trees=2, features=5, targets=1, modes=["BRANCH_LEQ"], seed=7)
    lists = ensemble.attributes("target", n_targets=1)
    assert pack(lists)["packed_nodes"].shape == (len(ensemble.nodes), 4)
    splits = np.array(lists.pop("nodes_values")) + 1 / 3
    lists["nodes_values_as_tensor"] = splits
    packed = pack(lists)
    assert packed["packed_nodes"].shape == (len(ensemble.nodes), 6)
    x = features(20, "f8")
    np.testing.assert_array_equal(call("TreeEnsembleRegressor", x, **packed)[0],
                                  call("TreeEnsembleRegressor", x, **lists)[0])


def test_positions_and_members():
    lists = dict(n_targets=2, tree_roots=[0], nodes_featureids=[0, 1],
                 nodes_splits=np.array([.5, 0.0]), nodes_modes=np.array([0, 6], np.uint8),
                 membership_values=np.array([-1, 7, np.nan]), nodes_truenodeids=[1, 0],
                 nodes_falsenodeids=[2, 1], nodes_trueleafs=[0, 1], nodes_falseleafs=[1, 1],
                 leaf_targetids=[0, 1, 0], leaf_weights=np.array([1.0, 2.0, 4.0]))
    x = np.array([[0, -1], [.5, 0], [1, 0], [np.nan, 1], [0, 7]])
    for dtype in ("f2", "f4", "f8"):
        got, = call("TreeEnsemble", x.astype(dtype), **pack(lists))
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(got, [[1, 0], [0, 2], [4, 0], [4, 0], [1, 0]])


def test_errors_of_packing():
    ensemble = Ensemble(trees=3, features=5, targets=2, modes=["BRANCH_LEQ"], seed=1)
    lists = ensemble.attributes("target", n_targets=2)
    with pytest.raises(KernelError, match="different lengths"):
        pack({**lists, "nodes_values": [1.0]})
    with pytest.raises(KernelError, match="node 0 tests feature -1"):
        pack(dict(tree_roots=[0], nodes_featureids=[-1], nodes_splits=np.array([0.0]),
                  nodes_modes=np.array([0], np.uint8), nodes_truenodeids=[0],
                  nodes_falsenodeids=[0], nodes_trueleafs=[1], nodes_falseleafs=[1],
                  leaf_targetids=[0], leaf_weights=np.array([1.0])))
    with pytest.raises(KernelError, match="tests feature . of 1"):
        call("TreeEnsembleRegressor", np.zeros((2, 1), "f4"), **pack(lists))


def test_damaged_trees_are_refused():
    """What stands in a file may be anything: no number is used before it is compared."""
    ensemble = Ensemble(trees=9, features=5, targets=2, modes=list(MODES), seed=3)
    good = pack(ensemble.attributes("target", n_targets=2))
    rng = np.random.default_rng(5)
    refused = 0
    for rows in (1, 20):
        x = features(rows, "f4")
        for name in PACKED:
            for _ in range(60):
                bad = good[name].copy()
                flat = bad.reshape(-1).view(np.uint8)
                for at in rng.integers(0, flat.size, 4) if flat.size else []:
                    flat[at] = rng.integers(256)
                try:
                    call("TreeEnsembleRegressor", x, **{**good, name: bad})
                except KernelError as error:
                    assert "packed trees are damaged" in str(error) or "tests feature" in str(error)
                    refused += 1
        for name in PACKED:
            with pytest.raises(KernelError, match="damaged"):
                call("TreeEnsembleRegressor", x, **{**good, name: np.zeros((3, 3), "f4")})
    assert refused > 50
