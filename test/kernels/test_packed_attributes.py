# ===-- test_packed_attributes.py - packed trees and vectors that are damaged --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler packs (host-pack-attributes) gives the results of the attributes themselves, and
whatever stands there instead is refused or computed with, and nothing beside it is read."""

import numpy as np
import pytest
from host_kernels import KernelError, call

PACKED = ("nodes", "votes", "roots", "members", "facts")
ROWS = np.random.default_rng(1).normal(size=(13, 4)).astype(np.float32)


def trees():
    """Three complete trees of depth 3: seven branches and eight leaves each."""
    random = np.random.default_rng(2)
    ids, modes, features, values, true, false = [], [], [], [], [], []
    for _ in range(3):
        for node in range(15):
            leaf = node >= 7
            ids.append(node)
            modes.append("LEAF" if leaf else "BRANCH_LEQ")
            features.append(0 if leaf else int(random.integers(4)))
            values.append(0.0 if leaf else float(np.float32(random.normal())))
            true.append(0 if leaf else 2 * node + 1)
            false.append(0 if leaf else 2 * node + 2)
    leaves = [(tree, node) for tree in range(3) for node in range(7, 15)]
    return dict(nodes_treeids=[i // 15 for i in range(45)], nodes_nodeids=ids, nodes_modes=modes,
                nodes_featureids=features, nodes_values=values, nodes_truenodeids=true, nodes_falsenodeids=false,
                target_treeids=[tree for tree, _ in leaves], target_nodeids=[node for _, node in leaves],
                target_ids=[0] * 24, target_weights=[float(np.float32(random.normal())) for _ in leaves], n_targets=1)


def vectors():
    random = np.random.default_rng(3)
    return dict(kernel_type="RBF", kernel_params=[0.5, 0.0, 3.0], n_supports=11,
                support_vectors=[float(x) for x in random.normal(size=44).astype(np.float32)],
                coefficients=[float(x) for x in random.normal(size=11).astype(np.float32)], rho=[0.25])


def damaged(array, random):
    """The array with some changed words, or fewer of them."""
    changed = np.array(array)
    if random.random() < .2 and changed.ndim and changed.shape[0]:
        return np.ascontiguousarray(changed[:int(random.integers(changed.shape[0]))])
    words = changed.reshape(-1).view(np.uint32)
    edges = [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FC00000, 0xFF800000]
    for _ in range(int(random.integers(1, 4)) if words.size else 0):
        at = int(random.integers(words.size))
        words[at] = [random.choice(edges), words[at] ^ np.uint32(1 << int(random.integers(32))),
                     words[int(random.integers(words.size))], random.integers(64)][int(random.integers(4))]
    return changed


@pytest.mark.parametrize("seed", range(4))
def test_damaged_trees(seed):
    lists = trees()
    packed = {f"packed_{name}": value for name, value in zip(PACKED, call("PackTrees", outputs=5, **lists))}
    want = call("TreeEnsembleRegressor", ROWS, **lists)[0]
    np.testing.assert_allclose(call("TreeEnsembleRegressor", ROWS, **packed)[0], want, rtol=1e-6)
    random = np.random.default_rng(seed)
    computed = refused = 0
    for _ in range(2000):
        name = f"packed_{random.choice(PACKED)}"
        try:
            call("TreeEnsembleRegressor", ROWS, **{**packed, name: damaged(packed[name], random)})
            computed += 1
        except KernelError:
            refused += 1
    assert computed and refused


@pytest.mark.parametrize("seed", range(4))
def test_damaged_vectors(seed):
    lists = vectors()
    packed = call("PackVectors", **lists)[0]
    want = call("SVMRegressor", ROWS, **lists)[0]
    rest = {name: value for name, value in lists.items() if name != "support_vectors"}
    np.testing.assert_allclose(call("SVMRegressor", ROWS, packed_vectors=packed, **rest)[0], want, rtol=1e-4,
                               atol=1e-5)
    random = np.random.default_rng(seed)
    for _ in range(500):
        try:
            call("SVMRegressor", ROWS, packed_vectors=damaged(packed, random), **rest)
        except KernelError:
            pass


def test_vectors_without_features():
    assert call("PackVectors", support_vectors=[], n_supports=3)[0].shape == (0, 64)
    with pytest.raises(KernelError, match="0 numbers for"):
        call("PackVectors", support_vectors=[], n_supports=2**63 - 1)
