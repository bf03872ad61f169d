//===-- NodeAttributes.cpp - typed access to a node's attributes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/HostSignatures.h"
#include "frontends/onnx/NodeContext.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using onnx::AttributeProto;

namespace atc::onnx_import {

AttributeProto *NodeContext::findAttr(StringRef name) const {
  for (AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.name() == name) {
      knownAttrs.insert(&attribute);
      return &attribute;
    }
  return nullptr;
}

void NodeContext::checkAttrsKnown() {
  for (const AttributeProto &attribute : node.attribute())
    if (!knownAttrs.contains(&attribute))
      failAttribute(attribute.name(),
                    "is not known for this operator of opset " + Twine(opsetVersion));
}

AttributeProto *NodeContext::typedAttr(StringRef name, AttributeProto::AttributeType type) {
  AttributeProto *attribute = findAttr(name);
  if (!attribute || attribute->type() == type)
    return attribute;
  failAttribute(name, "has type " + AttributeProto::AttributeType_Name(attribute->type()) +
                          ", expected " + AttributeProto::AttributeType_Name(type));
  return nullptr;
}

void NodeContext::ignoreAttr(StringRef name) {
  if (std::optional<AttributeProto::AttributeType> type = olderAttributeType(name))
    typedAttr(name, *type);
  else
    findAttr(name);
}

int64_t NodeContext::intAttr(StringRef name, int64_t defaultValue) {
  AttributeProto *attribute = typedAttr(name, AttributeProto::INT);
  return attribute ? attribute->i() : defaultValue;
}

bool NodeContext::boolAttr(StringRef name, bool defaultValue) {
  int64_t value = intAttr(name, defaultValue);
  if (value != 0 && value != 1)
    failAttribute(name, "is " + Twine(value) + ", expected 0 or 1");
  return value != 0;
}

double NodeContext::floatAttr(StringRef name, double defaultValue) {
  AttributeProto *attribute = typedAttr(name, AttributeProto::FLOAT);
  return attribute ? attribute->f() : defaultValue;
}

std::string NodeContext::choiceAttr(StringRef name, ArrayRef<StringRef> allowed) {
  AttributeProto *attribute = typedAttr(name, AttributeProto::STRING);
  if (!attribute)
    return allowed.front().str();
  if (!llvm::is_contained(allowed, StringRef(attribute->s())))
    failAttribute(name,
                  "is '" + attribute->s() + "', expected one of " + llvm::join(allowed, ", "));
  return attribute->s();
}

std::optional<SmallVector<int64_t>> NodeContext::intsAttr(StringRef name) {
  AttributeProto *attribute = typedAttr(name, AttributeProto::INTS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

std::optional<SmallVector<double>> NodeContext::floatsAttr(StringRef name) {
  AttributeProto *attribute = typedAttr(name, AttributeProto::FLOATS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<double>(attribute->floats().begin(), attribute->floats().end());
}

} // namespace atc::onnx_import
