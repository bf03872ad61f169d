//===-- OptimizerSteps.cpp - fused steps of optimizers as reads and writes -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/OptimizerSteps.h"

#include "frontends/tf/NodeDefs.h"
#include "frontends/tf/variables/VariableAccess.h"

using namespace llvm;

namespace atc::tf_import {
namespace {

namespace pb = atc::tf::pb;

/// Writes the nodes of one step in front of its operator, which becomes the write of the weight.
class StepWriter {
public:
  StepWriter(pb::FunctionDef &function, pb::NodeDef &node, pb::DataType type)
      : function(function), node(node), type(type) {
    for (const std::string &input : node.input())
      (StringRef(input).starts_with("^") ? order : inputs).push_back(input);
  }

  std::string input(size_t index) const { return inputs[index]; }
  bool flag(const char *name, bool otherwise) const {
    const pb::AttrValue *value = attributeOf(node, name);
    return value ? value->b() : otherwise;
  }

  /// Returns the value of the variable that is an input.
  std::string read(size_t index) {
    pb::NodeDef &made = add("ReadVariableOp", {inputs[index]}, "dtype");
    // What runs before the operator runs before its reads.
    for (const std::string &before : order)
      made.add_input(before);
    return made.name() + ":value:0";
  }
  void assign(size_t index, const std::string &value) {
    order.push_back("^" + add("AssignVariableOp", {inputs[index], value}, "dtype").name());
  }
  std::string mul(const std::string &a, const std::string &b) { return two("Mul", a, b); }
  std::string sum(const std::string &a, const std::string &b) { return two("AddV2", a, b); }
  std::string difference(const std::string &a, const std::string &b) { return two("Sub", a, b); }
  std::string quotient(const std::string &a, const std::string &b) { return two("RealDiv", a, b); }
  std::string square(const std::string &a) { return mul(a, a); }
  std::string root(const std::string &a) { return add("Sqrt", {a}, "T").name() + ":y:0"; }
  std::string one() {
    pb::NodeDef &number = add("Const", {}, "dtype");
    pb::TensorProto &tensor = *(*number.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(pb::DT_FLOAT);
    tensor.mutable_tensor_shape();
    tensor.add_float_val(1);
    if (type == pb::DT_FLOAT)
      return number.name() + ":output:0";
    (*number.mutable_attr())["dtype"].set_type(pb::DT_FLOAT);
    pb::NodeDef &cast = add("Cast", {number.name() + ":output:0"}, "DstT");
    (*cast.mutable_attr())["SrcT"].set_type(pb::DT_FLOAT);
    return cast.name() + ":y:0";
  }
  /// Returns a + (b - a) * (1 - share).
  std::string mix(const std::string &a, const std::string &b, const std::string &share) {
    return sum(a, mul(difference(b, a), difference(one(), share)));
  }

  /// Subtracts `value` from the weight, behind everything else.
  void finish(const std::string &value) {
    node.set_op("AssignSubVariableOp");
    node.clear_attr();
    node.clear_input();
    node.add_input(inputs[0]);
    node.add_input(value);
    for (const std::string &before : order)
      node.add_input(before);
    (*node.mutable_attr())["dtype"].set_type(type);
  }

private:
  pb::NodeDef &add(const char *op, ArrayRef<std::string> operands, const char *typeName) {
    pb::NodeDef &made =
        addNode(function, node.name() + "/openatc_" + std::to_string(numNodes++), op);
    for (const std::string &operand : operands)
      made.add_input(operand);
    (*made.mutable_attr())[typeName].set_type(type);
    return made;
  }
  std::string two(const char *op, const std::string &a, const std::string &b) {
    return add(op, {a, b}, "T").name() + ":z:0";
  }

  pb::FunctionDef &function;
  pb::NodeDef &node;
  const pb::DataType type;
  std::vector<std::string> inputs, order;
  unsigned numNodes = 0;
};

/// Writes the step of ResourceApplyGradientDescent. Inputs: the weight, the rate, the gradient.
void writeGradientDescent(StepWriter &w) { w.finish(w.mul(w.input(1), w.input(2))); }

/// Writes the step of ResourceApplyMomentum. Inputs: the weight, the momentum, the rate, the
/// gradient, the share of the momentum that stays.
void writeMomentum(StepWriter &w) {
  const std::string rate = w.input(2), gradient = w.input(3), share = w.input(4);
  const std::string next = w.sum(w.mul(w.read(1), share), gradient);
  w.assign(1, next);
  const bool looksAhead = w.flag("use_nesterov", false);
  w.finish(w.mul(rate, looksAhead ? w.sum(gradient, w.mul(next, share)) : next));
}

/// Writes the step of ResourceApplyKerasMomentum, whose momentum includes the rate and the sign of
/// the change. Inputs as of ResourceApplyMomentum.
void writeKerasMomentum(StepWriter &w) {
  const std::string share = w.input(4), change = w.mul(w.input(2), w.input(3));
  const std::string kept = w.mul(w.read(1), share), next = w.difference(kept, change);
  w.assign(1, next);
  const bool looksAhead = w.flag("use_nesterov", false);
  w.finish(w.difference(change, looksAhead ? w.mul(next, share) : kept));
}

/// Writes the step of ResourceApplyAdagrad. Inputs: the weight, the sum of squares, the rate, the
/// gradient.
void writeAdagrad(StepWriter &w) {
  std::string sum = w.read(1);
  if (w.flag("update_slots", true)) {
    sum = w.sum(sum, w.square(w.input(3)));
    w.assign(1, sum);
  }
  w.finish(w.quotient(w.mul(w.input(2), w.input(3)), w.root(sum)));
}

/// Writes the step of ResourceApplyAdagradV2, which adds input 3, a small number, to the root. The
/// gradient is input 4.
void writeAdagradV2(StepWriter &w) {
  std::string sum = w.read(1);
  if (w.flag("update_slots", true)) {
    sum = w.sum(sum, w.square(w.input(4)));
    w.assign(1, sum);
  }
  w.finish(w.quotient(w.mul(w.input(2), w.input(4)), w.sum(w.root(sum), w.input(3))));
}

/// Writes the step of ResourceApplyAdam. Inputs: the weight, both moments, the powers of their
/// shares, the rate, the shares, a small number, the gradient.
void writeAdam(StepWriter &w) {
  const std::string gradient = w.input(9), share = w.input(6);
  const std::string mean = w.mix(w.read(1), gradient, share);
  const std::string square = w.mix(w.read(2), w.square(gradient), w.input(7));
  w.assign(1, mean);
  w.assign(2, square);
  const std::string rate = w.quotient(w.mul(w.input(5), w.root(w.difference(w.one(), w.input(4)))),
                                      w.difference(w.one(), w.input(3)));
  const std::string direction =
      w.flag("use_nesterov", false)
          ? w.sum(w.mul(mean, share), w.mul(w.difference(w.one(), share), gradient))
          : mean;
  w.finish(w.quotient(w.mul(direction, rate), w.sum(w.root(square), w.input(8))));
}

/// Writes the step of ResourceApplyRMSProp. Inputs: the weight, the mean of squares, the momentum,
/// the rate, the shares of both, a small number, the gradient.
void writeRmsProp(StepWriter &w) {
  const std::string gradient = w.input(7);
  const std::string square = w.mix(w.read(1), w.square(gradient), w.input(4));
  const std::string change =
      w.quotient(w.mul(w.input(3), gradient), w.root(w.sum(square, w.input(6))));
  const std::string next = w.sum(w.mul(w.read(2), w.input(5)), change);
  w.assign(1, square);
  w.assign(2, next);
  w.finish(next);
}

struct OptimizerRow {
  StringLiteral op;
  int inputs;
  void (*write)(StepWriter &);
};
constexpr OptimizerRow optimizerRows[] = {
    {"ResourceApplyAdagrad", 4, writeAdagrad},
    {"ResourceApplyAdagradV2", 5, writeAdagradV2},
    {"ResourceApplyAdam", 10, writeAdam},
    {"ResourceApplyGradientDescent", 3, writeGradientDescent},
    {"ResourceApplyKerasMomentum", 5, writeKerasMomentum},
    {"ResourceApplyMomentum", 5, writeMomentum},
    {"ResourceApplyRMSProp", 8, writeRmsProp},
};

} // namespace

void expandOptimizerSteps(pb::GraphDef &graph) {
  for (pb::FunctionDef &function : *graph.mutable_library()->mutable_function())
    for (int i = 0, count = function.node_def_size(); i < count; ++i) {
      pb::NodeDef &node = *function.mutable_node_def(i);
      for (const OptimizerRow &row : optimizerRows) {
        const pb::AttrValue *type = attributeOf(node, "T");
        const bool isWhole = node.input_size() >= row.inputs &&
                             !StringRef(node.input(row.inputs - 1)).starts_with("^");
        if (node.op() != row.op || !type || !isWhole)
          continue;
        StepWriter writer(function, node, type->type());
        row.write(writer);
        break;
      }
    }
}

void forEachOptimizerStep(function_ref<void(StringRef)> visit) {
  for (const OptimizerRow &row : optimizerRows)
    visit(row.op);
}

} // namespace atc::tf_import
