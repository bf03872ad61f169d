//===-- ImportReduce.cpp - reductions -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/LayerTable.h"

using llvm::Twine;

namespace atc::caffe {
namespace {

/// Indices are floats; with out_max_val and no axis the values stand beside them.
void importArgMax(LayerContext &c) {
  const pb::ArgMaxParameter &p = c.layer().argmax_param();
  const int64_t count = p.top_k();
  Tensor input = c.bottom();
  if (c.failed())
    return;
  const int64_t axis = p.has_axis() ? c.axis(p.axis(), input.rank()) : 1;
  if (c.failed())
    return;
  if (!p.has_axis()) {
    if (input.rank() < 2)
      return c.fail("its bottom of shape " + printShape(input.dims) + " has no channels");
    input = c.node("Flatten", {input}, {input.dims[0], product(input.dims, 1, input.rank())},
                   {{"axis", int64_t(1)}});
  }
  if (count < 1 || (input.dims[axis] > 0 && count > input.dims[axis]))
    c.fail("top_k " + Twine(count) + " must be from 1 to " + Twine(input.dims[axis]));
  Dims dims = input.dims;
  dims[axis] = count;
  std::vector<Tensor> best =
      c.nodes("TopK", {input, c.ints({count})}, {dims, dims}, {{"axis", axis}});
  Tensor indices = c.node("Cast", {best[1]}, dims, {{"to", int64_t(onnx::TensorProto::FLOAT)}});
  if (p.has_axis())
    return c.setTop(p.out_max_val() ? best[0] : indices);
  const Dims row = {dims[0], 1, count};
  if (!p.out_max_val())
    return c.setTop(c.reshape(indices, row));
  c.setTop(c.node("Concat", {c.reshape(indices, row), c.reshape(best[0], row)}, {dims[0], 2, count},
                  {{"axis", int64_t(1)}}));
}

void importReduction(LayerContext &c) {
  const pb::ReductionParameter &p = c.layer().reduction_param();
  const Tensor &input = c.bottom();
  const int64_t axis = c.axis(p.axis(), input.rank());
  if (c.failed())
    return;
  Dims dims(input.dims.begin(), input.dims.begin() + axis), axes;
  for (int64_t i = axis; i < input.rank(); ++i)
    axes.push_back(i);
  const bool isSum = p.operation() == pb::ReductionParameter::SUM;
  const char *op = isSum                                            ? "ReduceSum"
                   : p.operation() == pb::ReductionParameter::ASUM  ? "ReduceL1"
                   : p.operation() == pb::ReductionParameter::SUMSQ ? "ReduceSumSquare"
                                                                    : "ReduceMean";
  Attrs attributes = {{"keepdims", int64_t(0)}};
  std::vector<Tensor> inputs = {input};
  if (isSum)
    inputs.push_back(c.ints(axes));
  else
    attributes.push_back({"axes", axes});
  Tensor result = c.node(op, inputs, dims, attributes);
  c.setTop(p.coeff() == 1 ? result : c.mul(result, c.scalar(p.coeff())));
}

} // namespace

llvm::ArrayRef<LayerRow> reduceLayers() {
  static const LayerRow rows[] = {{"ArgMax", importArgMax}, {"Reduction", importReduction}};
  return rows;
}

} // namespace atc::caffe
