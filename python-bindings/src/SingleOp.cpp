//===-- SingleOp.cpp - models of one operator for Python ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/InferredOutputs.h"
#include "python-bindings/src/ModuleParts.h"

namespace atc::python {

std::string singleOpModel(const std::string &description) {
  auto json = nlohmann::ordered_json::parse(description, nullptr, /*allow_exceptions=*/false);
  Diagnostics diagnostics;
  std::vector<SingleOp> ops = readSingleOps(json, "openatc.op", diagnostics);
  throwErrors(diagnostics);
  SingleOp &op = ops.front();
  const bool statesType = llvm::any_of(op.attributes, [](const SingleOpAttribute &attribute) {
    return attribute.name == "dst_type" && attribute.value.is_number_integer();
  });
  if (op.type == "Cast" && op.outputs.front().isAbsent && !statesType)
    throw ErrorLines{
        {"E14001: the operator Cast: the attribute dst_type is missing; give the number "
         "of a type, such as 1 for float16"}};
  std::vector<bool> isAny;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    SingleOpTensor &output = op.outputs[i];
    isAny.push_back(output.isAbsent);
    if (output.isAbsent) {
      output = {
          air::resultType(op, i), op.inputs.empty() ? output.format : op.inputs[0].format, {}};
      output.isInferred = true;
    }
  }
  const std::vector<SingleOpTensor> stated = op.outputs;
  auto context = driver::makeCompilerContext();
  Diagnostics ofOp;
  std::optional<std::string> model;
  if (air::inferOutputs(op, *context, ofOp)) {
    for (auto [i, output] : llvm::enumerate(op.outputs))
      if (!isAny[i] && output.type != stated[i].type)
        ofOp.error("E14001", "its output " + llvm::Twine(i) + " has another element type than " +
                                 "`outputs` states");
    if (!ofOp.hasErrors())
      model = makeSingleOpModel(op, ofOp);
  }
  if (!model) {
    std::vector<std::string> lines;
    for (const CodedMessage &error : ofOp.all())
      lines.push_back(error.code == "E10055"
                          ? error.line()
                          : error.code + ": the operator " + op.type + ": " + error.text);
    throw ErrorLines{lines};
  }
  return *model;
}

} // namespace atc::python
