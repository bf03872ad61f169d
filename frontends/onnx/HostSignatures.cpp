//===-- HostSignatures.cpp - what operators with a host kernel require ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/HostSignatures.h"

#include <map>

#include "dialects/graph/HostCalls.h"
#include "frontends/onnx/TensorData.h"
#include "kernels/core/Support.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::createStringError;
using llvm::Error;
using llvm::SmallVector;
using llvm::StringLiteral;
using llvm::StringRef;
using onnx::AttributeProto;

namespace atc::onnx_import {

llvm::ArrayRef<HostSignature> hostSignatures() {
  static constexpr HostSignature all[] = {
#define SIGNATURE(Kernel, Domain, Since, Required, Most, Types, Attributes, Unread)                \
  {#Kernel, Domain, Since, Required, Most, Types, Attributes, Unread},
#include "kernels/Signatures.def"
  };
  return all;
}

const HostSignature *findHostSignature(StringRef kernel) {
  auto found = llvm::find_if(hostSignatures(), [&](auto &row) { return row.kernel == kernel; });
  return found == hostSignatures().end() ? nullptr : found;
}

namespace {

/// The texts that an attribute can have; of every kernel where none is named.
struct Choice {
  StringLiteral kernel, attribute, texts;
};
constexpr Choice choices[] = {
    {"", "auto_pad", "NOTSET SAME_UPPER SAME_LOWER VALID"},
    {"", "approximate", "none tanh"},
    {"BitShift", "direction", "LEFT RIGHT"},
    {"Cast", "round_mode", "up down nearest"},
    {"CastLike", "round_mode", "up down nearest"},
    {"DepthToSpace", "mode", "DCR CRD"},
    {"GRU", "direction", "forward reverse bidirectional"},
    {"GridSample", "mode", "linear bilinear nearest cubic bicubic"},
    {"GridSample", "padding_mode", "zeros border reflection"},
    {"GroupQueryAttention", "k_quant_type", "NONE PER_TENSOR PER_CHANNEL"},
    {"GroupQueryAttention", "v_quant_type", "NONE PER_TENSOR PER_CHANNEL"},
    {"ImageDecoder", "pixel_format", "RGB BGR Grayscale"},
    {"LSTM", "direction", "forward reverse bidirectional"},
    {"NegativeLogLikelihoodLoss", "reduction", "mean sum none"},
    {"Pad", "mode", "constant reflect edge wrap"},
    {"RNN", "direction", "forward reverse bidirectional"},
    {"Resize", "coordinate_transformation_mode",
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric "
     "tf_half_pixel_for_nn tf_crop_and_resize"},
    {"Resize", "keep_aspect_ratio_policy", "stretch not_larger not_smaller"},
    {"Resize", "mode", "nearest linear cubic"},
    {"Resize", "nearest_mode", "round_prefer_floor round_prefer_ceil floor ceil"},
    {"RoiAlign", "coordinate_transformation_mode", "half_pixel output_half_pixel"},
    {"RoiAlign", "mode", "avg max"},
    {"ScatterElements", "reduction", "none add mul max min"},
    {"ScatterND", "reduction", "none add mul max min"},
    {"SoftmaxCrossEntropyLoss", "reduction", "mean sum none"},
    {"SpaceToDepth", "mode", "DCR CRD"},
    {"TensorScatter", "mode", "linear circular"},
    {"TfIdfVectorizer", "mode", "TF IDF TFIDF"},
    {"Upsample", "mode", "nearest linear bilinear"},
};

/// The element types, by number, that an attribute can ask for.
struct ElementTypes {
  StringLiteral kernel, attribute, types;
};
constexpr StringLiteral numbersAndFlags = "1 2 3 4 5 6 7 9 10 11 12 13 16", floats = "1 10 11 16";
constexpr ElementTypes elementTypes[] = {
    {"Bernoulli", "dtype", numbersAndFlags},
    {"EyeLike", "dtype", numbersAndFlags},
    {"DequantizeLinear", "output_dtype", "0 1 10 11 16"},
    {"Multinomial", "dtype", "6 7"},
    {"RandomNormal", "dtype", floats},
    {"RandomNormalLike", "dtype", floats},
    {"RandomUniform", "dtype", floats},
    {"RandomUniformLike", "dtype", floats},
};

/// An attribute of which a kernel knows one value.
struct OnlyValue {
  StringLiteral kernel, attribute;
  int64_t value;
};
constexpr OnlyValue onlyValues[] = {
    {"MsCausalConvWithState", "ndim", 1},
};

/// An input that a kernel does not read.
struct UnreadInput {
  StringLiteral kernel;
  unsigned index;
  StringLiteral name;
};
constexpr UnreadInput unreadInputs[] = {
    {"MultiHeadAttention", 8, "past_sequence_length"},
    {"MultiHeadAttention", 9, "cache_indirection"},
};

/// Attributes that are ignored, and those that became inputs, with the letters of their types.
/// Where the newest version of an operator has one of the same name, its type counts.
struct OlderAttributes {
  char type;
  StringLiteral names;
};
constexpr OlderAttributes olderAttributes[] = {
    {'i',
     "axis_w broadcast chunk_size hidden_size is_test k output_dtype output_sequence saturate seed "
     "softmax_precision spatial stash_type storage_order"},
    {'I', "axes consumed_inputs ends kernel_shape pads split starts"},
    {'f', "extrapolation_value max min momentum ratio value"},
    {'F', "scales"},
    {'s', "keep_aspect_ratio_policy locale round_mode"},
};

/// The integers that count something of which there must be one.
constexpr StringLiteral counts[] = {"blocksize", "group", "num_groups", "offset_group"};

/// The integers that say yes or no. Runtimes read another number as one or the other, each in its
/// own way, so that none of them can be meant. (smooth_softmax is not one: its default is -1.)
constexpr StringLiteral flags[] = {
    "align_corners",
    "allowzero",
    "antialias",
    "causal",
    "ceil_mode",
    "center_point_box",
    "channels_last",
    "count_include_pad",
    "detect_negative",
    "detect_positive",
    "do_rotary",
    "exclude_outside",
    "exclusive",
    "fmod",
    "input_forget",
    "interleaved",
    "inverse",
    "is_case_sensitive",
    "is_causal",
    "is_packed_batching",
    "keepdims",
    "largest",
    "layout",
    "linear_before_reset",
    "new_axis",
    "noop_with_empty_axes",
    "onesided",
    "past_present_share_buffer",
    "periodic",
    "reverse",
    "rotary_interleaved",
    "saturate",
    "select_last_index",
    "sliding_window_cache",
    "sorted",
    "storage_order",
    "training_mode",
    "transA",
    "transB",
    "transBatchA",
    "transBatchB",
    "unidirectional",
    "upper",
    "zeros",
};

/// Returns whether an attribute that asks for an element type has one that its operator can make.
bool canAskFor(StringRef kernel, const AttributeProto &attribute) {
  static constexpr StringLiteral names[] = {"dtype", "output_datatype", "output_dtype", "to"};
  if (!llvm::is_contained(names, attribute.name()))
    return true;
  const int64_t type = attribute.i();
  for (const ElementTypes &asked : elementTypes) {
    if (asked.kernel != kernel || asked.attribute != attribute.name())
      continue;
    SmallVector<StringRef> types;
    StringRef(asked.types).split(types, ' ');
    return llvm::is_contained(types, std::to_string(type));
  }
  // Another input decides where nothing is asked for.
  return (type == 0 && attribute.name() == "output_dtype") || type == onnx::TensorProto::STRING ||
         (llvm::isUInt<8>(type) && kernels::bitsOf(static_cast<uint8_t>(type)) != 0);
}

AttributeProto::AttributeType typeOf(char letter) {
  switch (letter) {
  case 'i':
    return AttributeProto::INT;
  case 'f':
    return AttributeProto::FLOAT;
  case 's':
    return AttributeProto::STRING;
  case 't':
    return AttributeProto::TENSOR;
  case 'I':
    return AttributeProto::INTS;
  case 'F':
    return AttributeProto::FLOATS;
  case 'S':
    return AttributeProto::STRINGS;
  default:
    return AttributeProto::TENSORS;
  }
}

} // namespace

StringRef missingHostAttribute(const HostSignature &signature,
                               llvm::function_ref<bool(StringRef)> has) {
  SmallVector<StringRef> known;
  StringRef(signature.attributes).split(known, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef entry : known)
    if (entry[1] == '!' && !has(entry.drop_front(2)))
      return entry.drop_front(2);
  return "";
}

std::optional<AttributeProto::AttributeType> olderAttributeType(StringRef name) {
  for (const OlderAttributes &row : olderAttributes) {
    SmallVector<StringRef> names;
    StringRef(row.names).split(names, ' ');
    if (llvm::is_contained(names, name))
      return typeOf(row.type);
  }
  return std::nullopt;
}

Error checkHostAttribute(StringRef kernel, const AttributeProto &attribute) {
  const HostSignature *signature = findHostSignature(kernel);
  if (!signature)
    return Error::success();
  std::optional<AttributeProto::AttributeType> type = olderAttributeType(attribute.name());
  SmallVector<StringRef> known;
  StringRef(signature->attributes).split(known, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef entry : known)
    if (entry.drop_front(2) == attribute.name())
      type = typeOf(entry.front());
  if (type && attribute.type() != *type)
    return createStringError("attribute '" + attribute.name() + "' has type " +
                             AttributeProto::AttributeType_Name(attribute.type()) + ", expected " +
                             AttributeProto::AttributeType_Name(*type));
  if (llvm::is_contained(counts, attribute.name()) && attribute.i() < 1)
    return createStringError("attribute '" + attribute.name() + "' is " +
                             std::to_string(attribute.i()) + ", expected at least 1");
  if (llvm::is_contained(flags, attribute.name()) && attribute.i() != 0 && attribute.i() != 1)
    return createStringError("attribute '" + attribute.name() + "' is " +
                             std::to_string(attribute.i()) + ", expected 0 or 1");
  // A pool would have windows without elements.
  static constexpr StringLiteral pools[] = {"AveragePool", "LpPool", "MaxPool",
                                            "QLinearAveragePool"};
  if (attribute.name() == "pads" && llvm::is_contained(pools, kernel))
    for (int64_t pad : attribute.ints())
      if (pad < 0)
        return createStringError("attribute 'pads' has the number " + std::to_string(pad) +
                                 ", expected 0 or more");
  for (const OnlyValue &only : onlyValues)
    if (only.kernel == kernel && only.attribute == attribute.name() && attribute.i() != only.value)
      return createStringError("attribute '" + attribute.name() + "' is " +
                               std::to_string(attribute.i()) + ", only " +
                               std::to_string(only.value) + " is supported");
  for (const Choice &choice : choices) {
    if (choice.attribute != attribute.name() || !(choice.kernel.empty() || choice.kernel == kernel))
      continue;
    SmallVector<StringRef> texts;
    StringRef(choice.texts).split(texts, ' ');
    if (!llvm::is_contained(texts, StringRef(attribute.s())))
      return createStringError("attribute '" + attribute.name() + "' is '" + attribute.s() +
                               "', expected one of " + llvm::join(texts, ", "));
  }
  if (!canAskFor(kernel, attribute))
    return createStringError("attribute '" + attribute.name() + "' asks for elements of " +
                             nameElementType(attribute.i()) +
                             ", which the operator does not allow");
  return Error::success();
}

Error checkHostInputs(const HostSignature &signature, mlir::ValueRange inputs) {
  for (const UnreadInput &unread : unreadInputs)
    if (unread.kernel == signature.kernel && unread.index < inputs.size() && inputs[unread.index] &&
        !mlir::isa<mlir::NoneType>(inputs[unread.index].getType()))
      return createStringError("input " + llvm::Twine(unread.index) + ", " + unread.name +
                               ", is not supported");
  SmallVector<StringRef> entries;
  StringRef(signature.types).split(entries, ' ', -1, /*KeepEmpty=*/false);
  struct Variable {
    SmallVector<StringRef> allowed;
    mlir::Type element;
    size_t input = 0; ///< the first one of this type
  };
  std::map<char, Variable> variables;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (entries.empty())
      break;
    StringRef entry = entries[std::min(i, entries.size() - 1)];
    if (entry == "*")
      continue;
    Variable &variable = variables[entry[0]];
    if (entry.size() > 2 && variable.allowed.empty())
      entry.drop_front(2).split(variable.allowed, ',');
    auto tensor = input ? mlir::dyn_cast<mlir::TensorType>(input.getType()) : nullptr;
    if (!tensor)
      continue;
    mlir::Type element = tensor.getElementType();
    const int dtype = graph::dtypeOf(element);
    auto name = [](mlir::Type type) { return nameElementType(graph::dtypeOf(type)); };
    if (variable.element && variable.element != element)
      return createStringError("input " + llvm::Twine(i) + " has element type " + name(element) +
                               ", expected " + name(variable.element) + " as input " +
                               llvm::Twine(variable.input));
    if (!llvm::is_contained(variable.allowed, std::to_string(dtype)))
      return createStringError("input " + llvm::Twine(i) + " has element type " + name(element) +
                               ", which the operator does not allow");
    if (!variable.element)
      variable.input = i;
    variable.element = element;
  }
  return Error::success();
}

} // namespace atc::onnx_import
