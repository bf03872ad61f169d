//===-- BatchStatistics.cpp - normalization by the batch's own statistics -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/ops/BatchStatistics.h"

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/tf/ops/DynamicForms.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Returns input `index`, a vector with one element per channel, in the form that broadcasts over
/// the image: [1, ..., channels, ..., 1].
Value alongChannels(NodeContext &n, unsigned index, int64_t channelAxis, int64_t rank) {
  n.requireRank(index, 1, 1);
  Value vector = n.input(index);
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(rank, 1);
  if (NodeContext::isStatic(vector)) {
    shape[channelAxis] = n.shape(vector)[0];
    return n.reshape(vector, shape);
  }
  shape[channelAxis] = -1;
  return n.callHost("Reshape", {vector, n.intList(shape)});
}

/// Returns `value` [1, ..., channels, ..., 1] as a vector.
Value asVector(NodeContext &n, Value value, int64_t channelAxis) {
  if (NodeContext::isStatic(value))
    return n.reshape(value, {n.shape(value)[channelAxis]});
  return n.callHost("Reshape", {value, n.intList({-1})});
}

/// Returns the number of elements per channel as a scalar of `element`; at least 1.
Value countPerChannel(NodeContext &n, Value image, int64_t channelAxis, Type element) {
  if (NodeContext::isStatic(image)) {
    int64_t count = 1;
    for (auto [axis, dim] : llvm::enumerate(n.shape(image)))
      count *= static_cast<int64_t>(axis) == channelAxis ? 1 : dim;
    return n.scalar(static_cast<double>(std::max<int64_t>(count, 1)), element);
  }
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < n.rank(image); ++axis)
    if (axis != channelAxis)
      others.push_back(axis);
  Value dims =
      n.callHost("Gather", {shapeVector(n, image), n.intList(others)}, {n.hostInts("axis", {0})});
  Value count = n.callHost("ReduceProd", {n.cast(dims, element)}, {n.hostInts("keepdims", {0})});
  return n.create<graph::MaxOp>(count, n.scalar(1, element));
}

/// Returns what replaces running statistics: input `index` moved by `factor` to `found`.
Value moveRunning(NodeContext &n, unsigned index, Value found, double factor) {
  if (factor == 1)
    return found;
  Value running = n.input(index);
  if (n.failed())
    return {};
  if (NodeContext::isStatic(running) && NodeContext::isStatic(found) &&
      n.shape(running) != n.shape(found)) {
    n.failInput(index, "has " + printDims(n.shape(running)) + " elements, expected " +
                           printDims(n.shape(found)) + ": one per channel");
    return {};
  }
  return n.add(n.mul(running, n.scalarLike(1 - factor, running)),
               n.mul(found, n.scalarLike(factor, found)));
}

} // namespace

void importBatchStatistics(NodeContext &n, Value image) {
  const double epsilon = n.floatAttr("epsilon", 1e-4f);
  const double factor = n.floatAttr("exponential_avg_factor", 1);
  if (n.failed())
    return;
  const int64_t rank = n.rank(image);
  ImageLayout layout(n, rank);
  if (n.failed())
    return;
  const int64_t channelAxis = layout.channelAxis();
  Value scale = alongChannels(n, 1, channelAxis, rank);
  Value offset = alongChannels(n, 2, channelAxis, rank);
  if (n.failed())
    return;
  // Statistics have the type of the parameters, which may be wider than the image's.
  Type element = n.elementType(scale);
  Value wide = n.cast(image, element);
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != channelAxis)
      others.push_back(axis);
  Value mean = n.reduce(graph::ReduceKind::Mean, wide, others);
  Value centered = n.sub(wide, mean);
  Value variance = n.reduce(graph::ReduceKind::Mean, n.mul(centered, centered), others);
  if (n.failed())
    return;
  Value deviation = n.create<graph::SqrtOp>(n.add(variance, n.scalarLike(epsilon, variance)));
  Value result = n.add(n.mul(n.div(centered, deviation), scale), offset);
  n.setOutput(0, n.cast(result, n.elementType(image)));

  // The running variance is that of a sample: divided by one element less.
  Value meanVector = asVector(n, mean, channelAxis);
  Value varianceVector = asVector(n, variance, channelAxis);
  Value count = countPerChannel(n, wide, channelAxis, element);
  if (n.failed())
    return;
  Value one = n.scalar(1, element);
  Value correction = n.div(count, n.create<graph::MaxOp>(n.sub(count, one), one));
  n.setOutput(1, moveRunning(n, 3, meanVector, factor));
  n.setOutput(2, moveRunning(n, 4, n.mul(varianceVector, correction), factor));
  n.setOutput(3, meanVector);
  n.setOutput(4, varianceVector);
}

void importGivenStatistics(NodeContext &n, Value image) {
  const double epsilon = n.floatAttr("epsilon", 1e-4f);
  if (n.failed())
    return;
  const int64_t rank = n.rank(image);
  ImageLayout layout(n, rank);
  SmallVector<Value> parameters;
  for (unsigned index = 1; index < 5 && !n.failed(); ++index)
    parameters.push_back(alongChannels(n, index, layout.channelAxis(), rank));
  if (n.failed())
    return;
  Value scale = parameters[0], variance = parameters[3];
  Value wide = n.cast(image, n.elementType(scale));
  Value inverse = n.create<graph::RsqrtOp>(n.add(variance, n.scalarLike(epsilon, variance)));
  Value result = n.add(n.mul(n.sub(wide, parameters[2]), n.mul(inverse, scale)), parameters[1]);
  n.setOutput(0, n.cast(result, n.elementType(image)));
  n.setOutput(1, n.input(3));
  n.setOutput(2, n.input(4));
}

} // namespace atc::tf_import
