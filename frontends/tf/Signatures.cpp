//===-- Signatures.cpp - what TensorFlow's operators take -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/Signatures.h"

#include "frontends/tf/NodeDefs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace atc::tf_import {

namespace {

struct Signature {
  StringLiteral inputs, attributes;
};

const StringMap<Signature> &signatures() {
  static const StringMap<Signature> all{
#define SIGNATURE(Op, Inputs, Attributes) {#Op, {Inputs, Attributes}},
#include "frontends/tf/schema/Signatures.def"
  };
  return all;
}

/// A kind of attribute by its letter in Signatures.def.
struct Kind {
  char letter;
  StringLiteral name;
  pb::AttrValue::ValueCase single;
  /// Returns the number of elements that a list has of it.
  int (*count)(const pb::AttrValue::ListValue &);
};

template <auto size> int countOf(const pb::AttrValue::ListValue &list) { return (list.*size)(); }

using List = pb::AttrValue::ListValue;
constexpr Kind kinds[] = {
    {'i', "an integer", pb::AttrValue::kI, countOf<&List::i_size>},
    {'f', "a float", pb::AttrValue::kF, countOf<&List::f_size>},
    {'b', "a bool", pb::AttrValue::kB, countOf<&List::b_size>},
    {'s', "a string", pb::AttrValue::kS, countOf<&List::s_size>},
    {'t', "an element type", pb::AttrValue::kType, countOf<&List::type_size>},
    {'h', "a shape", pb::AttrValue::kShape, countOf<&List::shape_size>},
    {'x', "a tensor", pb::AttrValue::kTensor, countOf<&List::tensor_size>},
    {'c', "a function", pb::AttrValue::kFunc, countOf<&List::func_size>},
};

const Kind &kindOf(char letter) {
  return *llvm::find_if(kinds, [&](const Kind &kind) { return kind.letter == toLower(letter); });
}

/// Returns what a value of the kind `letter` must be, and is not; empty where it fits.
std::string misfit(const pb::AttrValue &value, char letter) {
  const Kind &wanted = kindOf(letter);
  if (letter == wanted.letter)
    return value.value_case() == wanted.single ? "" : wanted.name.str();
  const std::string list = "a list, of which each element is " + wanted.name.str();
  if (value.value_case() != pb::AttrValue::kList)
    return list;
  const bool hasOthers = llvm::any_of(kinds, [&](const Kind &other) {
    return other.letter != wanted.letter && other.count(value.list()) != 0;
  });
  return hasOthers ? list : "";
}

/// Calls `visit` for each argument of the signature, whose inputs are `inputs`, with the number of
/// inputs that it stands for and their type: DT_INVALID where the node does not say it. Returns
/// false where the node lacks the attribute that states a number, which its builder asks for.
bool visitInputs(const pb::NodeDef &node, StringRef inputs,
                 function_ref<void(int64_t, pb::DataType)> visit) {
  const auto typeNamed = [&](StringRef name) {
    pb::DataType type = pb::DT_INVALID;
    if (pb::DataType_Parse(name.str(), &type))
      return type;
    const pb::AttrValue *value = attributeOf(node, name.str().c_str());
    return value && value->value_case() == pb::AttrValue::kType ? value->type() : pb::DT_INVALID;
  };
  SmallVector<StringRef> arguments;
  inputs.split(arguments, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef argument : arguments) {
    if (!argument.contains('*')) {
      visit(1, typeNamed(argument));
      continue;
    }
    auto [number, type] = argument.split('*');
    const pb::AttrValue *value = attributeOf(node, (number.empty() ? type : number).str().c_str());
    if (!value)
      return false;
    // A number beyond all nodes is no number of inputs, and the sum does not wrap.
    if (!number.empty())
      visit(std::clamp<int64_t>(value->i(), 0, int64_t(1) << 32), typeNamed(type));
    else
      for (int each : value->list().type())
        visit(1, static_cast<pb::DataType>(each));
  }
  return true;
}

/// Branches and tables that were lowered have these with inputs beside those of TensorFlow.
bool hasOtherInputs(StringRef op) {
  return is_contained({"Identity", "Merge", "Switch", "LookupTableFind", "LookupTableFindV2"}, op);
}

} // namespace

bool checkSignature(const pb::NodeDef &node, Diagnostics &diagnostics) {
  auto found = signatures().find(node.op());
  if (found == signatures().end())
    return true;
  const std::string name = "node '" + node.name() + "' (" + node.op() + ")";
  const unsigned before = diagnostics.numErrors();
  SmallVector<StringRef> attributes;
  found->second.attributes.split(attributes, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef attribute : attributes)
    if (const pb::AttrValue *value = attributeOf(node, attribute.substr(2).str().c_str()))
      if (const std::string wanted = misfit(*value, attribute.front()); !wanted.empty())
        diagnostics.error("E14001", "attribute '" + attribute.substr(2) + "' of " + name +
                                        ": has a value of another type than the operator's, "
                                        "expected " +
                                        wanted);
  if (diagnostics.numErrors() != before)
    return false;
  if (hasOtherInputs(node.op()))
    return true;
  SmallVector<StringRef> inputs;
  for (StringRef input : node.input())
    if (!input.starts_with("^"))
      inputs.push_back(input);
  const int64_t count = inputs.size();
  int64_t wanted = 0;
  if (!visitInputs(node, found->second.inputs,
                   [&](int64_t number, pb::DataType) { wanted += number; }))
    wanted = count;
  if (count < wanted)
    diagnostics.error("E14001", "input " + Twine(count) + " of " + name +
                                    ": is missing; the operator needs " + Twine(wanted));
  else if (count > wanted)
    diagnostics.error("E14001", "input " + Twine(wanted) + " ('" + inputs[wanted] + "') of " +
                                    name + ": is one too many; the operator takes " +
                                    Twine(wanted));
  return count == wanted;
}

SmallVector<pb::DataType> statedInputTypes(const pb::NodeDef &node) {
  SmallVector<pb::DataType> types;
  auto found = signatures().find(node.op());
  if (found == signatures().end() || hasOtherInputs(node.op()))
    return types;
  const int64_t max = node.input_size();
  visitInputs(node, found->second.inputs, [&](int64_t number, pb::DataType type) {
    types.append(std::min(number, max), type);
  });
  return types;
}

} // namespace atc::tf_import
