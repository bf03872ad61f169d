//===-- Steps.h - what several aclnn functions are made of --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_ACLNN_STEPS_H
#define ASCEND_ACLNN_STEPS_H

#include "ascend/aclnn/Plan.h"
#include "ascend/src/Buffers.h"

#include <algorithm>
#include <string_view>

namespace atc::ascend {

using Json = nlohmann::ordered_json;

/// Returns an attribute of an operator; the type is that of files for `atc --singleop`.
template <typename T> Json attribute(const char *name, const char *type, const T &value) {
  return {{"name", name}, {"type", type}, {"value", value}};
}

/// Returns an attribute that is a number with a fraction.
inline Json floatAttribute(const char *name, double value) {
  return attribute(name, "float", value);
}

/// Computes an operator of each element, in floats.
View computed(Plan &plan, const char *op, const View &self, const Json &attributes = {});

/// Computes what an aclnn function of one tensor is named after.
View unary(Plan &plan, std::string_view name, const View &self);

/// Computes left op alpha * right, for Add and Sub.
View sum(Plan &plan, const char *op, const View &left, const View &right, double alpha = 1);

/// Computes self + value * (first op second).
View added(Plan &plan, const char *op, const View &self, const View &first, const View &second,
           double value);

/// Computes left op right in the type that holds both, in floats where `asFloat`.
View combined(Plan &plan, const char *op, const View &left, const View &right,
              bool asFloat = false);

/// Computes left * right, in floats.
View times(Plan &plan, const View &left, const View &right);

/// Returns one element that combines with `like`, as floats.
View constantLike(Plan &plan, double value, const View &like);

/// Computes a power.
View power(Plan &plan, const View &base, const View &exponent);

/// Computes self op number, in floats.
View withNumber(Plan &plan, const char *op, const View &self, double number);

/// Returns one element that is a scalar of the program: of the type of `like` where that holds it,
/// else of one that does, in which both are then combined.
View scalarLike(Plan &plan, const aclScalar *handle, const char *name, const View &like);
View scalarLike(Plan &plan, const Scalar &scalar, const View &like);

/// Returns one element that is a scalar of the program, converted to a type.
View scalarOf(Plan &plan, const aclScalar *handle, const char *name, aclDataType type);

/// Compares two tensors; the name is Eq, Ne, Lt, Le, Gt or Ge.
View comparison(Plan &plan, std::string_view name, const View &left, const View &right);

/// Returns elements of `left` where the condition holds, else of `right`.
View chosen(Plan &plan, const View &condition, const View &left, const View &right);

/// Reduces axes of elements, which are converted to a type before; all axes where none is given.
View reduced(Plan &plan, const char *op, const View &self, const Dims &axes, bool keep,
             aclDataType type);

/// Reduces losses of the elements: `reduction` is 0 (none), 1 (mean) or 2 (sum).
View lossOf(Plan &plan, const View &losses, int64_t reduction);

/// Returns the position of the extremum along an axis, as int32; `op` is ArgMaxD or ArgMinD.
View positionOf(Plan &plan, const char *op, const View &self, int64_t axis, bool keep);

/// Returns the softmax along an axis, or what another such operator computes.
View softmaxOf(Plan &plan, const char *op, const View &self, int64_t axis);

/// Returns dims without those that are reduced, which are 1 where they are kept.
Dims reducedDims(const Dims &dims, const Dims &axes, bool keep);

/// Returns whether `last` is not empty and `dims` ends with it.
bool areLastDims(const Dims &last, const Dims &dims);

/// Multiplies matrices, or vectors, with broadcast dims in front.
View product(Plan &plan, const View &left, const View &right);

/// Returns the matrix that a view of 4 dims, blocks of FRACTAL_NZ, holds.
View unblocked(Plan &plan, View blocks, int64_t rows, int64_t columns, const char *name);

/// Multiplies matrices of int8, with broadcast dims in front, to int32.
View integerProduct(Plan &plan, const View &left, const View &right);

/// Returns scales as floats: those of 64 bits hold one in their low half.
View floatScales(Plan &plan, View scale);

/// Returns the part of a view from `start` on a dim, of `count` elements `step` apart.
View part(const View &view, size_t dim, int64_t start, int64_t count, int64_t step = 1);

/// Returns the view with its dims in another order.
View permuted(const View &view, const Dims &order);

/// Returns whole numbers as a tensor of int64.
View indexTensor(Plan &plan, const Dims &values, const Dims &dims);

/// Returns the slices of an axis that indices name, with the dims of the indices in its place.
View taken(Plan &plan, const View &self, int64_t axis, const View &indices);

/// Returns the view with elements in front of each dim and behind it.
View padded(Plan &plan, const View &self, const Dims &low, const Dims &high, double value);

/// Returns the real or the imaginary part of a tensor of complex64.
View partOfComplex(Plan &plan, View view, bool isImaginary, const char *name);

/// Writes to an output that may be missing, with the dims that the output has.
void writeOptional(Plan &plan, const View &view, const View &output);

} // namespace atc::ascend

// Defines both functions of an operator: `arguments` in parentheses are those before the results,
// `out` the output, and the rest an expression of `plan` that is written to it.
#define ACLNN_FUNCTION(name, arguments, out, ...)                                                  \
  aclnnStatus aclnn##name##GetWorkspaceSize(ACLNN_UNPACK arguments, uint64_t *size,                \
                                            aclOpExecutor **executor) {                            \
    Plan plan(__func__);                                                                           \
    const View result = __VA_ARGS__;                                                               \
    plan.write(result, plan.output(out, #out));                                                    \
    return plan.finish(size, executor);                                                            \
  }                                                                                                \
  ACLNN_RUN(name)
#define ACLNN_UNPACK(...) __VA_ARGS__
#define IN(name) plan.input(name, #name)

#endif
