//===-- ModelReader.cpp - reads and checks TensorFlow Lite files ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/ModelReader.h"

#include <cmath>

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/MathExtras.h>
#include <onnx/onnx_pb.h>

#include "frontends/ModelFile.h"
#include "frontends/tflite/SparseTensor.h"

using llvm::StringRef;
using llvm::Twine;

namespace atc::tflite {

Dims dimsOf(const fb::Tensor &tensor) {
  Dims dims;
  const auto *shape = tensor.shape(), *signature = tensor.shape_signature();
  const bool hasSignature = signature && shape && signature->size() == shape->size();
  for (unsigned i = 0; shape && i < shape->size(); ++i)
    dims.push_back(hasSignature && signature->Get(i) < 0 ? -1 : shape->Get(i));
  return dims;
}

StringRef nameOf(const fb::Tensor &tensor) {
  return tensor.name() ? StringRef(tensor.name()->c_str(), tensor.name()->size()) : StringRef();
}

int onnxType(fb::TensorType type) {
  switch (type) {
  case fb::TensorType::FLOAT32:
    return onnx::TensorProto::FLOAT;
  case fb::TensorType::FLOAT16:
    return onnx::TensorProto::FLOAT16;
  case fb::TensorType::BFLOAT16:
    return onnx::TensorProto::BFLOAT16;
  case fb::TensorType::FLOAT64:
    return onnx::TensorProto::DOUBLE;
  case fb::TensorType::INT4:
  case fb::TensorType::INT8:
    return onnx::TensorProto::INT8;
  case fb::TensorType::INT16:
    return onnx::TensorProto::INT16;
  case fb::TensorType::INT32:
    return onnx::TensorProto::INT32;
  case fb::TensorType::INT64:
    return onnx::TensorProto::INT64;
  case fb::TensorType::UINT8:
    return onnx::TensorProto::UINT8;
  case fb::TensorType::UINT16:
    return onnx::TensorProto::UINT16;
  case fb::TensorType::UINT32:
    return onnx::TensorProto::UINT32;
  case fb::TensorType::UINT64:
    return onnx::TensorProto::UINT64;
  case fb::TensorType::BOOL:
    return onnx::TensorProto::BOOL;
  default:
    return onnx::TensorProto::UNDEFINED;
  }
}

size_t elementSize(fb::TensorType type) {
  switch (type) {
  case fb::TensorType::BOOL:
  case fb::TensorType::INT8:
  case fb::TensorType::UINT8:
    return 1;
  case fb::TensorType::FLOAT16:
  case fb::TensorType::BFLOAT16:
  case fb::TensorType::INT16:
  case fb::TensorType::UINT16:
    return 2;
  case fb::TensorType::FLOAT32:
  case fb::TensorType::INT32:
  case fb::TensorType::UINT32:
    return 4;
  case fb::TensorType::FLOAT64:
  case fb::TensorType::INT64:
  case fb::TensorType::UINT64:
  case fb::TensorType::COMPLEX64:
    return 8;
  case fb::TensorType::COMPLEX128:
    return 16;
  default:
    return 0;
  }
}

bool isComplex(const fb::Tensor &tensor) { return tensor.type() == fb::TensorType::COMPLEX64; }

bool isQuantized(const fb::Tensor &tensor) {
  switch (tensor.type()) {
  case fb::TensorType::INT4:
  case fb::TensorType::INT8:
  case fb::TensorType::UINT8:
  case fb::TensorType::INT16:
    return tensor.quantization() && tensor.quantization()->scale() &&
           tensor.quantization()->scale()->size() > 0;
  default:
    return false;
  }
}

std::optional<size_t> ModelReader::findSignature(StringRef wanted, Diagnostics &diagnostics) const {
  const auto *signatures = model->signature_defs();
  std::vector<std::string> names;
  llvm::SmallDenseSet<size_t> named;
  for (unsigned i = 0; signatures && i < signatures->size(); ++i) {
    const fb::SignatureDef &signature = *signatures->Get(i);
    const auto *key = signature.signature_key();
    const StringRef name = key ? StringRef(key->c_str(), key->size()) : StringRef();
    if (name == (wanted.empty() ? "serving_default" : wanted))
      return signature.subgraph_index();
    names.push_back(("'" + name + "'").str());
    named.insert(signature.subgraph_index());
  }
  if (wanted.empty() && named.size() < 2)
    return named.empty() ? 0 : *named.begin();
  llvm::sort(names);
  diagnostics.error(
      "E13005",
      "the model has no signature '" + (wanted.empty() ? "serving_default" : wanted) +
          "'; it has " +
          (names.empty() ? "none" : llvm::join(names, ", ") + ": choose one with --signature_def"));
  return std::nullopt;
}

StringRef ModelReader::data(const fb::Tensor &tensor) const {
  // Buffer 0 is the empty one that stands for no data.
  const auto *buffers = model->buffers();
  if (tensor.buffer() == 0 || !buffers)
    return {};
  if (auto dense = expanded.find(&tensor); dense != expanded.end())
    return dense->second;
  const fb::Buffer &buffer = *buffers->Get(tensor.buffer());
  if (buffer.offset() > 1)
    return file->getBuffer().substr(buffer.offset(), buffer.size());
  if (!buffer.data())
    return {};
  return {reinterpret_cast<const char *>(buffer.data()->data()), buffer.data()->size()};
}

fb::BuiltinOperator ModelReader::code(const fb::Operator &op) const {
  const fb::OperatorCode &code = *model->operator_codes()->Get(op.opcode_index());
  return std::max(code.builtin_code(),
                  static_cast<fb::BuiltinOperator>(code.deprecated_builtin_code()));
}

std::string ModelReader::opName(const fb::Operator &op) const {
  const fb::OperatorCode &stated = *model->operator_codes()->Get(op.opcode_index());
  if (code(op) == fb::BuiltinOperator::CUSTOM && stated.custom_code())
    return stated.custom_code()->str();
  const std::string name = fb::EnumNameBuiltinOperator(code(op));
  return name.empty() ? ("operator " + Twine(static_cast<int>(code(op)))).str() : name;
}

std::string typeName(fb::TensorType type) {
  const std::string name = fb::EnumNameTensorType(type);
  return name.empty() ? "number " + std::to_string(static_cast<int>(type)) : name;
}

bool ModelReader::checkTensor(const fb::Tensor &tensor, Diagnostics &diagnostics) {
  auto fail = [&](const Twine &text) {
    diagnostics.error("E13005", "tensor '" + nameOf(tensor) + "' " + text);
    return false;
  };
  const auto *buffers = model->buffers();
  if (tensor.buffer() != 0 && (!buffers || tensor.buffer() >= buffers->size()))
    return fail("is in buffer " + Twine(tensor.buffer()) + " of " +
                Twine(buffers ? buffers->size() : 0));
  constexpr uint64_t maxElements = uint64_t(1) << 40;
  uint64_t elements = 1;
  for (unsigned i = 0; tensor.shape() && i < tensor.shape()->size(); ++i) {
    const int32_t dim = tensor.shape()->Get(i);
    if (dim < 0)
      return fail("has the dim " + Twine(dim));
    // A dim has 31 bits, so that the product may be beyond 64.
    elements = llvm::SaturatingMultiply(elements, static_cast<uint64_t>(dim));
    if (elements > maxElements)
      return fail("has more than 2^40 elements");
  }
  if (const auto *signature = tensor.shape_signature())
    for (int32_t dim : *signature)
      if (dim < -1)
        return fail("has the dim " + Twine(dim));
  const size_t size = elementSize(tensor.type());
  if (tensor.sparsity()) {
    std::string error;
    std::optional<std::string> dense = expandSparse(tensor, size, data(tensor), error);
    if (!dense)
      return fail(error);
    expanded[&tensor] = std::move(*dense);
  }
  const StringRef bytes = data(tensor);
  const uint64_t expected =
      tensor.type() == fb::TensorType::INT4 ? (elements + 1) / 2 : elements * size;
  if (!bytes.empty() && expected && bytes.size() != expected)
    return fail("has " + Twine(bytes.size()) + " bytes, but its shape and type " +
                typeName(tensor.type()) + " need " + Twine(expected));
  if (!isQuantized(tensor))
    return true;
  const fb::QuantizationParameters &quantization = *tensor.quantization();
  for (float scale : *quantization.scale())
    if (!(scale > 0) || !std::isfinite(scale))
      return fail("has the scale " + std::to_string(scale) + ", expected a positive number");
  const unsigned scales = quantization.scale()->size();
  const unsigned zeros = quantization.zero_point() ? quantization.zero_point()->size() : 0;
  const auto axis = static_cast<uint32_t>(quantization.quantized_dimension());
  const unsigned rank = tensor.shape() ? tensor.shape()->size() : 0;
  if (scales > 1 && (axis >= rank || tensor.shape()->Get(axis) != static_cast<int64_t>(scales)))
    return fail("has " + Twine(scales) + " scales, which its dim " +
                Twine(quantization.quantized_dimension()) + " has not");
  if (zeros > 1 && zeros != scales)
    return fail("has " + Twine(scales) + " scales and " + Twine(zeros) + " zero points");
  const bool isUnsigned = tensor.type() == fb::TensorType::UINT8;
  const bool isWide = tensor.type() == fb::TensorType::INT16;
  const int64_t low = isUnsigned ? 0 : isWide ? -32768 : -128;
  const int64_t high = isUnsigned ? 255 : isWide ? 32767 : 127;
  for (unsigned i = 0; i < zeros; ++i)
    if (const int64_t zero = quantization.zero_point()->Get(i); zero < low || zero > high)
      return fail("has the zero point " + Twine(zero) + ", which its type has not");
  return true;
}

bool ModelReader::checkSubgraph(size_t index, Diagnostics &diagnostics) {
  const fb::SubGraph &graph = subgraph(index);
  const auto count = static_cast<int64_t>(numTensors(index));
  auto refersTo = [&](const flatbuffers::Vector<int32_t> *list, int64_t minimum) {
    for (unsigned i = 0; list && i < list->size(); ++i)
      if (list->Get(i) < minimum || list->Get(i) >= count) {
        diagnostics.error("E13005", "subgraph " + Twine(index) + " uses tensor " +
                                        Twine(list->Get(i)) + ", but has " + Twine(count));
        return false;
      }
    return true;
  };
  for (int64_t i = 0; i < count; ++i)
    if (!checkTensor(tensor(index, i), diagnostics))
      return false;
  if (!refersTo(graph.inputs(), 0) || !refersTo(graph.outputs(), 0))
    return false;
  const auto *codes = model->operator_codes();
  for (unsigned i = 0; graph.operators() && i < graph.operators()->size(); ++i) {
    const fb::Operator &op = *graph.operators()->Get(i);
    if (!codes || op.opcode_index() >= codes->size()) {
      diagnostics.error("E13005", "operator " + Twine(i) + " of subgraph " + Twine(index) +
                                      " has the code " + Twine(op.opcode_index()) + " of " +
                                      Twine(codes ? codes->size() : 0));
      return false;
    }
    if (!refersTo(op.inputs(), -1) || !refersTo(op.outputs(), 0))
      return false;
  }
  return true;
}

/// Returns the bytes of all tensors that are stored without their zeros, as their shapes state
/// them.
uint64_t ModelReader::expandedBytes() const {
  uint64_t sum = 0;
  for (size_t index = 0; index < numSubgraphs(); ++index)
    for (size_t i = 0; i < numTensors(index); ++i) {
      const fb::Tensor &stated = tensor(index, i);
      uint64_t bytes = stated.sparsity() ? elementSize(stated.type()) : 0;
      for (unsigned d = 0; stated.shape() && d < stated.shape()->size(); ++d)
        bytes = llvm::SaturatingMultiply(bytes, uint64_t(std::max(stated.shape()->Get(d), 0)));
      sum = llvm::SaturatingAdd(sum, bytes);
    }
  return sum;
}

bool ModelReader::check(StringRef path, Diagnostics &diagnostics) {
  auto fail = [&](const Twine &text) {
    diagnostics.error("E13005", "'" + path + "' " + text);
    return false;
  };
  const StringRef bytes = file->getBuffer();
  const auto *start = reinterpret_cast<const uint8_t *>(bytes.data());
  if (bytes.size() < 8 || bytes.substr(4, 4) != "TFL3")
    return fail("is not a TensorFlow Lite model: it does not have TFL3 at byte 4");
  // The tables are in front; constants that are too large for them follow.
  flatbuffers::Verifier verifier(
      start, std::min<size_t>(bytes.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1), /*max_depth=*/64,
      /*max_tables=*/100'000'000);
  if (!fb::VerifyModelBuffer(verifier))
    return fail("is a damaged TensorFlow Lite model: its tables do not fit together");
  model = fb::GetModel(start);
  if (model->version() != 3)
    return fail("has version " + Twine(model->version()) +
                " of the TensorFlow Lite format; "
                "version 3 can be read");
  if (!model->subgraphs() || model->subgraphs()->size() == 0)
    return fail("has no graph");
  for (unsigned i = 0; model->buffers() && i < model->buffers()->size(); ++i) {
    const fb::Buffer &buffer = *model->buffers()->Get(i);
    if (buffer.offset() > 1 &&
        (buffer.offset() > bytes.size() || buffer.size() > bytes.size() - buffer.offset()))
      return fail("is damaged: buffer " + Twine(i) + " is behind its end");
  }
  for (unsigned i = 0; model->signature_defs() && i < model->signature_defs()->size(); ++i)
    if (const uint32_t index = model->signature_defs()->Get(i)->subgraph_index();
        index >= numSubgraphs())
      return fail("has a signature of subgraph " + Twine(index) + ", but " + Twine(numSubgraphs()) +
                  " subgraphs");
  // A small file may state many large tensors.
  constexpr uint64_t maxBytes = uint64_t(4) << 30;
  if (expandedBytes() > maxBytes)
    return fail("has tensors that are stored without their zeros, and that have more than 4 GB "
                "with them");
  for (size_t i = 0; i < numSubgraphs(); ++i)
    if (!checkSubgraph(i, diagnostics))
      return false;
  return true;
}

std::unique_ptr<ModelReader> ModelReader::open(StringRef path, Diagnostics &diagnostics) {
  std::unique_ptr<ModelReader> reader(new ModelReader);
  reader->file = readWholeFile(path, diagnostics);
  if (!reader->file || !reader->check(path, diagnostics))
    return nullptr;
  return reader;
}

} // namespace atc::tflite
