# ===-- test_ml.py - the operators of ai.onnx.ml --------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest
from host_kernels import KernelError, Map, Raw, call
from test_strings import strings, texts

NAN = float("nan")
X = np.array([[1, -2, .5], [0, 0, 0], [-1, 3, 2]], np.float32)
W = np.array([[.5, -1, 2], [0, .25, -.5]], np.float32)
OFFSETS = np.array([.1, -.3], np.float32)


def numbers(array):
    return [float(value) for value in np.asarray(array, np.float32).reshape(-1)]


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def sigmoid(scores):
    return 1 / (1 + np.exp(-scores))


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_linear_regressor(dtype):
    x = X.astype(dtype)
    scores = x @ W.T.astype("f8") + OFFSETS
    for transform, want in (("NONE", scores), ("SOFTMAX", softmax(scores)),
                            ("LOGISTIC", sigmoid(scores))):
        got, = call("LinearRegressor", x, coefficients=numbers(W), intercepts=numbers(OFFSETS),
                    targets=2, post_transform=transform)
        assert got.dtype == np.float32
        close(got, want)


def test_a_single_score_of_a_regressor_takes_no_sigmoid():
    """As in ONNX Runtime: of the transforms it takes PROBIT alone."""
    score = np.float32([[.3]])
    for transform, want in (("LOGISTIC", .3), ("SOFTMAX", .3), ("PROBIT", -.5244005)):
        own = dict(post_transform=transform)
        got, = call("LinearRegressor", score, coefficients=[1.0], intercepts=[0.0], **own)
        np.testing.assert_allclose(got, [[want]], rtol=1e-4)
        got, = call("TreeEnsembleRegressor", score, nodes_treeids=[0], nodes_nodeids=[0],
                    nodes_featureids=[0], nodes_values=[0.0], nodes_modes=["LEAF"],
                    nodes_truenodeids=[0], nodes_falsenodeids=[0], target_treeids=[0],
                    target_nodeids=[0], target_ids=[0], target_weights=[.3], n_targets=1, **own)
        np.testing.assert_allclose(got, [[want]], rtol=1e-4)


def test_linear_classifier():
    scores = X @ W.T + OFFSETS
    labels, got = call("LinearClassifier", X, outputs=2, coefficients=numbers(W),
                       intercepts=numbers(OFFSETS), classlabels_strings=["a", "b"])
    close(got, scores)
    assert texts(labels) == ["ab"[i] for i in scores.argmax(1)]
    labels, got = call("LinearClassifier", X, outputs=2, coefficients=numbers(W[0]),
                       intercepts=[.1], classlabels_ints=[7, 9], post_transform="LOGISTIC")
    close(got, np.stack([sigmoid(-scores[:, 0]), sigmoid(scores[:, 0])], 1))
    assert labels.tolist() == [9 if score > 0 else 7 for score in scores[:, 0]]
    assert call("LinearClassifier", X[:0], outputs=2, coefficients=numbers(W),
                intercepts=numbers(OFFSETS), classlabels_ints=[1, 2])[1].shape == (0, 2)
    with pytest.raises(KernelError, match="3 labels for 2 classes"):
        call("LinearClassifier", X, outputs=2, coefficients=numbers(W),
             intercepts=numbers(OFFSETS), classlabels_ints=[1, 2, 3])


@pytest.mark.parametrize("rows, width, classes", [(7, 20, 5), (8, 1, 2), (9, 20, 5), (30, 7, 8), (10, 6, 19), (12, 0, 3)])
def test_linear_functions_of_many_rows(rows, width, classes):
    rng = np.random.default_rng(rows)
    x, weights = rng.standard_normal((rows, width)).astype("f4"), rng.standard_normal((classes, width)).astype("f4")
    offsets = rng.standard_normal(classes).astype("f4")
    if width:
        x[rows // 2, 0] = np.nan
    want = x.astype("f8") @ weights.T.astype("f8") + offsets
    got, = call("LinearRegressor", x, coefficients=numbers(weights), intercepts=numbers(offsets), targets=classes)
    close(got, want)
    labels, got = call("LinearClassifier", x, outputs=2, coefficients=numbers(weights), intercepts=numbers(offsets),
                       classlabels_ints=list(range(classes)))
    close(got, want)
    known = ~np.isnan(want[:, 0])
    assert labels[known].tolist() == want.argmax(1)[known].tolist()


KERNELS = {"LINEAR": lambda a, b: a @ b.T, "POLY": lambda a, b: (.5 * a @ b.T + .25) ** 3,
           "SIGMOID": lambda a, b: np.tanh(.5 * a @ b.T + .25),
           "RBF": lambda a, b: np.exp(-.5 * ((a[:, None] - b[None]) ** 2).sum(-1))}


@pytest.mark.parametrize("kind", KERNELS)
def test_svm(kind):
    vectors = np.array([[1, 0, 0], [0, 1, 1], [-1, 1, 0], [2, 0, 1]], np.float32)
    weights = np.array([.5, -.25, 1, -1], np.float32)
    params = dict(kernel_type=kind, kernel_params=[.5, .25, 3.0], support_vectors=numbers(vectors))
    products = KERNELS[kind](X, vectors)
    for transform in ("NONE", "LOGISTIC"):  # a single score stays as it is
        got, = call("SVMRegressor", X, coefficients=numbers(weights), rho=[.2], n_supports=4, post_transform=transform, **params)
        close(got[:, 0], products @ weights + np.float32(.2))
    # Two classes, two vectors of each.
    labels, got = call("SVMClassifier", X, outputs=2, coefficients=numbers(weights), rho=[.2],
                       vectors_per_class=[2, 2], classlabels_ints=[3, 4], **params)
    score = products @ weights + np.float32(.2)
    close(got, np.stack([-score, score], 1))
    assert labels.tolist() == [3 if s > 0 else 4 for s in score]


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("classes", [2, 4])
def test_packed_vectors(kind, classes):
    """Columns of blocks of 64 vectors compute what the lists do, in floats and in doubles."""
    rng = np.random.default_rng(classes)
    count, width = 150, 7
    vectors = (rng.normal(size=(count, width)) / 3).astype("f4")
    per_class = [count - 40 * (classes - 1)] + [40] * (classes - 1)
    weights = rng.normal(size=(classes - 1, count)).astype("f4")
    lists = dict(kernel_type=kind, kernel_params=[.5, .25, 3.0], support_vectors=numbers(vectors),
                 coefficients=numbers(weights), rho=[.1] * (classes * (classes - 1) // 2))
    for own in (dict(n_supports=count),
                dict(vectors_per_class=per_class, classlabels_ints=list(range(classes)))):
        columns, = call("PackVectors", **lists, **own)
        assert columns.shape == (width, 192)
        np.testing.assert_array_equal(columns[:, :count], vectors.T)
        assert not columns[:, count:].any()
        packed = {**lists, **own, "packed_vectors": columns}
        del packed["support_vectors"]
        name = "SVMRegressor" if "n_supports" in own else "SVMClassifier"
        outputs = 1 if "n_supports" in own else 2
        for dtype in ("f4", "f8", "i4"):
            for rows in (0, 1, 70):
                x = (rng.normal(size=(rows, width)) * 2).astype(dtype)
                want = call(name, x, outputs=outputs, **lists, **own)
                got = call(name, x, outputs=outputs, **packed)
                np.testing.assert_allclose(got[-1], want[-1], rtol=1e-4, atol=2e-5)
                if outputs == 2 and rows:
                    assert (got[0] == want[0]).mean() > .9  # votes of near ties may differ
        with pytest.raises(KernelError, match="150 support vectors of 6 features: 1050 numbers"):
            call(name, X[:, [0, 1, 2, 0, 1, 2]], outputs=outputs, **packed)
    with pytest.raises(KernelError, match="1050 numbers for 149 support vectors"):
        call("PackVectors", **{**lists, "n_supports": 149})


def test_svm_probabilities():
    params = dict(coefficients=[1.0, -1.0], rho=[0.0], vectors_per_class=[1, 1],
                  classlabels_ints=[3, 4], support_vectors=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    _, got = call("SVMClassifier", X, outputs=2, prob_a=[-2.0], prob_b=[.5], **params)
    score = X[:, 0] - X[:, 1]
    first = 1 - sigmoid(-2 * score + .5)
    # The fixed point is left where it moves by less than 0.005 / classes.
    np.testing.assert_allclose(got, np.stack([first, 1 - first], 1), atol=.0025)


# One tree: x0 <= 0.5 ? (x1 < 0 ? leaf2 : leaf3) : leaf4
TREE = dict(nodes_treeids=[0] * 5, nodes_nodeids=[0, 1, 2, 3, 4],
            nodes_featureids=[0, 1, 0, 0, 0], nodes_values=[.5, 0.0, 0.0, 0.0, 0.0],
            nodes_modes=["BRANCH_LEQ", "BRANCH_LT", "LEAF", "LEAF", "LEAF"],
            nodes_truenodeids=[1, 2, 0, 0, 0], nodes_falsenodeids=[4, 3, 0, 0, 0])
ROWS = np.array([[0, -1], [.5, 0], [1, 0], [NAN, 1]], np.float32)


@pytest.mark.parametrize("aggregate,pick", [("SUM", sum), ("MIN", min), ("MAX", max),
                                            ("AVERAGE", lambda values: sum(values) / 2)])
def test_tree_regressor(aggregate, pick):
    two = {key: value + value for key, value in TREE.items()}
    two["nodes_treeids"] = [0] * 5 + [1] * 5
    votes = dict(target_treeids=[0, 0, 0, 1, 1, 1], target_nodeids=[2, 3, 4] * 2,
                 target_ids=[0] * 6, target_weights=[1.0, 2.0, 4.0, -1.0, -3.0, 9.0], n_targets=1)
    got, = call("TreeEnsembleRegressor", ROWS, aggregate_function=aggregate, base_values=[.5],
                **two, **votes)
    pairs = [(1, -1), (2, -3), (4, 9), (4, 9)]
    close(got[:, 0], [pick(pair) + .5 for pair in pairs])
    missing, = call("TreeEnsembleRegressor", ROWS[3:], aggregate_function=aggregate,
                    nodes_missing_value_tracks_true=[1] * 10, **two, **votes)
    close(missing[:, 0], [pick((2, -3))])
    wide = {**two, **votes}
    del wide["nodes_values"], wide["target_weights"]
    got, = call("TreeEnsembleRegressor", ROWS.astype("f8"), aggregate_function=aggregate,
                nodes_values_as_tensor=np.array([.5, 0, 0, 0, 0] * 2),
                target_weights_as_tensor=np.array([1.0, 2, 4, -1, -3, 9]), **wide)
    close(got[:, 0], [pick(pair) for pair in pairs])


def test_tree_classifier():
    votes = dict(class_treeids=[0] * 3, class_nodeids=[2, 3, 4], class_ids=[0, 1, 2],
                 class_weights=[1.0, 1.0, 1.0])
    labels, scores = call("TreeEnsembleClassifier", ROWS, outputs=2, **TREE, **votes,
                          classlabels_strings=["a", "b", "c"])
    assert texts(labels) == ["a", "b", "c", "c"]
    close(scores, np.eye(3)[[0, 1, 2, 2]])
    votes.update(class_ids=[0, 0, 0], class_weights=[-1.0, 2.0, 0.0])
    labels, scores = call("TreeEnsembleClassifier", ROWS, outputs=2, **TREE, **votes,
                          classlabels_int64s=[5, 6], post_transform="LOGISTIC")
    assert labels.tolist() == [5, 6, 5, 5]
    close(scores[:, 1], sigmoid(np.array([-1, 2, 0, 0.0])))


def test_classes_with_equal_votes_are_a_tie():
    """0.2 + 0.6 is 0.8 in f32, as where one tree gives 0.8; the first class wins. The double is
    larger."""
    trees = {key: value * 3 for key, value in TREE.items()}
    trees["nodes_treeids"] = [0] * 5 + [1] * 5 + [2] * 5
    weights = [float(np.float32(weight)) for weight in (0.8, 0.2, 0.6)]
    assert np.float32(weights[1]) + np.float32(weights[2]) == np.float32(weights[0])
    assert weights[1] + weights[2] > weights[0]
    votes = dict(class_treeids=[0, 1, 2] * 3, class_nodeids=[2] * 3 + [3] * 3 + [4] * 3,
                 class_ids=[0, 1, 1] * 3, class_weights=weights * 3)
    labels, scores = call("TreeEnsembleClassifier", ROWS, outputs=2, **trees, **votes,
                          classlabels_int64s=[5, 6, 7])
    assert labels.tolist() == [5] * len(ROWS)
    close(scores[:, 0], scores[:, 1])


def test_tree_errors():
    votes = dict(target_treeids=[0], target_nodeids=[2], target_ids=[0], target_weights=[1.0],
                 n_targets=1)
    with pytest.raises(KernelError, match="feature 1 of 1"):
        call("TreeEnsembleRegressor", ROWS[:, :1], **TREE, **votes)
    with pytest.raises(KernelError, match="is not there"):
        call("TreeEnsembleRegressor", ROWS, **{**TREE, "nodes_truenodeids": [1, 9, 0, 0, 0]},
             **votes)
    with pytest.raises(KernelError, match="target 3 of 1"):
        call("TreeEnsembleRegressor", ROWS, **TREE, **{**votes, "target_ids": [3]})
    with pytest.raises(KernelError, match="different lengths"):
        call("TreeEnsembleRegressor", ROWS, **{**TREE, "nodes_values": [1.0]}, **votes)
    circle = dict(TREE, nodes_truenodeids=[1, 1, 0, 0, 0])
    with pytest.raises(KernelError, match="lead to themselves"):
        call("TreeEnsembleRegressor", ROWS, **circle, **votes)


def test_tree_ensemble():
    got, = call("TreeEnsemble", ROWS.astype("f8"), n_targets=2, tree_roots=[0],
                nodes_featureids=[0, 1], nodes_splits=np.array([.5, 0.0]),
                nodes_modes=np.array([0, 6], np.uint8), membership_values=np.array([-1, 7, NAN]),
                nodes_truenodeids=[1, 0], nodes_falsenodeids=[2, 1], nodes_trueleafs=[0, 1],
                nodes_falseleafs=[1, 1], leaf_targetids=[0, 1, 0],
                leaf_weights=np.array([1.0, 2.0, 4.0]))
    assert got.dtype == np.float64
    close(got, [[1, 0], [0, 2], [4, 0], [4, 0]])


def test_label_encoder():
    def encode(data, **attributes):
        return call("LabelEncoder", data, **attributes)[0]
    words = strings("a", "b", "?", "a")
    keys = dict(keys_strings=["a", "b"])
    assert encode(words, **keys, values_int64s=[4, 5]).tolist() == [4, 5, -1, 4]
    assert encode(words, **keys, values_floats=[.5, 1.5], default_float=9.0).tolist() == [
        .5, 1.5, 9, .5]
    got = encode(words, **keys, values_tensor=np.array([4, 5], np.int16),
                 default_tensor=np.array([8], np.int16))
    assert got.dtype == np.int16 and got.tolist() == [4, 5, 8, 4]
    assert texts(encode(np.array([1, 2]), keys_int64s=[1], values_strings=["x"])) == [
        "x", "_Unused"]
    assert encode(np.array([NAN, -0.0, 2], np.float32), keys_floats=[NAN, 0.0],
                  values_int64s=[1, 2]).tolist() == [1, 2, -1]
    assert encode(np.array([1, 2]), keys_int64s=[1, 1], values_int64s=[5, 6]).tolist() == [6, -1]
    assert encode(words, classes_strings=["b", "a"]).tolist() == [1, 0, -1, 1]
    # Two of these share a byte; the last was written behind the output.
    halves = Raw(22, np.array([0x21], np.uint8), (2,))
    with pytest.raises(KernelError, match="element type 22"):
        encode(words, **keys, values_tensor=halves, default_tensor=Raw(22, np.array([3], np.uint8), (1,)))
    with pytest.raises(KernelError, match="element type 22"):
        call("DictVectorizer", Map(strings("a", "b"), halves), string_vocabulary=["a", "b"])
    assert texts(encode(np.array([0, 3]), classes_strings=["b", "a"])) == ["b", "_Unused"]
    with pytest.raises(KernelError, match="2 keys for 1 values"):
        encode(words, **keys, values_int64s=[4])
    with pytest.raises(KernelError, match="element type"):
        encode(np.array([1]), **keys, values_int64s=[4, 5])


def test_category_mapper():
    cats = dict(cats_strings=["a", "b"], cats_int64s=[10, 20])
    assert call("CategoryMapper", strings("b", "c"), default_int64=7, **cats)[0].tolist() == [20, 7]
    assert texts(call("CategoryMapper", np.array([[10, 0]]), default_string="?", **cats)[0]) == [
        "a", "?"]


def test_maps():
    zipped, = call("ZipMap", X[:2], classlabels_strings=["a", "b", "c"])
    assert [texts(m.keys) for m in zipped] == [["a", "b", "c"]] * 2
    np.testing.assert_array_equal([m.values for m in zipped], X[:2])
    assert call("ZipMap", X[:0], classlabels_int64s=[1, 2, 3])[0] == []
    with pytest.raises(KernelError, match="2 labels"):
        call("ZipMap", X, classlabels_int64s=[1, 2])
    counts = Map(strings("c", "a"), np.array([8, 4], np.int64))
    assert call("DictVectorizer", counts, string_vocabulary=["a", "c", "b"])[0].tolist() == [
        [4, 8, 0]]
    reals = Map(np.array([3, 1]), np.array([.5, 2], np.float32))
    assert call("CastMap", reals)[0].tolist() == [[2, .5]]
    assert call("CastMap", reals, cast_to="TO_INT64", map_form="SPARSE", max_map=5)[0].tolist() == [
        [0, 2, 0, 0, 0]]
    assert texts(call("CastMap", reals, cast_to="TO_STRING")[0]) == ["2.0", "0.5"]
    assert call("CastMap", Map(np.array([0]), strings("1e2")))[0].tolist() == [[100]]
    with pytest.raises(KernelError, match="is no number"):
        call("CastMap", Map(np.array([0]), strings("x")))
    with pytest.raises(KernelError, match="key 3 is outside"):
        call("CastMap", reals, map_form="SPARSE", max_map=2)


def test_features():
    close(call("Scaler", X, offset=[1.0, 0.0, -1.0], scale=[2.0, 1.0, .5])[0],
          (X - [1, 0, -1]) * [2, 1, .5])
    assert call("Binarizer", X, threshold=.5)[0].tolist() == (X > .5).tolist()
    close(call("Normalizer", X, norm="L1")[0],
          X / np.maximum(np.abs(X).sum(1, keepdims=True), 1e-30))
    close(call("Normalizer", X[0], norm="L2")[0], X[0] / np.linalg.norm(X[0]))
    close(call("Normalizer", X)[0], X / np.where(X.max(1) == 0, 1, X.max(1))[:, None])
    holes = np.array([[NAN, 1], [2, NAN]], np.float32)
    assert call("Imputer", holes, imputed_value_floats=[7.0, 8.0],
                replaced_value_float=NAN)[0].tolist() == [[7, 1], [2, 8]]
    wide = np.arange(60, dtype="f4").reshape(3, 20)
    wide[1, 5] = np.nan
    got, = call("Imputer", wide, imputed_value_floats=[float(i) for i in range(20)], replaced_value_float=NAN)
    np.testing.assert_array_equal(got, np.where(np.isnan(wide), np.arange(20, dtype="f4"), wide))
    close(call("Scaler", wide[:1], offset=[float(i) for i in range(20)], scale=[2.0])[0], np.zeros((1, 20)))
    close(call("Normalizer", wide[:1], norm="L2")[0], wide[:1] / np.linalg.norm(wide[:1]))
    assert call("Scaler", wide[:0], offset=[1.0], scale=[2.0])[0].shape == (0, 20)
    # Rows that are not there may be of any width: no factor of theirs is made.
    assert call("Scaler", np.zeros((0, 1 << 30), "f4"), offset=[1.0], scale=[2.0])[0].shape == (0, 1 << 30)
    assert call("Imputer", np.array([[1, 2]]), imputed_value_int64s=[5],
                replaced_value_int64=2)[0].tolist() == [[1, 5]]
    assert call("OneHotEncoder", strings("b", "z"), cats_strings=["a", "b"])[0].tolist() == [
        [0, 1], [0, 0]]
    with pytest.raises(KernelError, match="element 1 is no category"):
        call("OneHotEncoder", np.array([1, 9]), cats_int64s=[1], zeros=0)
    assert call("FeatureVectorizer", X, X[:, :1], inputdimensions=[3, 1])[0].tolist() == np.hstack(
        [X, X[:, :1]]).tolist()
    picked, = call("ArrayFeatureExtractor", strings("a", "b", "c"), np.array([2, 0]))
    assert picked.shape == (1, 2) and texts(picked) == ["c", "a"]
    assert call("ArrayFeatureExtractor", X, np.array([[2, 0]]))[0].tolist() == X[:, [2, 0]].tolist()
    with pytest.raises(KernelError, match="index 0 is 3 of 3"):
        call("ArrayFeatureExtractor", X, np.array([3]))
