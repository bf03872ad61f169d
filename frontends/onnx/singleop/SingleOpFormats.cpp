//===-- SingleOpFormats.cpp - converts tensors between formats ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace atc::single_op {

namespace {

class FormatBuilder {
public:
  explicit FormatBuilder(SingleOpGraph &graph) : graph(graph), op(graph.op) {}

  /// C0: the elements of a block, which has 32 bytes.
  int64_t blockOf(int type) const {
    if (type == 2 || type == 4 || type == 12)
      return 32;
    return type == 1 || type == 6 || type == 7 || type == 27 ? 16 : 8;
  }

  std::string pad(const std::string &input, const Ints &high) {
    Ints pads(high.size(), 0);
    pads.insert(pads.end(), high.begin(), high.end());
    return graph.value("Pad", {input, graph.addInts(pads)});
  }
  std::string crop(const std::string &input, const Ints &dims) {
    Ints starts(dims.size(), 0);
    return graph.value("Slice", {input, graph.addInts(starts), graph.addInts(dims)});
  }

  void run() {
    const SingleOpTensor &from = op.inputs[0], &to = op.outputs[0];
    if (is_contained(from.dims, -1) || is_contained(to.dims, -1))
      return graph.fail("the dims must be known");
    const bool fromImage = from.format == kNCHW || from.format == kNHWC;
    const bool toImage = to.format == kNCHW || to.format == kNHWC;
    if (fromImage && to.format == kNC1HWC0 && from.dims.size() == 4 && to.dims.size() == 5)
      return packImage(from, to);
    if (toImage && from.format == kNC1HWC0 && to.dims.size() == 4 && from.dims.size() == 5)
      return unpackImage(from, to);
    const bool fromPlain = fromImage || from.format == kND, toPlain = toImage || to.format == kND;
    if (fromPlain && to.format == kFractalNz && from.dims.size() >= 2 &&
        to.dims.size() == from.dims.size() + 2)
      return packMatrix(from, to);
    if (toPlain && from.format == kFractalNz && to.dims.size() >= 2 &&
        from.dims.size() == to.dims.size() + 2)
      return unpackMatrix(to);
    if (fromImage && toImage && from.dims.size() == 4)
      return graph.finish(from.format == to.format ? graph.x[0]
                          : from.format == kNCHW   ? graph.transpose(graph.x[0], {0, 2, 3, 1})
                                                   : graph.transpose(graph.x[0], {0, 3, 1, 2}));
    graph.diagnostics.error("E10055",
                            "the operator TransData of --singleop converts NCHW and NHWC to "
                            "and from NC1HWC0, and ND to and from FRACTAL_NZ");
  }

  void packImage(const SingleOpTensor &from, const SingleOpTensor &to) {
    std::string value = graph.x[0];
    Ints dims = from.dims;
    if (from.format == kNHWC) {
      value = graph.transpose(value, {0, 3, 1, 2});
      dims = {dims[0], dims[3], dims[1], dims[2]};
    }
    const int64_t block = to.dims[4], blocks = to.dims[1];
    if (block * blocks < dims[1])
      return graph.fail("the output has fewer channels than the input");
    value = pad(value, {0, block * blocks - dims[1], 0, 0});
    graph.finish(graph.transpose(graph.reshape(value, {dims[0], blocks, block, dims[2], dims[3]}),
                                 {0, 1, 3, 4, 2}));
  }

  void unpackImage(const SingleOpTensor &from, const SingleOpTensor &to) {
    Ints dims = to.dims;
    if (to.format == kNHWC)
      dims = {dims[0], dims[3], dims[1], dims[2]};
    std::string value = graph.transpose(graph.x[0], {0, 1, 4, 2, 3});
    value = graph.reshape(value, {dims[0], from.dims[1] * from.dims[4], dims[2], dims[3]});
    value = crop(value, dims);
    graph.finish(to.format == kNHWC ? graph.transpose(value, {0, 2, 3, 1}) : value);
  }

  /// [.., H, W] becomes [.., W1, H1, 16, W0].
  void packMatrix(const SingleOpTensor &from, const SingleOpTensor &to) {
    const int64_t rows = 16, columns = blockOf(from.type);
    const size_t rank = from.dims.size();
    Ints high(rank, 0), shape(from.dims.begin(), from.dims.end() - 2), permutation;
    const int64_t h = (from.dims[rank - 2] + rows - 1) / rows;
    const int64_t w = (from.dims[rank - 1] + columns - 1) / columns;
    high[rank - 2] = h * rows - from.dims[rank - 2];
    high[rank - 1] = w * columns - from.dims[rank - 1];
    shape.insert(shape.end(), {h, rows, w, columns});
    for (size_t i = 0; i + 2 < rank; ++i)
      permutation.push_back(i);
    const int64_t n = rank - 2;
    permutation.insert(permutation.end(), {n + 2, n, n + 1, n + 3});
    graph.finish(graph.transpose(graph.reshape(pad(graph.x[0], high), shape), permutation));
  }

  void unpackMatrix(const SingleOpTensor &to) {
    const SingleOpTensor &from = op.inputs[0];
    const size_t rank = to.dims.size(), n = rank - 2;
    Ints permutation, shape(to.dims.begin(), to.dims.end() - 2);
    for (size_t i = 0; i < n; ++i)
      permutation.push_back(i);
    for (size_t offset : {1, 2, 0, 3})
      permutation.push_back(n + offset);
    shape.push_back(from.dims[n + 1] * from.dims[n + 2]);
    shape.push_back(from.dims[n] * from.dims[n + 3]);
    graph.finish(crop(graph.reshape(graph.transpose(graph.x[0], permutation), shape), to.dims));
  }

  SingleOpGraph &graph;
  const SingleOp &op;
};

} // namespace

void buildTransData(SingleOpGraph &graph) {
  if (graph.needs(1))
    FormatBuilder(graph).run();
}

} // namespace atc::single_op
