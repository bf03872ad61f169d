//===-- MixedMovement.cpp - operators that move elements ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/random/MixedGraph.h"

#include <numeric>

namespace atc::fuzz {

using onnx::TensorProto;

void MixedMaker::addMovement(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  Dims dims = x.dims;
  switch (below(7)) {
  case 0: {
    Dims order(size_t(rank), 0);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const bool reversed = chance(20);
    if (reversed)
      std::iota(order.rbegin(), order.rend(), 0);
    for (size_t i = 0; i < order.size(); ++i)
      dims[i] = x.dims[size_t(order[i])];
    onnx::NodeProto &made = node("Transpose", {x.name});
    if (!reversed)
      setInts(made, "perm", order);
    return void(result(made, x.type, dims, x.largest, x.grain));
  }
  case 1: {
    Dims repeats;
    for (int64_t &dim : dims) {
      repeats.push_back(chance(70) || count(dims) > 4000 ? 1 : below(4));
      dim *= repeats.back();
    }
    return void(
        result(node("Tile", {x.name, integers(repeats)}), x.type, dims, x.largest, x.grain));
  }
  case 2: {
    Dims to = x.dims;
    for (int64_t &dim : to)
      if (dim == 1 && count(to) < 4000)
        dim = 1 + below(4);
      else if (chance(30))
        dim = 1;
    if (to.size() < 5 && chance(30))
      to.insert(to.begin(), 1 + below(2));
    else if (!to.empty() && chance(20))
      to.erase(to.begin());
    dims = broadcast(x.dims, to);
    return void(result(node("Expand", {x.name, integers(to)}), x.type, dims, x.largest, x.grain));
  }
  case 3:
    if (rank < 2)
      break;
    {
      onnx::NodeProto &made =
          chance(50) ? node("Trilu", {x.name}) : node("Trilu", {x.name, integers({below(5) - 2})});
      if (made.input_size() == 2) {
        // The diagonal is a tensor without dims.
        graph().mutable_initializer(graph().initializer_size() - 1)->clear_dims();
      }
      setInt(made, "upper", below(2));
      return void(result(made, x.type, dims, x.largest, x.grain));
    }
  case 4:
    if (rank != 4 || !isFloat(x.type) || !count(dims))
      break;
    if (dims[1] % 4 == 0 && chance(60)) {
      onnx::NodeProto &made = node("DepthToSpace", {x.name});
      setInt(made, "blocksize", 2);
      setText(made, "mode", chance(50) ? "CRD" : "DCR");
      return void(result(made, x.type, {dims[0], dims[1] / 4, dims[2] * 2, dims[3] * 2}, x.largest,
                         x.grain));
    }
    if (dims[2] % 2 == 0 && dims[3] % 2 == 0) {
      onnx::NodeProto &made = node("SpaceToDepth", {x.name});
      setInt(made, "blocksize", 2);
      return void(result(made, x.type, {dims[0], dims[1] * 4, dims[2] / 2, dims[3] / 2}, x.largest,
                         x.grain));
    }
    break;
  case 5: {
    const Value shape = result(node("Shape", {x.name}), TensorProto::INT64, {rank}, 2000, 1);
    if (chance(60) && rank && count(dims) > 0) {
      // A shape that is computed.
      return void(result(node("Reshape", {x.name, shape.name}), x.type, dims, x.largest, x.grain));
    }
    return;
  }
  default:
    if (rank == 4 && x.type == TensorProto::FLOAT && count(dims) > 0 && count(dims) < 2000) {
      const int64_t h = 1 + below(3), w = 1 + below(3);
      const Names inputs{x.name, "",
                         numbers(TensorProto::FLOAT, {4}, {1, 1, double(h), double(w)})};
      onnx::NodeProto &made = node("Resize", inputs);
      const bool linear = chance(50);
      setText(made, "mode", linear ? "linear" : "nearest");
      setText(made, "coordinate_transformation_mode", chance(50) ? "asymmetric" : "half_pixel");
      setText(made, "nearest_mode", "floor");
      return void(result(made, x.type, {dims[0], dims[1], dims[2] * h, dims[3] * w}, x.largest,
                         linear ? 0 : x.grain));
    }
  }
  result(node("Identity", {x.name}), x.type, dims, x.largest, x.grain);
}

void MixedMaker::addReshape(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  Dims dims = x.dims;
  switch (below(4)) {
  case 0: {
    const int64_t axis = below(rank + 1);
    onnx::NodeProto &made = node("Flatten", {x.name});
    setInt(made, "axis", chance(30) && axis < rank ? axis - rank : axis);
    Dims to{1, 1};
    for (int64_t i = 0; i < rank; ++i)
      to[i < axis ? 0 : 1] *= dims[size_t(i)];
    return void(result(made, x.type, to, x.largest, x.grain));
  }
  case 1: {
    if (rank > 4)
      break;
    const int64_t axis = below(rank + 1);
    dims.insert(dims.begin() + axis, 1);
    return void(result(node("Unsqueeze", {x.name, integers({chance(50) ? axis : axis - rank - 1})}),
                       x.type, dims, x.largest, x.grain));
  }
  case 2: {
    Dims axes, to;
    for (int64_t i = 0; i < rank; ++i)
      if (dims[size_t(i)] == 1 && chance(60))
        axes.push_back(chance(50) ? i : i - rank);
      else
        to.push_back(dims[size_t(i)]);
    if (axes.empty())
      break;
    return void(result(node("Squeeze", {x.name, integers(axes)}), x.type, to, x.largest, x.grain));
  }
  default:;
  }
  // Factors of the number of elements.
  int64_t rest = count(dims);
  if (!rest)
    return void(result(node("Identity", {x.name}), x.type, dims, x.largest, x.grain));
  Dims to;
  for (int64_t i = below(4); i > 0; --i) {
    Dims divisors;
    for (int64_t k = 1; k <= rest; ++k)
      if (rest % k == 0)
        divisors.push_back(k);
    to.push_back(divisors[size_t(below(int64_t(divisors.size())))]);
    rest /= to.back();
  }
  if (rest > 1 || to.empty())
    to.insert(to.begin() + below(int64_t(to.size()) + 1), rest);
  Dims asked = to;
  if (chance(50))
    asked[size_t(below(int64_t(asked.size())))] = -1;
  for (size_t i = 0; i < asked.size() && i < dims.size(); ++i)
    if (asked[i] == dims[i] && chance(40))
      asked[i] = 0;
  result(node("Reshape", {x.name, integers(asked)}), x.type, to, x.largest, x.grain);
}

void MixedMaker::addSlice(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  Dims starts, ends, axes, steps, dims = x.dims;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t size = dims[size_t(axis)];
    if (!chance(50) || !size)
      continue;
    int64_t step = 1 + below(chance(20) ? 20 : 3), start = below(size);
    int64_t end = start + 1 + below(size - start);
    int64_t length = (end - start + step - 1) / step;
    if (chance(30)) {
      // Backwards, from start down to and without end.
      end = below(start + 1) - 1;
      length = (start - end + step - 1) / step;
      step = -step;
      if (end < 0)
        end = chance(50) ? INT64_MIN + 1 : -size - 1;
    } else if (chance(10)) {
      end = start;
      length = 0;
    } else if (end == size && chance(40)) {
      end = chance(50) ? INT64_MAX : size + 5;
    }
    starts.push_back(chance(40) ? start - size : start);
    ends.push_back(end);
    axes.push_back(chance(40) ? axis - rank : axis);
    steps.push_back(step);
    dims[size_t(axis)] = length;
  }
  if (axes.empty())
    return addMovement(x);
  result(node("Slice", {x.name, integers(starts), integers(ends), integers(axes), integers(steps)}),
         x.type, dims, x.largest, x.grain);
}

void MixedMaker::addPad(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  if (!rank || !count(x.dims) || count(x.dims) > 5000 || x.type == TensorProto::BOOL)
    return addUnary(x);
  static constexpr const char *modes[] = {"constant", "constant", "reflect", "edge", "wrap"};
  std::string mode = oneOf(modes);
  if (mode == "wrap" && opset < 19)
    mode = "edge";
  Dims pads(size_t(2 * rank), 0), dims = x.dims;
  for (int64_t axis = 0; axis < rank; ++axis)
    for (int64_t side = 0; side < 2; ++side) {
      if (!chance(40))
        continue;
      const int64_t size = x.dims[size_t(axis)];
      int64_t pad =
          below(mode == "constant" ? 6 : std::max<int64_t>(1, std::min<int64_t>(4, size)));
      // Negative pads remove elements.
      if (mode == "constant" && dims[size_t(axis)] > 3 && chance(20))
        pad = -1;
      pads[size_t(axis + side * rank)] = pad;
      dims[size_t(axis)] += pad;
    }
  Names inputs{x.name, integers(pads)};
  if (mode == "constant" && chance(60))
    inputs.push_back(constant(x.type, {}, 2, 1, true).name);
  onnx::NodeProto &made = node("Pad", inputs);
  setText(made, "mode", mode.c_str());
  result(made, x.type, dims, std::max(x.largest, 2.0), x.grain);
}

void MixedMaker::addGather(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  if (!rank || !count(x.dims) || count(x.dims) > 5000)
    return addReshape(x);
  const int64_t axis = below(rank), size = x.dims[size_t(axis)];
  auto indices = [&](const Dims &dims) {
    std::vector<double> list(size_t(count(dims)));
    for (double &index : list)
      index = double(below(2 * size) - size);
    return numbers(chance(30) ? TensorProto::INT32 : TensorProto::INT64, dims, list);
  };
  Dims dims = x.dims;
  if (chance(40)) {
    dims[size_t(axis)] = 1 + below(5);
    for (int64_t i = 0; i < rank; ++i)
      if (i != axis && chance(20))
        dims[size_t(i)] = 1 + below(dims[size_t(i)]);
    onnx::NodeProto &made = node("GatherElements", {x.name, indices(dims)});
    setInt(made, "axis", chance(50) ? axis : axis - rank);
    return void(result(made, x.type, dims, x.largest, x.grain));
  }
  Dims shape;
  for (int64_t i = below(3); i > 0; --i)
    shape.push_back(1 + below(4));
  onnx::NodeProto &made = node("Gather", {x.name, indices(shape)});
  setInt(made, "axis", chance(50) ? axis : axis - rank);
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, shape.begin(), shape.end());
  result(made, x.type, dims, x.largest, x.grain);
}

void MixedMaker::addScatter(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  if (!rank || !count(x.dims) || x.type == TensorProto::BOOL)
    return addUnary(x);
  // Rows of the first dim, each written once.
  const int64_t rows = x.dims[0], written = 1 + below(rows);
  std::vector<double> order(size_t(rows), 0);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  order.resize(size_t(written));
  Dims dims = x.dims;
  dims[0] = written;
  const Value updates = constant(x.type, dims, 2, isFloat(x.type) ? 0.25 : 1);
  Names inputs{x.name, numbers(TensorProto::INT64, {written, 1}, order), updates.name};
  result(node("ScatterND", inputs), x.type, x.dims, std::max(x.largest, 2.0),
         std::min(x.grain, updates.grain));
}

void MixedMaker::addJoin(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  if (!rank || count(x.dims) > 5000)
    return addReshape(x);
  const int64_t axis = below(rank);
  Names parts{x.name};
  Dims dims = x.dims;
  double largest = x.largest, grain = x.grain;
  auto add = [&](const Value &part) {
    parts.push_back(part.name);
    dims[size_t(axis)] += part.dims[size_t(axis)];
    largest = std::max(largest, part.largest);
    grain = std::min(grain, part.grain);
  };
  const size_t max = chance(15) ? 20 : 4;
  for (const Value &part : values) {
    bool fits = part.type == x.type && part.dims.size() == x.dims.size() && parts.size() < max &&
                count(dims) < 5000;
    for (size_t i = 0; fits && i < x.dims.size(); ++i)
      fits = int64_t(i) == axis || part.dims[i] == x.dims[i];
    while (fits && parts.size() < max && count(dims) < 5000 && chance(60))
      add(part);
  }
  if (chance(40) && x.type != TensorProto::BOOL) {
    Dims part = x.dims;
    part[size_t(axis)] = 1 + below(2);
    add(constant(x.type, part, 2, isFloat(x.type) ? 0.25 : 1));
  }
  std::shuffle(parts.begin(), parts.end(), random);
  onnx::NodeProto &made = node("Concat", parts);
  setInt(made, "axis", chance(50) ? axis : axis - rank);
  result(made, x.type, dims, largest, grain);
}

void MixedMaker::addSplit(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  if (!rank)
    return addReshape(x);
  const int64_t axis = below(rank);
  Dims sizes;
  for (int64_t rest = x.dims[size_t(axis)]; rest > 0;) {
    sizes.push_back(sizes.size() == 4 ? rest : chance(5) ? 0 : 1 + below(rest));
    rest -= sizes.back();
  }
  if (sizes.empty())
    return addReshape(x);
  onnx::NodeProto &made = node("Split", {x.name, integers(sizes)});
  setInt(made, "axis", chance(50) ? axis : axis - rank);
  for (int64_t size : sizes) {
    Dims dims = x.dims;
    dims[size_t(axis)] = size;
    result(made, x.type, dims, x.largest, x.grain);
  }
}

void MixedMaker::addOrder(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  if (!rank || !count(x.dims) || !isExact(x) || x.type == TensorProto::BOOL ||
      x.type == TensorProto::UINT8 || x.type == TensorProto::INT8 || x.type == TensorProto::FLOAT16)
    return addMovement(x);
  const int64_t axis = below(rank), size = x.dims[size_t(axis)];
  Dims dims = x.dims;
  switch (below(4)) {
  case 0: {
    const int64_t k = 1 + below(size);
    dims[size_t(axis)] = k;
    onnx::NodeProto &made = node("TopK", {x.name, integers({k})});
    setInt(made, "axis", chance(50) ? axis : axis - rank);
    setInt(made, "largest", below(2));
    result(made, x.type, dims, x.largest, x.grain);
    return void(result(made, TensorProto::INT64, dims, 20, 1));
  }
  case 1: {
    const std::string at =
        numbers(TensorProto::INT64, {}, {double(chance(50) ? axis : axis - rank)});
    onnx::NodeProto &made = node("CumSum", {x.name, at});
    setInt(made, "exclusive", below(2));
    setInt(made, "reverse", below(2));
    return void(result(made, x.type, dims, x.largest * double(size), x.grain));
  }
  case 2: {
    // The number of results depends on the elements: nothing else reads them.
    onnx::NodeProto &made = node("NonZero", {x.name});
    const std::string name = newName();
    made.add_output(name);
    addPort(*graph().add_output(), {name, TensorProto::INT64, {}}, false);
    graph()
        .mutable_output(graph().output_size() - 1)
        ->mutable_type()
        ->mutable_tensor_type()
        ->clear_shape();
    return;
  }
  default: {
    if (x.type == TensorProto::INT64 || x.type == TensorProto::INT32) {
      const Names inputs{x.name, numbers(TensorProto::INT64, {}, {5}),
                         numbers(TensorProto::FLOAT, {2}, {0.5, 2})};
      if (rank > 4 || count(dims) > 3000)
        return addUnary(x);
      dims.push_back(5);
      return void(result(node("OneHot", inputs), TensorProto::FLOAT, dims, 2, 0.5));
    }
    onnx::NodeProto &made = node("Hardmax", {x.name});
    setInt(made, "axis", axis);
    return void(result(made, x.type, dims, 1, 1));
  }
  }
}

} // namespace atc::fuzz
