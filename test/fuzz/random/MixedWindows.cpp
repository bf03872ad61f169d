//===-- MixedWindows.cpp - products, convolutions, pools and norms --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/random/MixedGraph.h"

#include <cmath>

namespace atc::fuzz {

using onnx::TensorProto;

void MixedMaker::addProduct(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  if (!rank)
    return addUnary(x);
  const int64_t depth = x.dims.back(), columns = 1 + below(chance(10) ? 70 : 12);
  const double scale = 1 / std::sqrt(double(std::max<int64_t>(1, depth)));
  Dims dims = x.dims;
  if (x.type == TensorProto::UINT8 || x.type == TensorProto::INT8) {
    if (rank < 2)
      return addQuantized(x);
    Names inputs{x.name, constant(chance(50) ? TensorProto::INT8 : TensorProto::UINT8,
                                  {depth, columns}, 9, 1, true)
                             .name};
    if (chance(50))
      inputs.push_back(numbers(x.type, {}, {3}));
    dims.back() = columns;
    return void(
        result(node("MatMulInteger", inputs), TensorProto::INT32, dims, 255.0 * 9 * depth, 1));
  }
  if (!isFloat(x.type))
    return addBinary(x);
  if (rank == 2 && chance(50)) {
    const bool fromLeft = chance(30), transposed = chance(50);
    const int64_t rows = fromLeft ? x.dims[1] : x.dims[0], inner = fromLeft ? x.dims[0] : x.dims[1];
    Names inputs{x.name, constant(x.type, transposed ? Dims{columns, inner} : Dims{inner, columns},
                                  scale, scale / 8)
                             .name};
    const Dims addends[] = {{}, {1}, {columns}, {1, columns}, {rows, 1}, {rows, columns}};
    if (chance(70))
      inputs.push_back(constant(x.type, addends[below(6)], 1, 0.25).name);
    onnx::NodeProto &made = node("Gemm", inputs);
    setInt(made, "transA", fromLeft);
    setInt(made, "transB", transposed);
    if (chance(30))
      setFloat(made, "alpha", 0.5f);
    if (chance(30))
      setFloat(made, "beta", chance(50) ? 0.0f : -1.5f);
    return void(result(made, x.type, {rows, columns}));
  }
  // A vector or a batch of matrices on the other side.
  Dims weights{depth, columns};
  if (chance(20))
    weights.pop_back();
  else if (rank > 2 && chance(40)) {
    Dims batch(x.dims.begin(), x.dims.end() - 2);
    for (int64_t &dim : batch)
      dim = chance(50) ? 1 : dim;
    while (!batch.empty() && chance(30))
      batch.erase(batch.begin());
    weights.insert(weights.begin(), batch.begin(), batch.end());
  }
  if (weights.size() == 1)
    dims.pop_back();
  else if (rank == 1)
    dims = Dims{columns};
  else
    dims.back() = columns;
  const Value other = constant(x.type, weights, scale, scale / 8);
  result(node("MatMul", {x.name, other.name}), x.type, dims);
}

void MixedMaker::addConv(const Value &x) {
  const size_t spatial = x.dims.size() - 2;
  if (x.type == TensorProto::DOUBLE)
    return addPool(x);
  const int64_t channels = x.dims[1];
  int64_t groups = 1;
  if (chance(40))
    for (int64_t g = channels; g > 1; --g)
      if (channels % g == 0 && chance(70)) {
        groups = g;
        break;
      }
  const bool transposed = chance(25);
  const int64_t perGroup = 1 + below(chance(20) ? 9 : 3), out = perGroup * groups;
  Dims dims{x.dims[0], out}, kernel, strides, dilations, pads(2 * spatial, 0), extra;
  double taps = double(channels / groups);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t size = x.dims[i + 2];
    kernel.push_back(1 + below(chance(10) ? 8 : 4));
    strides.push_back(1 + below(chance(15) ? 6 : 2));
    dilations.push_back(chance(80) ? 1 : 1 + below(3));
    extra.push_back(transposed && strides.back() > 1 && chance(40) ? 1 : 0);
    const int64_t reach = (kernel.back() - 1) * dilations.back() + 1;
    // Pads may be larger than the kernel.
    pads[i] = below(chance(10) ? reach + 4 : std::max<int64_t>(1, reach));
    pads[i + spatial] = below(std::max<int64_t>(1, reach));
    taps *= double(kernel.back());
    if (transposed) {
      const int64_t whole = (size - 1) * strides.back() + reach + extra.back();
      while (pads[i] + pads[i + spatial] >= whole)
        pads[i] = pads[i + spatial] = 0;
      dims.push_back(whole - pads[i] - pads[i + spatial]);
    } else {
      if (size + pads[i] + pads[i + spatial] < reach)
        pads[i] = reach;
      dims.push_back((size + pads[i] + pads[i + spatial] - reach) / strides.back() + 1);
    }
  }
  if (count(dims) > 20000)
    return addPool(x);
  Dims shape = transposed ? Dims{channels, perGroup} : Dims{out, channels / groups};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  const double scale = 1 / std::sqrt(taps);
  Names inputs{x.name, constant(x.type, shape, scale, scale / 8).name};
  if (chance(60))
    inputs.push_back(constant(x.type, {out}, 1, 0.25).name);
  onnx::NodeProto &made = node(transposed ? "ConvTranspose" : "Conv", inputs);
  if (chance(70))
    setInts(made, "kernel_shape", kernel);
  setInts(made, "strides", strides);
  setInts(made, "dilations", dilations);
  setInts(made, "pads", pads);
  setInt(made, "group", groups);
  if (transposed)
    setInts(made, "output_padding", extra);
  result(made, x.type, dims);
}

void MixedMaker::addPool(const Value &x) {
  const size_t spatial = x.dims.size() - 2;
  if (chance(15)) {
    Dims dims(x.dims.size(), 1);
    dims[0] = x.dims[0];
    dims[1] = x.dims[1];
    const bool max = chance(50);
    return void(result(node(max ? "GlobalMaxPool" : "GlobalAveragePool", {x.name}), x.type, dims,
                       x.largest, max ? x.grain : 0));
  }
  const bool max = chance(50), lp = !max && chance(20);
  Dims dims{x.dims[0], x.dims[1]}, kernel, strides, pads(2 * spatial, 0);
  static constexpr const char *automatic[] = {"NOTSET",     "NOTSET",     "NOTSET",
                                              "SAME_UPPER", "SAME_LOWER", "VALID"};
  const std::string mode = oneOf(automatic);
  const bool ceil = mode == "NOTSET" && !lp && chance(30);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t size = x.dims[i + 2];
    kernel.push_back(1 + below(std::min<int64_t>(size, 5)));
    strides.push_back(1 + below(chance(15) ? 5 : 3));
    if (mode == "NOTSET") {
      pads[i] = below(kernel.back());
      pads[i + spatial] = below(kernel.back());
    }
    const int64_t free = size + pads[i] + pads[i + spatial] - kernel.back();
    int64_t length = (free + (ceil ? strides.back() - 1 : 0)) / strides.back() + 1;
    // The last window begins inside the input or its first pad.
    if (ceil && (length - 1) * strides.back() >= size + pads[i])
      --length;
    dims.push_back(mode[0] == 'S' ? (size + strides.back() - 1) / strides.back() : length);
  }
  onnx::NodeProto &made = node(max ? "MaxPool" : lp ? "LpPool" : "AveragePool", {x.name});
  setInts(made, "kernel_shape", kernel);
  setInts(made, "strides", strides);
  if (mode == "NOTSET")
    setInts(made, "pads", pads);
  else
    setText(made, "auto_pad", mode.c_str());
  if (ceil)
    setInt(made, "ceil_mode", 1);
  if (!max && !lp && chance(50))
    setInt(made, "count_include_pad", 1);
  result(made, x.type, dims, x.largest, max ? x.grain : 0);
}

void MixedMaker::addNorm(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  if (!isFloat(x.type) || !rank || !count(x.dims))
    return addUnary(x);
  const int64_t axis = below(rank), signedAxis = chance(50) ? axis : axis - rank;
  auto parameter = [&](const Dims &dims, double offset) {
    Value made = constant(x.type, dims, 1, 0.25, offset > 0);
    return made.name;
  };
  switch (below(6)) {
  case 0: {
    const Dims dims(x.dims.begin() + axis, x.dims.end());
    Names inputs{x.name, parameter(dims, 1)};
    if (chance(60))
      inputs.push_back(parameter(dims, 0));
    onnx::NodeProto &made = node("LayerNormalization", inputs);
    setInt(made, "axis", signedAxis);
    setFloat(made, "epsilon", 0.1f);
    return void(result(made, x.type, x.dims));
  }
  case 1: {
    if (rank < 2)
      break;
    const Dims dims{x.dims[1]};
    onnx::NodeProto &made =
        node("BatchNormalization", {x.name, parameter(dims, 1), parameter(dims, 0),
                                    parameter(dims, 0), parameter(dims, 1)});
    setFloat(made, "epsilon", 0.01f);
    return void(result(made, x.type, x.dims));
  }
  case 2: {
    if (rank < 3)
      break;
    const Dims dims{x.dims[1]};
    onnx::NodeProto &made =
        node("InstanceNormalization", {x.name, parameter(dims, 1), parameter(dims, 0)});
    setFloat(made, "epsilon", 0.1f);
    return void(result(made, x.type, x.dims));
  }
  case 3: {
    if (rank < 3 || opset < 21)
      break;
    const Dims dims{x.dims[1]};
    onnx::NodeProto &made =
        node("GroupNormalization", {x.name, parameter(dims, 1), parameter(dims, 0)});
    setInt(made, "num_groups", x.dims[1] % 2 == 0 && chance(50) ? 2 : 1);
    setFloat(made, "epsilon", 0.1f);
    return void(result(made, x.type, x.dims));
  }
  case 4: {
    onnx::NodeProto &made = node("LogSoftmax", {x.name});
    setInt(made, "axis", signedAxis);
    return void(result(made, x.type, x.dims));
  }
  default:;
  }
  onnx::NodeProto &made = node("Softmax", {x.name});
  setInt(made, "axis", signedAxis);
  result(made, x.type, x.dims);
}

} // namespace atc::fuzz
