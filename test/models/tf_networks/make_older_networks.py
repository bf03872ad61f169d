#!/usr/bin/env python3
#===-- make_older_networks.py - older and fused operators, and more of sparse tensors ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More networks of make_networks.py, which says what is written.

    make_older_networks.py folder/name ...
"""
import make_networks
import numpy as np
import tensorflow as tf
from make_networks import network, values
from tensorflow.core.framework.attr_value_pb2 import AttrValue

RAW = tf.raw_ops


@network(values(2, 6, 6, 3), values(5, 4), folder="older",
         shapes=[(None, 6, 6, 3), (None, 4)])
def older_forms():
    weights = values(4, 4)

    def run(image, rows):
        return [RAW.GuaranteeConst(input=rows) + 1, RAW.Print(input=rows, data=[image]),
                RAW.CheckNumericsV2(tensor=rows, message="x"), RAW.DeepCopy(x=rows),
                RAW.SpaceToBatch(input=image, paddings=[[1, 1], [0, 2]], block_size=2),
                RAW.BatchToSpace(input=tf.concat([image, image], 0), crops=[[1, 0], [0, 3]], block_size=2),
                RAW.MaxPoolV2(input=image, ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding="SAME"),
                RAW.InplaceUpdate(x=rows + 1, i=[2, 0], v=rows[:2] * 3), RAW.InplaceAdd(x=rows + 2, i=[1], v=rows[:1]),
                RAW.InplaceSub(x=rows + 3, i=[1, 2], v=rows[:2]),
                RAW.ApproximateEqual(x=rows, y=rows * 1.001, tolerance=1e-3),
                RAW.ConjugateTranspose(x=rows, perm=[1, 0]),
                tf.abs(RAW.ConjugateTranspose(x=tf.complex(rows, rows * 2), perm=[1, 0])),
                RAW.ScatterNdNonAliasingAdd(input=rows, indices=[[1], [1]], updates=rows[:2]),
                RAW.SparseMatMul(a=rows, b=weights, transpose_b=True),
                RAW.TensorScatterMax(tensor=rows, indices=[[1], [0]], updates=rows[:2] * 2),
                RAW.TensorScatterMin(tensor=rows, indices=[[1], [0]], updates=rows[:2] * 2),
                RAW.SparseToDense(sparse_indices=[[0, 2], [3, 1]], output_shape=[4, 3],
                                  sparse_values=rows[0, :2], default_value=rows[1, 1])]
    return run


@network(values(3, 2, 3), values(2, 4), folder="older")
def fused_steps():
    gates, peepholes, bias = values(7, 16), values(3, 4), values(16)

    def run(steps, hidden):
        block = {"seq_len_max": tf.constant(2, tf.int64), "x": steps, "cs_prev": hidden * 2, "h_prev": hidden, "w": gates,
                 "wci": peepholes[0], "wcf": peepholes[1], "wco": peepholes[2], "b": bias, "use_peephole": True}
        return [x for made in (RAW.BlockLSTMV2(**block), RAW.BlockLSTM(**block, forget_bias=0.5, cell_clip=0.25),
                               RAW.BlockLSTMV2(**block, cell_clip=0.25)) for x in (made.cs, made.h)]
    return run


@network(values(2, 4, 5, 6), values(5, 4), folder="older", shapes=[(2, None, 5, 6), (None, 4)])
def reversed_and_resized():
    filters = values(3, 3, 2, 3)

    def run(image, rows):
        def listed(tensor):
            return RAW.TensorListFromTensor(tensor=tensor, element_shape=[4])

        def stacked(handle):
            return RAW.TensorListStack(input_handle=handle, element_shape=[4], element_dtype=tf.float32)

        def grown():
            """How older versions write a TensorArray of dynamic size."""
            def body(i, handle):
                length = RAW.TensorListLength(input_handle=handle)
                handle = tf.cond(i >= length, lambda: RAW.TensorListResize(input_handle=handle, size=i + 1), lambda: handle)
                return i + 1, RAW.TensorListSetItem(input_handle=handle, index=i, item=rows[i] * 2)

            handle = RAW.TensorListReserve(element_shape=[4], num_elements=0, element_dtype=tf.float32)
            return tf.while_loop(lambda i, _: i < tf.shape(rows)[0], body, [0, handle])[1]

        last = RAW.TensorListResize(input_handle=listed(rows), size=tf.shape(rows)[0] - 2)
        more = RAW.TensorListResize(input_handle=listed(rows), size=7)
        into = RAW.TensorListScatterIntoExistingList(input_handle=listed(rows * 2), tensor=rows[:2], indices=[3, 1])
        return [RAW.Reverse(tensor=image, dims=[False, True, False, True]), RAW.Reverse(tensor=rows, dims=[False, False]),
                RAW.DepthwiseConv2dNativeBackpropInput(input_sizes=[2, 8, 10, 2], filter=filters, out_backprop=image[:, :4],
                                                       strides=[1, 2, 2, 1], padding="SAME"),
                stacked(grown()), stacked(last), stacked(more), stacked(into),
                stacked(RAW.TensorListConcatLists(input_a=listed(rows), input_b=listed(rows * 3),
                                                  element_dtype=tf.float32))]
    return run


def fused(op, inputs, **attributes):
    """An operator that only optimizers make, which has no function."""
    inputs = [tf.convert_to_tensor(x) for x in inputs]
    extra = {"T": tf.float32, "num_args": len(inputs) - 2}
    if op == "_FusedConv2D":
        extra |= {"TArgs": [tf.float32] * (len(inputs) - 2), "num_host_args": 0}
    graph = tf.compat.v1.get_default_graph()
    values = {k: AttrValue() for k in {**attributes, **extra}}
    for name, value in {**attributes, **extra}.items():
        stored = values[name]
        if isinstance(value, bool):
            stored.b = value
        elif isinstance(value, int):
            stored.i = value
        elif isinstance(value, float):
            stored.f = value
        elif isinstance(value, tf.DType):
            stored.type = value.as_datatype_enum
        elif isinstance(value, str):
            stored.s = value.encode()
        elif value and isinstance(value[0], str):
            stored.list.s.extend(v.encode() for v in value)
        elif isinstance(value[0], tf.DType):
            stored.list.type.extend(v.as_datatype_enum for v in value)
        else:
            stored.list.i.extend(value)
    return graph.create_op(op, inputs, attrs=values, name="fused").outputs[0]


@network(values(2, 6, 6, 3), folder="older", shapes=[(None, 6, 6, 3)])
def fused_by_optimizers():
    filters, bias, matrix = values(3, 3, 3, 4), values(4), values(18, 4)
    norm = [values(4) + 2, values(4), values(4) * 0.1, np.abs(values(4)) + 0.5]
    depthwise, wide = values(2, 2, 3, 2), values(6)

    def run(image):
        # TensorFlow's own kernels of padded convolutions are wrong from the second image on.
        first = image[:1]
        window = {"strides": [1, 1, 1, 1], "padding": "VALID"}
        return [RAW.FusedPadConv2D(input=first, paddings=[[0, 0], [1, 1], [2, 1], [0, 0]], filter=filters,
                                   mode="REFLECT", **window),
                RAW.FusedPadConv2D(input=first, paddings=[[0, 0], [1, 1], [2, 1], [0, 0]], filter=filters,
                                   mode="SYMMETRIC", strides=[1, 2, 2, 1], padding="SAME"),
                RAW.FusedResizeAndPadConv2D(input=first, size=[9, 8], filter=filters, mode="REFLECT",
                                            paddings=[[0, 0], [1, 0], [0, 1], [0, 0]], **window),
                RAW.FusedResizeAndPadConv2D(input=first, size=[4, 11], filter=filters, mode="REFLECT",
                                            paddings=[[0, 0], [0, 0], [1, 1], [0, 0]], resize_align_corners=True,
                                            **window),
                *[fused("_FusedConv2D", [image, filters, bias], fused_ops=["BiasAdd", *ops], **window,
                        leakyrelu_alpha=0.3) for ops in ([], ["Relu"], ["Relu6"], ["Elu"], ["LeakyRelu"])],
                *[fused("_FusedConv2D", [image, filters, *norm], fused_ops=["FusedBatchNorm", *ops], **window,
                        epsilon=0.01) for ops in ([], ["Relu"])],
                fused("_FusedConv2D", [image, filters, bias], fused_ops=["BiasAdd", "Relu"], padding="SAME",
                      strides=[1, 2, 2, 1], dilations=[1, 1, 1, 1]),
                fused("_FusedDepthwiseConv2dNative", [image, depthwise, wide], fused_ops=["BiasAdd", "Relu6"],
                      **window),
                *[fused("_FusedMatMul", [tf.reshape(image, [-1, 18]), matrix, bias], fused_ops=["BiasAdd", *ops])
                  for ops in ([], ["Relu"], ["Tanh"], ["Sigmoid"])]]
    return run


@network(values(4, 3), np.array([[1, 0, 4], [0, 0, 0], [9, 2, 0]], "i8"), folder="numbers",
         shapes=[(None, 3), (None, None)])
def sparse_algebra():
    def run(rows, ids):
        sparse, place = tf.sparse.from_dense(ids), tf.sparse.from_dense(rows)
        back = tf.SparseTensor(place.indices[::-1], place.values[::-1], place.dense_shape)
        ordered = tf.sparse.reorder(back)
        joined = tf.sparse.concat(1, [place, ordered, tf.sparse.from_dense(rows[:, :2])])
        below = tf.sparse.concat(0, [sparse, sparse])
        part = tf.sparse.slice(joined, [1, 2], [2, 4])
        beyond = tf.sparse.slice(joined, [3, 5], [9, 9])
        soft = tf.sparse.softmax(tf.SparseTensor(joined.indices, joined.values * 30, joined.dense_shape))
        dense = {"sp_indices": place.indices, "sp_values": place.values, "sp_shape": place.dense_shape}
        return [*[x for t in (ordered, joined, below, part, beyond) for x in (t.indices, t.values, t.dense_shape)],
                soft.values, tf.sparse.reduce_sum(joined, 1), tf.sparse.reduce_sum(joined, 0, keepdims=True),
                tf.sparse.reduce_sum(joined), tf.sparse.reduce_sum(sparse, [-1, 0]),
                RAW.SparseDenseCwiseMul(dense=rows[0], **dense), RAW.SparseDenseCwiseAdd(dense=rows, **dense),
                RAW.SparseDenseCwiseDiv(dense=rows[:, :1], **dense)]
    return run


@network(values(7), np.array([3, 0, 2, 0], "i8"), np.array([1, 7, 4], "i4"), folder="numbers",
         shapes=[(None,), (None,), (None,)])
def ragged_parts():
    def run(flat, lengths, limits):
        inner = tf.RaggedTensor.from_row_lengths(flat[:5], lengths)
        outer = tf.RaggedTensor.from_row_splits(inner, tf.constant([0, 2, 2, 4], tf.int64))
        taken, deep = tf.gather(inner, [2, 0, 0, 1]), tf.gather(outer, [2, 0, 2])
        sparse, deeper = inner.to_sparse(), outer.to_sparse()
        ranges = [tf.ragged.range(limits), tf.ragged.range(limits, limits + 5, 2),
                  tf.ragged.range(limits, limits - 5, -3), tf.ragged.range(limits, 0),
                  tf.ragged.range(flat, flat + 2.1, 0.5)]
        return [taken.values, taken.row_splits, deep.flat_values, *deep.nested_row_splits,
                *[x for t in (sparse, deeper) for x in (t.indices, t.values, t.dense_shape)],
                *[x for t in ranges for x in (t.values, t.row_splits)],
                RAW.UnravelIndex(indices=limits, dims=tf.constant([3, 4])),
                RAW.UnravelIndex(indices=limits[1], dims=tf.constant([2, 2, 4])),
                RAW.DataFormatDimMap(x=tf.constant([0, 1, -1, 2]) + limits[0] * 0)]
    return run


@network(np.abs(values(30, 4)), np.abs(values(30)), folder="older", shapes=[(None, 4), (None,)])
def soft_suppression():
    def run(corners, scores):
        boxes = tf.concat([corners[:, :2], corners[:, :2] + corners[:, 2:]], 1)

        def suppressed(sigma, most, overlap, least, pads=False):
            return RAW.NonMaxSuppressionV5(boxes=boxes, scores=scores, max_output_size=most, iou_threshold=overlap,
                                           score_threshold=least, soft_nms_sigma=sigma, pad_to_max_output_size=pads)
        return [*suppressed(0.5, 12, 0.5, 0.1), *suppressed(0.1, 30, 0.3, 0.2), *suppressed(1.0, 40, 1.0, 0.0, True),
                *suppressed(0.0, 12, 0.4, 0.3), *suppressed(0.2, 5, 0.5, 9.0)]
    return run


@network(np.concatenate([values(40) * 3, [0, 0, -4, 4, 0, 0, 1e-6, 20, -20]]).astype("f4"),
         np.concatenate([values(40)[::-1] * 2, [0, 2, 0, 0, -3, 1.5708, 1e-7, 1, -1]]).astype("f4"),
         folder="numbers", shapes=[(None,), (None,)])
def complex_functions():
    def run(re, im):
        value = tf.complex(re, im)
        made = [tf.sqrt(value), tf.math.log(value + 0.001), tf.sigmoid(value), tf.tanh(value),
                tf.math.reciprocal(value + 0.5)]
        return [part for x in made for part in (tf.math.real(x), tf.math.imag(x))]
    return run


if __name__ == "__main__":
    make_networks.main()
