//===-- ImportVariables.cpp - variables that runs change ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

namespace atc::tflite {
namespace {

/// Returns the variable of a handle, whose "tensor" is its name; null after an error.
Variable *variableOf(OpContext &c) {
  const std::string name = c.hasInput(0) ? c.graph.names[c.proto.inputs()->Get(0)] : "";
  auto found = c.model.variables.find(name);
  if (found != c.model.variables.end())
    return &found->second;
  c.fail("its variable is not known: no VAR_HANDLE in the same graph or around it makes it");
  return nullptr;
}

void importHandle(OpContext &c) {
  const auto *p = c.options<fb::VarHandleOptions>();
  if (!p || !p->shared_name() || c.numOutputs() != 1)
    return c.fail("has no name of a variable");
  c.graph.names[c.proto.outputs()->Get(0)] = p->shared_name()->str();
}

void importRead(OpContext &c) {
  Variable *variable = variableOf(c);
  if (!variable)
    return;
  const std::string name = c.graph.names[c.proto.inputs()->Get(0)];
  if (!variable->stored)
    variable->stored = &c.outputTensor(0);
  // A position that runs before the first write sees what the last run wrote.
  if (variable->value.empty() && variable->isWritten)
    variable->value = c.model.addState(name, *variable);
  else if (variable->value.empty() && variable->initial)
    variable->value = c.constantOf(*variable->initial).name;
  if (variable->value.empty())
    return c.fail("variable '" + llvm::Twine(name) + "' has no value: nothing initializes it");
  c.setOutput({variable->value, isQuantized(c.outputTensor(0))});
}

void importAssign(OpContext &c) {
  Variable *variable = variableOf(c);
  if (!variable)
    return;
  // Branches and bodies of loops would have to return what they write.
  if (c.graph.subgraph != 0)
    return c.fail("a variable that a condition or a loop writes is not supported");
  variable->value = c.raw(1).name;
}

/// Variables have their first values before the operators are imported.
void importInitialization(OpContext &) {}

} // namespace

llvm::ArrayRef<OpRow> variableOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{ASSIGN_VARIABLE, importAssign},
                               {CALL_ONCE, importInitialization},
                               {READ_VARIABLE, importRead},
                               {VAR_HANDLE, importHandle}};
  return rows;
}

} // namespace atc::tflite
