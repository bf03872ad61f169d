//===-- SearchInputs.cpp - inputs and attributes of a search for tokens ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/SearchInputs.h"

#include <cstring>

#include "frontends/onnx/GraphImporter.h"
#include "llvm/Support/FormatVariadic.h"

namespace atc::onnx_import {

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;
using onnx::NodeProto;
using onnx::TensorProto;
using onnx::ValueInfoProto;

namespace {
const ValueInfoProto *findInfo(const google::protobuf::RepeatedPtrField<ValueInfoProto> &infos,
                               const std::string &name) {
  auto found = llvm::find_if(infos, [&](const auto &info) { return info.name() == name; });
  return found == infos.end() ? nullptr : &*found;
}

std::optional<double> onlyNumber(const TensorProto &tensor) {
  auto first = [&](const auto &listed) -> std::optional<double> {
    using Number = std::decay_t<decltype(listed.Get(0))>;
    Number value;
    if (listed.size() == 1)
      return double(listed.Get(0));
    if (tensor.raw_data().size() != sizeof(value))
      return std::nullopt;
    std::memcpy(&value, tensor.raw_data().data(), sizeof(value));
    return double(value);
  };
  switch (tensor.data_type()) {
  case TensorProto::INT32:
    return first(tensor.int32_data());
  case TensorProto::INT64:
    return first(tensor.int64_data());
  case TensorProto::FLOAT:
    return first(tensor.float_data());
  default:
    return std::nullopt;
  }
}
} // namespace

static llvm::SmallVector<const onnx::GraphProto *>
joined(const onnx::GraphProto &home, ArrayRef<const onnx::GraphProto *> around) {
  llvm::SmallVector<const onnx::GraphProto *> graphs = {&home};
  llvm::append_range(graphs, around);
  return graphs;
}

SearchInputs::SearchInputs(onnx::GraphProto &home, ArrayRef<const onnx::GraphProto *> around,
                           NodeProto &node)
    : home(home), graphs(joined(home, around)), node(node),
      isBeam(node.op_type() == "BeamSearch" || node.op_type() == "WhisperBeamSearch"),
      isSampling(node.op_type() == "Sampling"),
      type(integerOf(node, "model_type", node.op_type() == "WhisperBeamSearch" ? Whisper : Gpt)) {}

std::string SearchInputs::checkNode() const {
  if (type != Gpt && !(isBeam && (type == T5 || type == Whisper)))
    return "attribute 'model_type' is " + std::to_string(type) +
           (isBeam ? ", expected 0 (GPT-2), 1 (T5) or 2 (Whisper)"
                   : ", expected 0: a decoder of the form of GPT-2");
  const onnx::AttributeProto *decoder = findAttribute(node, "decoder");
  if (!decoder || !decoder->has_g() || !hasInput(node, 0) || !hasInput(node, 1))
    return "attribute 'decoder' and inputs 'input_ids' and 'max_length' are needed";
  if (node.output_size() == 0 || node.output(0).empty())
    return "output 'sequences' is needed";
  if (isBeam && !(hasInput(node, 3) && hasInput(node, 4)))
    return "inputs 'num_beams' and 'num_return_sequences' are needed";
  for (auto [at, name] : {std::pair(10, "decoder_input_ids"),
                          {11, "logits_processor"},
                          {12, "cross_qk_layer_head"},
                          {13, "extra_decoding_ids"}})
    if (isBeam && hasInput(node, at) && !(at == 10 && type == Whisper))
      return std::string("input '") + name + "' is not supported with this model_type";
  for (int i = isBeam ? 3 : 1; i < node.output_size(); ++i)
    if (!node.output(i).empty())
      return "output " + std::to_string(i) + " ('" + node.output(i) + "') is not supported";
  return checkNumbers();
}

std::string SearchInputs::checkNumbers() const {
  auto wrong = [](StringRef name, double value, const Twine &wanted) {
    const bool isWhole = value == double(int64_t(value));
    return (Twine("input '") + name + "' is " +
            (isWhole ? Twine(int64_t(value)).str() : llvm::formatv("{0:F4}", value).str()) +
            ", expected " + wanted)
        .str();
  };
  const std::optional<double> longest = statedNumber(node.input(1)),
                              punished = statedNumber(penalty());
  const std::optional<int64_t> length = promptLength();
  if (longest && *longest <= double(length.value_or(0)))
    return wrong("max_length", *longest,
                 length ? "more than " + std::to_string(*length) + ", the number of " + promptName()
                        : "a positive number");
  if (punished && !(*punished > 0))
    return wrong("repetition_penalty", *punished, "a positive number");
  if (!isBeam)
    return "";
  const std::optional<double> width = statedNumber(node.input(3)),
                              wanted = statedNumber(node.input(4));
  if (width && !(*width >= 1 && *width <= double(maxBeams)))
    return wrong("num_beams", *width, "1 to " + Twine(maxBeams));
  if (wanted && !(*wanted >= 1 && *wanted <= width.value_or(double(maxBeams))))
    return wrong("num_return_sequences", *wanted,
                 width ? "1 to the " + std::to_string(int64_t(*width)) + " of 'num_beams'"
                       : "1 to 'num_beams'");
  return "";
}

/// Returns the initializer or the value of the constant of a name, or null.
const TensorProto *SearchInputs::storedValue(const std::string &tensor) const {
  for (const onnx::GraphProto *graph : graphs) {
    for (const TensorProto &weight : graph->initializer())
      if (weight.name() == tensor)
        return &weight;
    for (const NodeProto &made : graph->node())
      if (made.op_type() == "Constant" && made.output_size() == 1 && made.output(0) == tensor)
        if (const onnx::AttributeProto *value = findAttribute(made, "value"))
          return &value->t();
  }
  return nullptr;
}

std::optional<double> SearchInputs::statedNumber(const std::string &tensor) const {
  const TensorProto *value = storedValue(tensor);
  return value ? onlyNumber(*value) : std::nullopt;
}

std::optional<int64_t> SearchInputs::promptLength() const {
  const bool isGiven = type == Gpt || hasInput(node, 10);
  if (!isGiven)
    return 1;
  const ValueInfoProto *ids = findInfo(graphs.back()->input(), node.input(type == Gpt ? 0 : 10));
  const onnx::TensorShapeProto *shape = ids ? &ids->type().tensor_type().shape() : nullptr;
  if (!shape || shape->dim_size() != 2 || !shape->dim(1).has_dim_value())
    return std::nullopt;
  return shape->dim(1).dim_value();
}
const char *SearchInputs::promptName() const {
  if (type == Gpt)
    return "tokens of 'input_ids'";
  return hasInput(node, 10) ? "tokens of 'decoder_input_ids'" : "tokens that sequences begin with";
}

std::optional<int64_t> SearchInputs::statedType(const std::string &tensor) const {
  for (const onnx::GraphProto *graph : graphs)
    for (const auto *infos : {&graph->output(), &graph->value_info(), &graph->input()})
      if (const ValueInfoProto *info = findInfo(*infos, tensor);
          info && info->type().tensor_type().elem_type())
        return info->type().tensor_type().elem_type();
  const TensorProto *value = storedValue(tensor);
  return value ? std::optional<int64_t>(value->data_type()) : std::nullopt;
}
int64_t SearchInputs::scoreType() const {
  Names tensors;
  for (int i = 1; i < node.output_size(); ++i)
    tensors.push_back(node.output(i));
  llvm::append_values(tensors, input(-1, 5), penalty());
  for (const std::string &tensor : tensors)
    if (const std::optional<int64_t> stated = statedType(tensor))
      return *stated;
  return TensorProto::FLOAT;
}

} // namespace atc::onnx_import
