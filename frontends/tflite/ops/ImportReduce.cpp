//===-- ImportReduce.cpp - reductions, sums, extrema ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

namespace atc::tflite {
namespace {

void importReduce(OpContext &c) {
  const auto *options = c.options<fb::ReducerOptions>();
  const int64_t keep = options && options->keep_dims();
  const char *op = findOp(c.model.reader.code(c.proto))->onnxName;
  const std::optional<Dims> axes = c.constantInts(1);
  // No axes at all change nothing in this format, and reduce everything in ONNX.
  if (axes && axes->empty())
    return c.setOutput(c.moved(0));
  const bool isExtremum = op == llvm::StringRef("ReduceMax") || op == llvm::StringRef("ReduceMin");
  Value x = isExtremum ? c.moved(0) : c.in(0);
  Value list = c.indices(1);
  if (c.rank(1) == 0)
    list = c.unsqueeze(list, {0});
  c.setOutput(c.node(op, {x, list}, {{"keepdims", keep}}));
}

/// Reduces truth values as the bytes 0 and 1.
void importReduceBool(OpContext &c) {
  const auto *options = c.options<fb::ReducerOptions>();
  const char *op = findOp(c.model.reader.code(c.proto))->onnxName;
  Value list = c.indices(1);
  if (c.rank(1) == 0)
    list = c.unsqueeze(list, {0});
  Value bytes = c.cast(c.raw(0), onnx::TensorProto::UINT8);
  Value result =
      c.node(op, {bytes, list}, {{"keepdims", int64_t(options && options->keep_dims())}});
  c.setOutput(c.cast(result, onnx::TensorProto::BOOL));
}

void importArg(OpContext &c) {
  const Dims axes = c.requireInts(1, "axis");
  if (!c.failed() && axes.size() != 1)
    c.fail("its axis must be one number");
  if (c.failed())
    return;
  // The order of the integers is that of the real values.
  Value x = c.raw(0);
  x.isStored = false;
  Value index = c.node(findOp(c.model.reader.code(c.proto))->onnxName, {x},
                       {{"axis", c.axis(axes[0], c.rank(0))}, {"keepdims", int64_t(0)}});
  c.setOutput(c.cast(index, onnxType(c.outputTensor(0).type())));
}

void importCumsum(OpContext &c) {
  const auto *options = c.options<fb::CumsumOptions>();
  Value axis = c.indices(1);
  if (c.rank(1) == 1)
    axis = c.squeeze(axis, {0});
  c.setOutput(c.node("CumSum", {c.in(0), axis},
                     {{"exclusive", int64_t(options && options->exclusive())},
                      {"reverse", int64_t(options && options->reverse())}}));
}

void importTopK(OpContext &c) {
  Value x = c.raw(0);
  const bool isStored = x.isStored;
  x.isStored = false;
  Value count = c.indices(1);
  if (c.rank(1) == 0)
    count = c.unsqueeze(count, {0});
  std::vector<Value> best = c.nodes("TopK", {x, count}, 2, {{"axis", int64_t(-1)}});
  best[0].isStored = isStored;
  c.setOutput(best[0]);
  c.setOutput(c.cast(best[1], onnxType(c.outputTensor(1).type())), 1);
}

} // namespace

llvm::ArrayRef<OpRow> reduceOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{ARG_MAX, importArg, "ArgMax"},
                               {ARG_MIN, importArg, "ArgMin"},
                               {CUMSUM, importCumsum},
                               {MEAN, importReduce, "ReduceMean"},
                               {REDUCE_ALL, importReduceBool, "ReduceMin"},
                               {REDUCE_ANY, importReduceBool, "ReduceMax"},
                               {REDUCE_MAX, importReduce, "ReduceMax"},
                               {REDUCE_MIN, importReduce, "ReduceMin"},
                               {REDUCE_PROD, importReduce, "ReduceProd"},
                               {SUM, importReduce, "ReduceSum"},
                               {TOPK_V2, importTopK}};
  return rows;
}

} // namespace atc::tflite
