//===-- TokenSource.cpp - sequences of tokens as samples ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/TokenSource.h"

#include "support/Npy.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace atc::quantize {

static bool isText(llvm::StringRef input) {
  return input == "input_ids" || input == "attention_mask" || input == "position_ids";
}

/// Returns the integers of a .npy file of one type.
template <typename T>
static std::optional<std::vector<int64_t>> readAs(const std::string &path, om_dtype type,
                                                  const std::vector<int64_t> &dims,
                                                  std::string &error) {
  // No file holds more elements than it has bytes.
  std::error_code status;
  const uint64_t bytes = std::filesystem::file_size(path, status);
  uint64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count) ||
        count > bytes / sizeof(T) || status) {
      error = "E10014: the file \"" + path + "\" is shorter than its header says";
      return std::nullopt;
    }
  std::vector<T> values(count);
  const ::om::Tensor tensor{"tokens", type, dims, count, count * sizeof(T), {}, 0};
  if (!readTensor(path, tensor, values.data(), error))
    return std::nullopt;
  return std::vector<int64_t>(values.begin(), values.end());
}

std::unique_ptr<TokenSource> TokenSource::read(const std::string &path, int64_t sequence,
                                               Diagnostics &diagnostics) {
  std::vector<int64_t> dims;
  const bool isWide = npyHasType(path, OM_I64);
  if (!readNpyDims(path, dims) || (!isWide && !npyHasType(path, OM_I32))) {
    diagnostics.error("E10014", "the file \"" + path +
                                    "\" of --tokens is no .npy file of int64 or int32: write the "
                                    "numbers of a text's tokens with numpy.save");
    return nullptr;
  }
  std::string error;
  const auto tokens = isWide ? readAs<int64_t>(path, OM_I64, dims, error)
                             : readAs<int32_t>(path, OM_I32, dims, error);
  if (!tokens) {
    diagnostics.errorLine(error);
    return nullptr;
  }
  if (tokens->size() < 2) {
    diagnostics.error("E10014", "the file \"" + path + "\" of --tokens has " +
                                    llvm::Twine(tokens->size()) + " tokens; at least 2 are needed");
    return nullptr;
  }
  return std::make_unique<TokenSource>(*tokens, sequence);
}

TokenSource::TokenSource(std::vector<int64_t> tokens, int64_t sequence)
    : tokens(std::move(tokens)),
      length(std::min<int64_t>(sequence, static_cast<int64_t>(this->tokens.size()))) {}

InputShapes TokenSource::shapesFor(OnnxModel &model) const {
  // A cache has a dim of heads, too.
  bool hasState = false;
  for (const onnx::ValueInfoProto &input : model.graph().input())
    hasState |=
        !model.findConstant(input.name()) && input.type().tensor_type().shape().dim_size() > 2;
  InputShapes shapes;
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    if (model.findConstant(input.name()))
      continue;
    const auto &sizes = input.type().tensor_type().shape().dim();
    std::vector<int64_t> dims;
    for (const auto &size : sizes)
      dims.push_back(std::max<int64_t>(1, size.dim_value()));
    if (dims.size() == 2 && sizes[1].dim_value() <= 0)
      dims[1] = length + (input.name() == "attention_mask" && hasState ? 1 : 0);
    shapes.emplace_back(input.name(), dims);
  }
  return shapes;
}

void TokenSource::begin(const std::vector<::om::Tensor> &inputs, Diagnostics &diagnostics) {
  tensors = inputs;
  piece = 0;
  bool found = false;
  for (const ::om::Tensor &input : inputs) {
    found |= input.name == "input_ids";
    // A model of a fixed length takes pieces of that one.
    if (input.name == "input_ids")
      length = static_cast<int64_t>(input.elements);
    if (isText(input.name) && input.dtype != OM_I64 && input.dtype != OM_I32)
      diagnostics.error("E10014", "--tokens needs '" + input.name + "' to be int64 or int32");
  }
  if (!found)
    diagnostics.error("E10014", "--tokens is for language models: the model has no input "
                                "'input_ids'; give samples with --data");
  else if (count() == 0)
    diagnostics.error("E10014", "the model takes " + llvm::Twine(length) +
                                    " tokens at once, --tokens has " + llvm::Twine(tokens.size()));
}

bool TokenSource::next(const std::vector<::om::Buffer> &inputs, Diagnostics &diagnostics) {
  if (piece == count())
    return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ::om::Tensor &tensor = tensors[i];
    std::memset(inputs[i].data(), 0, inputs[i].size());
    if (!isText(tensor.name))
      continue;
    // The state in front of the piece is hidden.
    const int64_t hidden = static_cast<int64_t>(tensor.elements) - length;
    for (int64_t k = std::max<int64_t>(0, hidden); k < static_cast<int64_t>(tensor.elements); ++k) {
      const int64_t at = k - std::max<int64_t>(0, hidden);
      const int64_t value = tensor.name == "input_ids"      ? tokens[piece * length + at]
                            : tensor.name == "position_ids" ? at
                                                            : 1;
      if (tensor.dtype == OM_I64)
        inputs[i].data<int64_t>()[k] = value;
      else
        inputs[i].data<int32_t>()[k] = static_cast<int32_t>(value);
    }
  }
  ++piece;
  return true;
}

} // namespace atc::quantize
