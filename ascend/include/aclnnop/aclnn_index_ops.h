/*===-- aclnnop/aclnn_index_ops.h - indices, shapes, parts of tensors -------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclnn_ops.h includes it, and says how its functions are called.
 */
#ifndef OPENATC_ACLNNOP_ACLNN_INDEX_OPS_H
#define OPENATC_ACLNNOP_ACLNN_INDEX_OPS_H

#include "aclnnop/aclnn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- indices ---------------------------------------------------------------- */

/* Slices of a dim that `index` names; the output has the dims of `index` in its place. */
OPENATC_ACLNN(GatherV2, const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out)
/* An element of `self` for each of `index`, which is its position on the dim. */
OPENATC_ACLNN(Gather, const aclTensor *self, const int64_t dim, const aclTensor *index,
              aclTensor *out)
/* `reduce` is 0 to replace, 1 to add, 2 to multiply. */
OPENATC_ACLNN(Scatter, const aclTensor *self, int64_t dim, const aclTensor *index,
              const aclTensor *src, int64_t reduce, aclTensor *out)
OPENATC_ACLNN(InplaceScatter, aclTensor *selfRef, int64_t dim, const aclTensor *index,
              const aclTensor *src, int64_t reduce)
OPENATC_ACLNN(ScatterValue, const aclTensor *self, int64_t dim, const aclTensor *index,
              const aclScalar *value, int64_t reduce, aclTensor *out)
OPENATC_ACLNN(InplaceScatterValue, aclTensor *selfRef, int64_t dim, const aclTensor *index,
              const aclScalar *value, int64_t reduce)
OPENATC_ACLNN(ScatterAdd, const aclTensor *self, int64_t dim, const aclTensor *index,
              const aclTensor *src, aclTensor *out)
/* Replace, or add to, the slices of a dim that `index`, of one dim, names. */
OPENATC_ACLNN(IndexCopy, const aclTensor *self, int64_t dim, const aclTensor *index,
              const aclTensor *source, aclTensor *out)
OPENATC_ACLNN(InplaceIndexCopy, aclTensor *selfRef, int64_t dim, const aclTensor *index,
              const aclTensor *source)
OPENATC_ACLNN(IndexAdd, const aclTensor *self, const int64_t dim, const aclTensor *index,
              const aclTensor *source, const aclScalar *alpha, aclTensor *out)
OPENATC_ACLNN(InplaceIndexFillTensor, aclTensor *selfRef, int64_t dim, const aclIntArray *index,
              const aclScalar *value)
OPENATC_ACLNN(InplaceMaskedFillScalar, aclTensor *selfRef, const aclTensor *mask,
              const aclScalar *value)
OPENATC_ACLNN(InplaceMaskedFillTensor, aclTensor *selfRef, const aclTensor *mask,
              const aclTensor *value)
/* onValue where a class is the value of `self`, else offValue; the classes are a new dim. */
OPENATC_ACLNN(OneHot, const aclTensor *self, int numClasses, const aclTensor *onValue,
              const aclTensor *offValue, int64_t axis, aclTensor *out)
OPENATC_ACLNN(Sort, const aclTensor *self, bool stable, int64_t dim, bool descending,
              aclTensor *valuesOut, aclTensor *indicesOut)
OPENATC_ACLNN(Argsort, const aclTensor *self, int64_t dim, bool descending, aclTensor *out)

/* Elements that a list of indices chooses, as x[i, :, j] in PyTorch: each is int32, int64 or a mask
 * (bool, of one dim or several); one without elements takes all of its dim. */
OPENATC_ACLNN(Index, const aclTensor *self, const aclTensorList *indices, aclTensor *out)
/* Writes values there, or adds them. */
OPENATC_ACLNN(IndexPutImpl, aclTensor *selfRef, const aclTensorList *indices,
              const aclTensor *values, const bool accumulate, const bool unsafe)
/* Places of elements that are not 0: a row for each, or (V2) a column. `out` is int64 for as many
 * as there may be; after the stream is synchronized aclGetViewShape returns how many there are. */
OPENATC_ACLNN(Nonzero, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(NonzeroV2, const aclTensor *self, aclTensor *out)
/* Elements where a mask holds; `out` is as long as the mask, and its dim known afterwards. */
OPENATC_ACLNN(MaskedSelect, const aclTensor *self, const aclTensor *mask, aclTensor *out)
OPENATC_ACLNN(InplaceMaskedScatter, aclTensor *selfRef, const aclTensor *mask,
              const aclTensor *source)

/* ---- order, counts ------------------------------------------------------------ */

/* The k-th element of a dim, counted from 1, and its position; the middle one, the lower of two. */
OPENATC_ACLNN(Kthvalue, const aclTensor *self, int64_t k, int64_t dim, bool keepdim,
              aclTensor *valuesOut, aclTensor *indicesOut)
OPENATC_ACLNN(Median, const aclTensor *self, aclTensor *valuesOut)
OPENATC_ACLNN(MedianDim, const aclTensor *self, int64_t dim, bool keepDim, aclTensor *valuesOut,
              aclTensor *indicesOut)
OPENATC_ACLNN(Cummax, const aclTensor *self, int64_t dim, aclTensor *valuesOut,
              aclTensor *indicesOut)
OPENATC_ACLNN(Cummin, const aclTensor *self, int64_t dim, aclTensor *valuesOut,
              aclTensor *indicesOut)
OPENATC_ACLNN(Cumprod, const aclTensor *input, const aclScalar *dim, const aclDataType dtype,
              aclTensor *out)
/* Where numbers fit into rows that are ordered, or that `sorter` orders. */
OPENATC_ACLNN(SearchSorted, const aclTensor *sortedSequence, const aclTensor *self,
              const bool outInt32, const bool right, const aclTensor *sorter, aclTensor *out)
OPENATC_ACLNN(SearchSorteds, const aclTensor *sortedSequence, const aclScalar *self,
              const bool outInt32, const bool right, const aclTensor *sorter, aclTensor *out)
/* Each element once, in order; valueOut and countsOut are as long as self, and their dims known
 * when the stream is synchronized (aclGetViewShape). */
OPENATC_ACLNN(Unique, const aclTensor *self, bool sorted, bool returnInverse, aclTensor *valueOut,
              aclTensor *inverseOut)
OPENATC_ACLNN(Unique2, const aclTensor *self, bool sorted, bool returnInverse, bool returnCounts,
              aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut)
/* UniqueDim finds the different slices along dim. UniqueConsecutive keeps one element, or slice
 * along dim, of each run of equal neighbours; dim 1000 stands for no dim, that is for elements. */
OPENATC_ACLNN(UniqueDim, const aclTensor *self, bool sorted, bool returnInverse, int64_t dim,
              aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut)
OPENATC_ACLNN(UniqueConsecutive, const aclTensor *self, bool returnInverse, bool returnCounts,
              int64_t dim, aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut)
OPENATC_ACLNN(Bincount, const aclTensor *self, const aclTensor *weights, int64_t minlength,
              aclTensor *out)
OPENATC_ACLNN(Histc, const aclTensor *self, int64_t bins, const aclScalar *min,
              const aclScalar *max, aclTensor *out)

/* ---- shapes ------------------------------------------------------------------ */

/* Zeros above, or below, the diagonal of the last two dims. */
OPENATC_ACLNN(Tril, const aclTensor *self, int64_t diagonal, aclTensor *out)
OPENATC_ACLNN(Triu, const aclTensor *self, int64_t diagonal, aclTensor *out)
OPENATC_ACLNN(InplaceTril, aclTensor *selfRef, int64_t diagonal)
OPENATC_ACLNN(InplaceTriu, aclTensor *selfRef, int64_t diagonal)
/* A diagonal of a matrix, or a matrix with a vector, or with all elements, on a diagonal. */
OPENATC_ACLNN(Diag, const aclTensor *self, int64_t diagonal, aclTensor *out)
OPENATC_ACLNN(DiagFlat, const aclTensor *self, int64_t diagonal, aclTensor *out)
OPENATC_ACLNN(Trace, const aclTensor *self, aclTensor *out)
OPENATC_ACLNN(SliceV2, const aclTensor *self, const aclIntArray *starts, const aclIntArray *ends,
              const aclIntArray *axes, const aclIntArray *steps, aclTensor *out)
OPENATC_ACLNN(ChannelShuffle, const aclTensor *self, int64_t groups, aclTensor *out)
OPENATC_ACLNN(InplaceFillTensor, aclTensor *selfRef, const aclTensor *value)
/* Rows of updates go to a position on an axis of each batch of a cache: indices are positions, or
 * rows of a batch and a position. */
OPENATC_ACLNN(InplaceScatterUpdate, aclTensor *data, const aclTensor *indices,
              const aclTensor *updates, int64_t axis)
/* pad has two numbers per padded dim, for its begin and its end, with the last dim first; negative
 * ones crop. */
OPENATC_ACLNN(ConstantPadNd, const aclTensor *self, const aclIntArray *pad, const aclScalar *value,
              aclTensor *out)
#define OPENATC_ACLNN_PAD(name)                                                                    \
  OPENATC_ACLNN(name, const aclTensor *self, const aclIntArray *padding, aclTensor *out)
OPENATC_ACLNN_PAD(ReflectionPad1d)
OPENATC_ACLNN_PAD(ReflectionPad2d)
OPENATC_ACLNN_PAD(ReflectionPad3d)
OPENATC_ACLNN_PAD(ReplicationPad1d)
OPENATC_ACLNN_PAD(ReplicationPad2d)
OPENATC_ACLNN_PAD(ReplicationPad3d)
/* Without dims: of all elements in their order. */
OPENATC_ACLNN(Roll, const aclTensor *x, const aclIntArray *shifts, const aclIntArray *dims,
              aclTensor *out)
OPENATC_ACLNN(Flip, const aclTensor *self, const aclIntArray *dims, aclTensor *out)
OPENATC_ACLNN(RepeatInterleaveInt, const aclTensor *self, int64_t repeats, int64_t outputSize,
              aclTensor *out)
OPENATC_ACLNN(RepeatInterleaveIntWithDim, const aclTensor *self, int64_t repeats, int64_t dim,
              int64_t outputSize, aclTensor *out)
OPENATC_ACLNN(SplitTensor, const aclTensor *self, uint64_t splitSections, int64_t dim,
              aclTensorList *out)
OPENATC_ACLNN(SplitWithSize, const aclTensor *self, const aclIntArray *splitSize, int64_t dim,
              aclTensorList *out)
OPENATC_ACLNN(Eye, int64_t n, int64_t m, aclTensor *out)
OPENATC_ACLNN(Linspace, const aclScalar *start, const aclScalar *end, int64_t steps, aclTensor *out)
/* As Arange, but the end is included. */
OPENATC_ACLNN(Range, const aclScalar *start, const aclScalar *end, const aclScalar *step,
              aclTensor *out)
/* Columns of the windows of an image: [N, C * kernel, windows]. */
OPENATC_ACLNN(Im2col, const aclTensor *self, const aclIntArray *kernelSize,
              const aclIntArray *dilation, const aclIntArray *padding, const aclIntArray *stride,
              aclTensor *out)
OPENATC_ACLNN(UpsampleNearest2d, const aclTensor *self, const aclIntArray *outputSize,
              aclTensor *out)
OPENATC_ACLNN(UpsampleBilinear2d, const aclTensor *self, const aclIntArray *outputSize,
              const bool alignCorners, const double scalesH, const double scalesW, aclTensor *out)

OPENATC_ACLNN(UpsampleNearest1d, const aclTensor *self, const aclIntArray *outputSize,
              aclTensor *out)
OPENATC_ACLNN(UpsampleNearestExact2d, const aclTensor *self, const aclIntArray *outputSize,
              double scalesH, double scalesW, aclTensor *out)
OPENATC_ACLNN(UpsampleLinear1d, const aclTensor *self, const aclIntArray *outputSize,
              const bool alignCorners, const double scales, aclTensor *out)
OPENATC_ACLNN(UpsampleTrilinear3d, const aclTensor *self, const aclIntArray *outputSize,
              bool alignCorners, double scalesD, double scalesH, double scalesW, aclTensor *out)
OPENATC_ACLNN(UpsampleBicubic2d, const aclTensor *self, const aclIntArray *outputSize,
              const bool alignCorners, const double scalesH, const double scalesW, aclTensor *out)
/* Elements of images at positions of -1 to 1. `interpolationMode` is 0 for bilinear, 1 for nearest,
 * 2 for bicubic; `paddingMode` 0 for zeros, 1 for the border, 2 for reflection. */
OPENATC_ACLNN(GridSampler2D, const aclTensor *input, const aclTensor *grid,
              int64_t interpolationMode, int64_t paddingMode, bool alignCorners, aclTensor *out)

#ifdef __cplusplus
}
#endif

#endif
