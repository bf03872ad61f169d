//===-- FunctionAttributes.cpp - attributes of calls in bodies ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/FunctionAttributes.h"

#include <google/protobuf/unknown_field_set.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace atc::onnx_import {

// Classes that know these fields take them out of the unknown ones, which are read below.
template <typename Message>
concept HasOverload = requires(const Message &message) { message.overload(); };
template <typename Message>
concept HasDefaults = requires(const Message &message) { message.attribute_proto(); };
static_assert(!HasOverload<onnx::NodeProto> && !HasOverload<onnx::FunctionProto> &&
                  !HasDefaults<onnx::FunctionProto>,
              "this version of onnx has overloads and defaults of functions: read them by name");

/// Calls `visit` with the bytes of each field of that number, which the message's class does not
/// know.
template <typename Message, typename Visit>
static void forEachUnknown(const Message &message, int number, Visit &&visit) {
  const google::protobuf::UnknownFieldSet &fields =
      message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i)
    if (const google::protobuf::UnknownField &found = fields.field(i);
        found.number() == number &&
        found.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      visit(std::string(found.length_delimited()));
}

std::vector<onnx::AttributeProto> defaultsOf(const onnx::FunctionProto &function) {
  std::vector<onnx::AttributeProto> defaults;
  forEachUnknown(function, kDefaultAttributesField, [&](const std::string &bytes) {
    onnx::AttributeProto attribute;
    if (attribute.ParseFromString(bytes))
      defaults.push_back(std::move(attribute));
  });
  return defaults;
}

std::string overloadOf(const onnx::NodeProto &node) {
  std::string overload;
  forEachUnknown(node, kCallOverloadField, [&](const std::string &bytes) { overload = bytes; });
  return overload;
}

std::string overloadOf(const onnx::FunctionProto &function) {
  std::string overload;
  forEachUnknown(function, kFunctionOverloadField,
                 [&](const std::string &bytes) { overload = bytes; });
  return overload;
}

void bindAttributes(onnx::NodeProto &inner, const onnx::NodeProto &call,
                    llvm::ArrayRef<onnx::AttributeProto> defaults) {
  auto find = [&](llvm::StringRef name) -> const onnx::AttributeProto * {
    auto isNamed = [&](const onnx::AttributeProto &one) { return one.name() == name; };
    if (auto given = llvm::find_if(call.attribute(), isNamed); given != call.attribute().end())
      return &*given;
    auto stated = llvm::find_if(defaults, isNamed);
    return stated == defaults.end() ? nullptr : stated;
  };
  auto *attributes = inner.mutable_attribute();
  for (int i = attributes->size() - 1; i >= 0; --i) {
    onnx::AttributeProto &attribute = *attributes->Mutable(i);
    if (attribute.has_g())
      for (onnx::NodeProto &nested : *attribute.mutable_g()->mutable_node())
        bindAttributes(nested, call, defaults);
    if (attribute.ref_attr_name().empty())
      continue;
    const onnx::AttributeProto *value = find(attribute.ref_attr_name());
    if (!value) {
      attributes->DeleteSubrange(i, 1);
      continue;
    }
    std::string name = attribute.name();
    attribute = *value;
    attribute.set_name(name);
  }
}

} // namespace atc::onnx_import
