#!/usr/bin/env python3
#===-- make_matrix_networks.py - systems of equations, sets, boxes -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More networks of make_networks.py, which says what is written.

    make_matrix_networks.py folder/name ...
"""
import make_networks
import numpy as np
import tensorflow as tf
from make_networks import network, values


@network(values(2, 4, 4) + 3 * np.eye(4, dtype="f4"), values(2, 4, 3), folder="matrices",
         shapes=[(None, 4, 4), (None, 4, 3)])
def systems_of_equations():
    def run(matrix, right):
        # Least squares need a known number of rows and columns.
        matrix, right, linalg = tf.reshape(matrix, [-1, 4, 4]), tf.reshape(right, [-1, 4, 3]), tf.linalg
        parts, order = linalg.lu(matrix)
        product = tf.matmul(matrix, matrix, transpose_b=True)
        diagonals = [right[..., 0], right[..., 1] + 4, right[..., 2]]
        swapped = tf.stack([right[..., 0], right[..., 1] * 0.1, right[..., 2]], 1)
        return [parts, order, linalg.lu_solve(parts, order, right), linalg.sqrtm(product),
                linalg.lstsq(matrix, right, l2_regularizer=0.1), linalg.lstsq(matrix[:, :, :3], right, fast=False),
                linalg.lstsq(matrix[:, :3], right[:, :3]),
                linalg.tridiagonal_matmul(tuple(diagonals), right, "sequence"),
                linalg.tridiagonal_solve(tf.stack(diagonals, 1), right),
                linalg.tridiagonal_solve(swapped, right),
                linalg.tridiagonal_solve(tf.stack(diagonals, 1), right, partial_pivoting=False)]
    return run


@network(np.array([[[1, 2, 2], [0, -3, 7]], [[4, 4, 4], [9, 0, 1]]], "i4"),
         np.array([[[2, 5], [7, 7]], [[1, 3], [0, 9]]], "i4"), folder="matrices",
         shapes=[(None, None, None), (None, None, None)])
def sets_of_rows_dynamic():
    def run(a, b):
        sparse, other = tf.sparse.from_dense(a), tf.sparse.from_dense(b)
        results = [operation(x, y) for x, y in [(a, b), (a, other), (sparse, other)]
                   for operation in (tf.sets.union, tf.sets.intersection, tf.sets.difference)]
        results.append(tf.sets.difference(a, b, aminusb=False))
        outputs = [part for result in results for part in (result.indices, result.values, result.dense_shape)]
        halves = tf.sparse.map_values(lambda v: tf.cast(v, tf.float32) * 0.5, sparse)
        return [*outputs, tf.sets.size(sparse), tf.edit_distance(sparse, other),
                tf.edit_distance(other, sparse, normalize=False), tf.sparse.reduce_max(halves, 2),
                tf.sparse.reduce_max(sparse, [0, -1], keepdims=True), tf.sparse.reduce_max(halves)]
    return run


@network(np.random.default_rng(4).random((2, 7, 9, 3), np.float32),
         np.array([[[0.1, 0.2, 0.6, 0.7], [0, 0, 0.99, 0.99], [-0.5, 0.3, 0.4, 1.4]],
                   [[0.5, 0.5, 0.4, 0.9], [0.3, 0.3, 0.8, 0.6], [0.3, 0.3, 0.8, 0.6]]], "f4"),
         folder="matrices", shapes=[(None, None, None, 3), (None, None, 4)])
def drawn_boxes_dynamic():
    def run(images, boxes):
        colors = tf.constant([[1.0, 0, 0], [0, 0.5, 2]])
        overlaps = tf.abs(tf.matmul(boxes[1], boxes[0], transpose_b=True))
        return [tf.image.draw_bounding_boxes(images, boxes, colors), tf.raw_ops.DrawBoundingBoxes(
                    images=images, boxes=boxes),
                tf.raw_ops.DrawBoundingBoxes(images=images[..., :1], boxes=boxes),
                tf.image.draw_bounding_boxes(images, boxes[:, :0], colors),
                tf.image.non_max_suppression_overlaps(overlaps, boxes[0, :, 0], 2, 0.3, 0.0),
                tf.image.non_max_suppression_overlaps(overlaps, boxes[0, :, 1], 3, 0.9)]
    return run


@network(np.random.default_rng(5).random((2, 5, 6, 4), np.float32),
         np.array([[[0.1, 0.2, 0.6, 0.7], [0.3, 0.3, 0.8, 0.6]], [[0, 0, 0.99, 0.99], [0.5, 0.5, 0.6, 0.9]]], "f4"),
         np.random.default_rng(6).random((3, 5), np.float32), folder="matrices",
         shapes=[(None, None, None, 4), (None, None, 4), (None, None)])
def colors_of_boxes_dynamic():
    def run(images, boxes, colors):
        # The colors of the model, more of their channels than the images have, and no colors.
        return [tf.image.draw_bounding_boxes(part, boxes, rows)
                for part in (images[..., :1], images[..., :3], images) for rows in (colors, colors[:0])]
    return run


def random_matrix(*shape):
    return np.random.default_rng(7).standard_normal(shape)


@network(np.stack([np.diag([4., 0, 9]), -np.eye(3), 1e200 * np.eye(3),
                   [[4, 1, 0], [0, 4, 1], [0, 0, 4]], [[4, 1e-9, 0], [0, 4, 1], [0, 0, -4]]]),
         np.vander(np.linspace(0, 1, 12), 9), random_matrix(12, 2), random_matrix(4, 1) @ np.ones((1, 3)),
         np.array([[[2, 1, 0], [5, 6, 3], [0, 4, 1]], [[0, 0, 0]] * 3], "f4"), values(2, 3, 2),
         np.array([[1, 2, np.nan]], "f4"), np.array([[np.inf, 2, 1]], "f4"), folder="matrices")
def singular_matrices():
    def run(squares, powers, right, dependent, diagonals, rows, above, below):
        # Least squares need a known number of rows and columns.
        linalg, powers, dependent = tf.linalg, tf.reshape(powers, [12, 9]), tf.reshape(dependent, [4, 3])
        return [linalg.sqrtm(squares), linalg.lstsq(powers, right, fast=False),
                linalg.lstsq(dependent, right[:4], fast=False),
                linalg.lstsq(tf.transpose(dependent), right[:3], fast=False),
                tf.raw_ops.TridiagonalSolve(diagonals=diagonals, rhs=rows),
                tf.raw_ops.TridiagonalMatMul(superdiag=above, maindiag=rows[0, :, 0][None], subdiag=below, rhs=rows[0])]
    return run


@network(np.arange(80, dtype="i4").reshape(2, 40), folder="matrices", shapes=[(None, None)])
def records_of_many_columns_dynamic():
    def run(numbers):
        records = tf.strings.reduce_join(tf.strings.as_string(numbers), axis=1, separator=",")
        picked = [i for i in range(40) if i % 7]
        return [tf.stack(tf.io.decode_csv(records, [tf.constant([1.])] * 40)),
                tf.stack(tf.io.decode_csv(records, [tf.constant([1])] * len(picked), select_cols=picked))]
    return run


@network(np.array([[0, 0], [0, 2], [2, 1]], "i8"), np.array([3, 1, 2], "i4"), folder="matrices",
         shapes=[(None, 2), (None,)])
def sets_by_indices_dynamic():
    def run(indices, values):
        shape, other = tf.constant([3, 4], tf.int64), tf.sparse.from_dense([[1, 3, 0, 0], [2, 0, 0, 0], [0, 2, 2, 0]])
        raw, wide = tf.raw_ops, tf.cast(values, tf.uint64)
        return [part for operation in ("UNION", "A-B")
                for part in raw.SparseToSparseSetOperation(
                    set1_indices=indices, set1_values=values, set1_shape=shape, set2_indices=other.indices,
                    set2_values=other.values, set2_shape=other.dense_shape, set_operation=operation)] + [
                raw.EditDistance(hypothesis_indices=indices, hypothesis_values=wide, hypothesis_shape=shape,
                                 truth_indices=other.indices, truth_values=tf.cast(other.values, tf.uint64),
                                 truth_shape=other.dense_shape)]
    return run


@network(np.array([[0.1, 0.9, 2.5], [7, 24, 31]], "f4"), np.array([[-1, 0, 7], [255, -128, 1 << 30]], "i4"),
         np.arange(120, dtype="f4").reshape(1, 3, 4, 5, 2), folder="matrices",
         shapes=[(None, None), (None, None), (1, 3, 4, 5, 2)])
def functions_and_bits_dynamic():
    def run(x, numbers, volume):
        special, raw, ends = tf.math.special, tf.raw_ops, x[:, ::-1] - 0.9
        functions = [special.bessel_j0, special.bessel_j1, special.bessel_y0, special.bessel_y1, special.bessel_k0,
                     special.bessel_k0e, special.bessel_k1, special.bessel_k1e, special.dawsn,
                     special.fresnel_cos, special.fresnel_sin, special.spence]
        near = tf.math.nextafter(tf.concat([x, ends, -ends], 0), tf.concat([ends, x, ends * 0], 0))
        wide = tf.math.nextafter(tf.cast(ends, tf.float64), tf.constant(0, tf.float64))
        return [*[function(x) for function in functions], tf.math.log(special.expint(x + 0.5)),
                tf.bitcast(near, tf.int32), tf.bitcast(wide, tf.int64), raw.PopulationCount(x=numbers),
                raw.PopulationCount(x=tf.cast(numbers, tf.int8)), raw.PopulationCount(x=tf.cast(numbers, tf.uint64)),
                raw.ExtractVolumePatches(input=volume, ksizes=[1, 2, 2, 3, 1], strides=[1, 1, 2, 2, 1], padding="SAME"),
                raw.ExtractVolumePatches(input=volume, ksizes=[1, 3, 1, 2, 1], strides=[1, 1, 1, 1, 1],
                                         padding="VALID")]
    return run


@network(values(2, 4, 4), np.array([2, 0, 1], "i4"), folder="matrices", shapes=[(None, None, None), (None,)])
def dynamic_orders_and_diagonals():
    def run(matrix, order):
        linalg, some = tf.linalg, linalg_part(matrix)
        parts, rows = linalg.lu(matrix + 3 * tf.eye(4))
        unique = tf.raw_ops.UniqueWithCountsV2(x=tf.cast(matrix[0] > 0, tf.int32), axis=[0])
        return [tf.transpose(matrix, order), tf.norm(matrix, 2, axis=[-2, -1]), linalg.diag(some, k=(-1, 1)),
                linalg.lu_matrix_inverse(parts, rows), linalg.tensor_diag(matrix[0]), unique.y, unique.idx,
                unique.count]

    def linalg_part(matrix):
        return tf.linalg.diag_part(matrix, k=(-1, 1))
    return run


@network(values(2, 3, 4, 6), folder="matrices", shapes=[(None, None, None, None)])
def spectra_of_dynamic_axes():
    def run(x):
        signal = tf.signal
        return [tf.abs(signal.rfft2d(x)), signal.irfft2d(signal.rfft2d(x)), tf.abs(signal.rfft3d(x)),
                signal.irfft3d(signal.rfft3d(x)), tf.abs(signal.rfft(x, [8])), signal.irfft(signal.rfft(x), [7])]
    return run


if __name__ == "__main__":
    make_networks.main()
