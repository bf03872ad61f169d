#!/usr/bin/env python3
#===-- make_sparse_networks.py - sparse and ragged tensors, and decompositions -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More networks of make_networks.py, which says what is written.

    make_sparse_networks.py folder/name ...
"""
import make_networks
import numpy as np
import tensorflow as tf
from make_networks import network, values


@network(values(4, 3), np.array([[1, 0, 4], [0, 0, 0], [9, 2, 0]], "i8"), folder="numbers",
         shapes=[(None, 3), (None, None)])
def sparse_and_ragged():
    table = values(10, 3)

    def run(rows, ids):
        sparse, ragged = tf.sparse.from_dense(ids), tf.RaggedTensor
        halves = tf.sparse.map_values(lambda v: tf.cast(v, tf.float32) * 0.5, sparse)
        filled, empty = tf.sparse.fill_empty_rows(sparse, 7)
        scores = tf.reshape(tf.concat([rows, rows * -2, rows[::-1]], 0), [4, 3, 3])
        labels, _ = tf.nn.ctc_greedy_decoder(scores, [4, 2, 3])
        kept, sums = tf.nn.ctc_greedy_decoder(scores, [4, 2, 3], merge_repeated=False, blank_index=0)
        splits = tf.constant([0, 2, 2, 4], tf.int64)
        return [*[tf.nn.safe_embedding_lookup_sparse(table, sparse, combiner=combiner)
                  for combiner in ("sum", "mean", "sqrtn")],
                tf.nn.safe_embedding_lookup_sparse(table, sparse, halves, combiner="mean"),
                tf.sparse.sparse_dense_matmul(halves, rows[:3]),
                tf.sparse.sparse_dense_matmul(halves, rows, adjoint_a=True, adjoint_b=True),
                tf.sparse.to_dense(tf.sparse.reshape(sparse, [-1, 9])), filled.indices, filled.values, empty,
                tf.sparse.segment_sum(rows, [0, 2, 1], [0, 0, 2], num_segments=5),
                labels[0].indices, labels[0].values, labels[0].dense_shape, kept[0].values, sums,
                ragged.from_row_splits(rows, splits).to_tensor(-1.0),
                ragged.from_row_splits(rows[:, 0], splits).to_tensor(-1.0, shape=[3, 4]),
                ragged.from_nested_row_splits(rows[:, 0], [[0, 2, 3], splits]).to_tensor(5.0),
                ragged.from_value_rowids(rows, [0, 0, 2, 2], nrows=tf.constant(4, tf.int64)).to_tensor(),
                tf.math.bincount(ragged.from_row_splits(tf.cast(tf.abs(rows[:, 0]) * 3, tf.int32), splits),
                                 minlength=4, maxlength=4, axis=-1),
                tf.linalg.tensor_diag_part(tf.tensordot(rows, rows, [[0], [0]]))]
    return run


@network(values(2, 4, 3), folder="numbers", shapes=[(None, 4, 3)])
def orthogonal_matrices():
    def run(value):
        symmetric = tf.matmul(value, value, transpose_a=True)
        e, v = tf.linalg.eigh(symmetric)
        q, r = tf.linalg.qr(value)
        full, _ = tf.linalg.qr(value, full_matrices=True)
        return [e, tf.abs(v), tf.linalg.eigvalsh(symmetric), q, r, tf.abs(full[..., :3])]
    return run


@network(np.array([[0, 3, 0, -2, 1], [0, 0, 0, 0, 0], [4, -1, 0, 0, -5]], "f4"), folder="numbers",
         shapes=[(None, None)])
def sparse_parts_dynamic():
    def run(rows):
        sparse = tf.sparse.from_dense(rows)
        results = tf.sparse.split(sparse, 3, 1) + tf.sparse.split(sparse, 2, 0)
        for reduce in (tf.raw_ops.SparseReduceSumSparse, tf.raw_ops.SparseReduceMaxSparse):
            for axes, keeps in (([1], False), ([-2], True)):
                made = reduce(input_indices=sparse.indices, input_values=sparse.values, input_shape=sparse.dense_shape,
                              reduction_axes=axes, keep_dims=keeps)
                results.append(tf.SparseTensor(*made))
        return [part for result in results for part in (result.indices, result.values, result.dense_shape)]
    return run


if __name__ == "__main__":
    make_networks.main()
