//===-- Decompose.cpp - divides convolutions into two smaller ones --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel [O, C, height, width] as a matrix from (channel, row) to (output, column) is the product
// of the weights of a convolution along the height and of one along the width if these have as many
// channels between them as the matrix has rank. The singular vectors of the largest values give the
// nearest product of a smaller rank.
//
//===----------------------------------------------------------------------===//

#include "quantize/onnx/Decompose.h"

#include "quantize/weights/LinearAlgebra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace atc::quantize {

namespace {

/// A kernel as the matrix whose rows are those of the smaller side.
struct KernelMatrix {
  int64_t rows, columns;
  bool rowsAreInputs;
  std::vector<double> values;
};

KernelMatrix matrixOf(llvm::ArrayRef<float> kernel, llvm::ArrayRef<int64_t> dims) {
  const int64_t inputs = dims[1] * dims[2], outputs = dims[0] * dims[3];
  KernelMatrix matrix{std::min(inputs, outputs), std::max(inputs, outputs), inputs <= outputs, {}};
  matrix.values.resize(kernel.size());
  for (int64_t o = 0; o < dims[0]; ++o)
    for (int64_t c = 0; c < dims[1]; ++c)
      for (int64_t y = 0; y < dims[2]; ++y)
        for (int64_t x = 0; x < dims[3]; ++x) {
          const int64_t input = c * dims[2] + y, output = o * dims[3] + x;
          const int64_t row = matrix.rowsAreInputs ? input : output;
          const int64_t column = matrix.rowsAreInputs ? output : input;
          matrix.values[row * matrix.columns + column] =
              kernel[((o * dims[1] + c) * dims[2] + y) * dims[3] + x];
        }
  return matrix;
}

/// Returns the eigenvectors of the products of a matrix's rows.
Eigen eigenOfRows(const KernelMatrix &matrix) {
  SquareMatrix products(matrix.rows);
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const double *a = matrix.values.data() + i * matrix.columns;
      const double *b = matrix.values.data() + j * matrix.columns;
      double sums[4] = {};
      int64_t k = 0;
      for (; k + 4 <= matrix.columns; k += 4)
        for (int lane = 0; lane < 4; ++lane)
          sums[lane] += a[k + lane] * b[k + lane];
      for (; k < matrix.columns; ++k)
        sums[0] += a[k] * b[k];
      products.row(i)[j] = products.row(j)[i] = sums[0] + sums[1] + sums[2] + sums[3];
    }
  return findEigen(std::move(products));
}

/// Two numbers of an attribute, or `otherwise` where the node has none; nothing for other counts.
std::optional<std::array<int64_t, 2>> pairOf(const onnx::NodeProto &node, const char *name,
                                             int64_t otherwise) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  if (!attribute)
    return std::array<int64_t, 2>{otherwise, otherwise};
  if (attribute->ints_size() != 2)
    return std::nullopt;
  return std::array<int64_t, 2>{attribute->ints(0), attribute->ints(1)};
}

void setInts(onnx::NodeProto &node, const std::string &name, std::initializer_list<int64_t> list) {
  removeAttribute(node, name);
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (int64_t value : list)
    attribute.add_ints(value);
}

class Divider {
public:
  Divider(OnnxModel &model, const DecomposeOptions &options) : model(model), options(options) {}

  std::vector<DecomposedLayer> run() {
    onnx::GraphProto result;
    for (onnx::NodeProto &node : *model.graph().mutable_node())
      if (!divide(node, result))
        *result.add_node() = std::move(node);
    *model.graph().mutable_node() = std::move(*result.mutable_node());
    model.removeUnusedConstants();
    model.index();
    return layers;
  }

private:
  bool divide(const onnx::NodeProto &node, onnx::GraphProto &result);

  OnnxModel &model;
  const DecomposeOptions &options;
  std::vector<DecomposedLayer> layers;
};

bool Divider::divide(const onnx::NodeProto &node, onnx::GraphProto &result) {
  if (node.op_type() != "Conv" || !node.domain().empty() || node.input_size() < 2 ||
      node.output_size() < 1 || intAttribute(node, "group", 1) != 1)
    return false;
  const onnx::TensorProto *weights = model.findConstant(node.input(1));
  const auto strides = pairOf(node, "strides", 1), dilations = pairOf(node, "dilations", 1);
  if (!weights || weights->dims_size() != 4 || !strides || !dilations)
    return false;
  const std::vector<int64_t> dims(weights->dims().begin(), weights->dims().end());
  const std::optional<std::vector<float>> kernel = readFloats(*weights);
  if (!kernel || kernel->empty() || (*strides)[0] < 1 || (*strides)[1] < 1 ||
      (*dilations)[0] != 1 || (*dilations)[1] != 1 || (*strides)[0] > 2 || (*strides)[1] > 2 ||
      dims[2] <= 2 || dims[3] <= 2)
    return false;
  const onnx::AttributeProto *pads = findAttribute(node, "pads");
  if (pads && pads->ints_size() != 4)
    return false;

  // The first convolution does not move along the width: it has as many times the positions.
  const double before = static_cast<double>(dims[0] * dims[1] * dims[2] * dims[3]);
  const auto perRank = static_cast<double>(dims[1] * dims[2] * (*strides)[1] + dims[0] * dims[3]);
  const auto limit = static_cast<int64_t>(options.maxCost * before / perRank);
  if (limit < 1)
    return false;
  const KernelFactors factors = factorizeKernel(*kernel, dims, options.energy);
  if (factors.rank < 1 || factors.rank > limit)
    return false;

  DecomposedLayer layer;
  layer.name = node.name().empty() ? node.output(0) : node.name();
  layer.rank = factors.rank;
  layer.energy = factors.energy;
  layer.cost = perRank * static_cast<double>(factors.rank) / before;
  onnx::NodeProto vertical = node, horizontal = node;
  vertical.set_name(layer.first = model.freshName(layer.name + "_vertical"));
  horizontal.set_name(layer.second = model.freshName(layer.name + "_horizontal"));
  const std::string between = model.freshName(node.output(0) + "_vertical");
  auto addWeights = [&](const char *suffix, std::vector<int64_t> shape,
                        const std::vector<float> &values) {
    const std::string name = model.freshName(node.input(1) + suffix);
    model.addConstant(makeFloats(name, shape, values));
    return name;
  };
  vertical.clear_input();
  vertical.add_input(node.input(0));
  vertical.add_input(
      addWeights("_vertical", {factors.rank, dims[1], dims[2], 1}, factors.vertical));
  vertical.set_output(0, between);
  horizontal.set_input(0, between);
  horizontal.set_input(
      1, addWeights("_horizontal", {dims[0], factors.rank, 1, dims[3]}, factors.horizontal));
  setInts(vertical, "kernel_shape", {dims[2], 1});
  setInts(horizontal, "kernel_shape", {1, dims[3]});
  setInts(vertical, "strides", {(*strides)[0], 1});
  setInts(horizontal, "strides", {1, (*strides)[1]});
  if (pads) {
    const int64_t top = pads->ints(0), left = pads->ints(1);
    const int64_t bottom = pads->ints(2), right = pads->ints(3);
    setInts(vertical, "pads", {top, 0, bottom, 0});
    setInts(horizontal, "pads", {0, left, 0, right});
  }
  *result.add_node() = std::move(vertical);
  *result.add_node() = std::move(horizontal);
  layers.push_back(std::move(layer));
  return true;
}

} // namespace

KernelFactors factorizeKernel(llvm::ArrayRef<float> kernel, llvm::ArrayRef<int64_t> dims,
                              double energy) {
  const KernelMatrix matrix = matrixOf(kernel, dims);
  const Eigen eigen = eigenOfRows(matrix);
  double all = 0;
  for (double value : eigen.values)
    all += std::max(0.0, value);
  KernelFactors factors;
  if (!(all > 0))
    return factors;
  double kept = 0;
  while (factors.rank < matrix.rows && kept < energy * all)
    kept += std::max(0.0, eigen.values[factors.rank++]);
  factors.energy = std::min(1.0, kept / all);
  const int64_t rank = factors.rank, channels = dims[1], height = dims[2], width = dims[3];
  factors.vertical.resize(rank * channels * height);
  factors.horizontal.resize(dims[0] * rank * width);
  std::vector<double> image(matrix.columns);
  for (int64_t r = 0; r < rank; ++r) {
    // The vector of the columns' side: the matrix times that of the rows, of the singular value's
    // length, which both sides share.
    const double *vector = eigen.vectors.row(r);
    std::fill(image.begin(), image.end(), 0.0);
    for (int64_t i = 0; i < matrix.rows; ++i)
      for (int64_t j = 0; j < matrix.columns; ++j)
        image[j] += vector[i] * matrix.values[i * matrix.columns + j];
    const double root = std::sqrt(std::sqrt(std::max(eigen.values[r], 1e-60)));
    auto sideOf = [&](bool inputs, int64_t index) {
      return static_cast<float>(inputs == matrix.rowsAreInputs ? vector[index] * root
                                                               : image[index] / root);
    };
    for (int64_t i = 0; i < channels * height; ++i)
      factors.vertical[r * channels * height + i] = sideOf(true, i);
    for (int64_t o = 0; o < dims[0]; ++o)
      for (int64_t x = 0; x < width; ++x)
        factors.horizontal[(o * rank + r) * width + x] = sideOf(false, o * width + x);
  }
  return factors;
}

std::vector<DecomposedLayer> decompose(OnnxModel &model, const DecomposeOptions &options) {
  return Divider(model, options).run();
}

std::string decomposedJson(llvm::ArrayRef<DecomposedLayer> layers) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const DecomposedLayer &layer : layers)
    object[layer.name] = {{"nodes", {layer.first, layer.second}},
                          {"rank", layer.rank},
                          {"energy", layer.energy},
                          {"cost", layer.cost}};
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace atc::quantize
