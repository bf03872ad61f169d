//===-- ControlFlow.cpp - operators with graphs inside --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ControlFlow.h"

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/HostForms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

using namespace mlir;
using onnx::AttributeProto;

namespace atc::onnx_import {

namespace {

/// The common base of the four importers.
class RegionNode {
public:
  RegionNode(GraphImporter &importer, onnx::NodeProto &node)
      : importer(importer), node(node), builder(importer.builder()),
        location(importer.tensorLocation(node.output_size() ? node.output(0) : "", node.name())),
        // Only the whole operator computes the tensor; the number makes these calls steps of it.
        calls(builder, importer.tensorLocation((node.output_size() ? node.output(0) : "") + "#0",
                                               node.name())) {}

protected:
  void fail(const Twine &text) {
    importer.diagnostics().error("E14001", describeNode(node) + ": " + text);
  }
  AttributeProto *attribute(StringRef name) {
    for (AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.name() == name)
        return &attribute;
    return nullptr;
  }
  onnx::GraphProto *body(StringRef name) {
    AttributeProto *found = attribute(name);
    if (found && found->has_g())
      return found->mutable_g();
    fail("attribute '" + name + "' is missing; the operator needs this graph");
    return nullptr;
  }
  SmallVector<int64_t> ints(StringRef name, size_t count) {
    SmallVector<int64_t> values;
    if (AttributeProto *found = attribute(name))
      values.assign(found->ints().begin(), found->ints().end());
    values.resize(count, 0);
    return values;
  }
  Value input(int index) {
    return index < node.input_size() && !node.input(index).empty()
               ? importer.lookup(node.input(index))
               : Value();
  }
  void setOutputs(ValueRange values) {
    const int count = static_cast<int>(values.size());
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty())
        continue;
      if (i < count)
        importer.define(node.output(i), values[i]);
      else if (!importer.diagnostics().hasErrors())
        fail("has output " + Twine(i) + " ('" + node.output(i) + "'), but its body makes " +
             Twine(count));
    }
  }

  static std::string text(Type type) {
    std::string printed;
    llvm::raw_string_ostream(printed) << type;
    return printed;
  }

  /// Returns whether a value has one element of type `element`, as conditions and counts of rounds
  /// must; says otherwise what `what` is.
  bool isOne(Value value, Type element, StringRef what) {
    auto type = dyn_cast<TensorType>(value.getType());
    if (type && type.getElementType() == element &&
        (!type.hasStaticShape() || type.getNumElements() == 1))
      return true;
    fail(what + " is " + text(value.getType()) + ", expected a tensor of one " +
         (element.isInteger(1) ? "bool" : "int64"));
    return false;
  }
  bool isCondition(Value value, StringRef what) { return isOne(value, builder.getI1Type(), what); }

  Value boolean(bool value) {
    auto type = RankedTensorType::get({}, builder.getI1Type());
    return graph::ConstantOp::create(builder, location, DenseElementsAttr::get(type, value));
  }

  /// Imports what `import` makes into a new block with arguments of `types`.
  std::unique_ptr<Block> inBlock(TypeRange types, llvm::function_ref<bool(Block &)> import) {
    auto block = std::make_unique<Block>();
    for (Type type : types)
      block->addArgument(type, location);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block.get());
    const bool done = importer.enterRegion(node) && import(*block);
    importer.leaveRegion();
    if (!done)
      return nullptr;
    return block;
  }

  static bool isEmptySequence(Value value) {
    auto call = value.getDefiningOp<graph::HostCallOp>();
    return call && call.getKernel() == "SequenceEmpty";
  }
  /// Returns whether a value is carried by a loop whose body is being imported.
  static bool isCarried(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && !argument.getOwner()->getParentOp();
  }

  /// Builds a graph.loop. `import` receives the carried values and returns the next condition and
  /// the next carried values. Where their types differ from the first ones, the body is imported
  /// again with types that hold for both.
  SmallVector<Value>
  loop(Value condition, ArrayRef<Value> initial,
       llvm::function_ref<bool(ValueRange carried, SmallVectorImpl<Value> &next)> import) {
    if (!condition || llvm::is_contained(initial, Value())) {
      fail("its inputs do not fit its body");
      return {};
    }
    SmallVector<Type> types(ValueRange(initial).getTypes());
    for (int trial = 0; trial < 4; ++trial) {
      SmallVector<Value> next;
      std::unique_ptr<Block> block;
      auto make = [&] {
        block = inBlock(types, [&](Block &body) {
          if (!import(body.getArguments(), next))
            return false;
          graph::LeaveOp::create(builder, location, next);
          return true;
        });
        return block != nullptr;
      };
      if (std::optional<Diagnostics> errorLines = importer.attempt(make)) {
        for (const CodedMessage &message : errorLines->all())
          if (message.isError)
            importer.diagnostics().add(message);
        if (!errorLines->hasErrors())
          fail("its body does not fit its inputs");
        return {};
      }
      bool stable = true;
      for (auto [type, value, first] :
           llvm::zip_equal(types, ArrayRef(next).drop_front(), initial)) {
        Type joined = graph::joinTypes(type, value.getType());
        // The element type of an empty sequence is only known when an item was inserted.
        if (isa<graph::SequenceType>(type) && isa<graph::SequenceType>(value.getType()) &&
            (isEmptySequence(first) || (!joined && isCarried(first))))
          joined = value.getType();
        if (!joined) {
          block->dropAllReferences();
          fail("a value that its body carries is " + text(type) + " before the body and " +
               text(value.getType()) + " behind it, expected the same kind and element type");
          return {};
        }
        stable &= joined == type;
        type = joined;
      }
      if (!stable) {
        block->dropAllReferences();
        continue;
      }
      auto op = graph::LoopOp::create(builder, location, types, condition, initial);
      op.getBody().push_back(block.release());
      return SmallVector<Value>(op.getResults());
    }
    fail("the types of its carried values change without end");
    return {};
  }

  /// Items of an empty sequence: the type that a body states for an output.
  Value emptySequence(const onnx::ValueInfoProto &item, Type fallback) {
    int64_t dtype = item.type().tensor_type().elem_type();
    if (!dtype && fallback)
      dtype = graph::dtypeOf(getElementTypeOrSelf(fallback));
    return calls.call("SequenceEmpty", {}, {calls.ints("dtype", {dtype ? dtype : 1})});
  }
  /// The items of a sequence side by side along a new axis.
  Value stack(Value sequence, const onnx::ValueInfoProto &item, int64_t axis, bool reverse) {
    SmallVector<int64_t> dims;
    for (const auto &dim : item.type().tensor_type().shape().dim())
      dims.push_back(dim.has_dim_value() ? dim.dim_value() : 0);
    return calls.call(
        "Stack", {sequence},
        {calls.ints("axis", {axis}), calls.ints("reverse", {reverse}), calls.ints("dims", dims)});
  }
  Value append(Value sequence, Value item) {
    return calls.call("SequenceInsert", {sequence, item});
  }

  /// Builds a loop over 0 <= index < length. `step` receives the index, the index + 1 and the
  /// states, and returns the next states and one item for each of `sequences`, to which it is
  /// appended. The results are the last states and the sequences.
  using Step = llvm::function_ref<bool(Value index, Value next, ValueRange states,
                                       SmallVectorImpl<Value> &values)>;
  SmallVector<Value> countedLoop(Value length, ArrayRef<Value> states, ArrayRef<Value> sequences,
                                 Step step) {
    SmallVector<Value> initial{calls.constant({0}, /*scalar=*/true)};
    llvm::append_range(initial, states);
    llvm::append_range(initial, sequences);
    Value one = calls.constant({1}, /*scalar=*/true);
    SmallVector<Value> results = loop(
        calls.call("Less", {initial[0], length}), initial, [&](ValueRange carried, auto &next) {
          Value index = calls.call("Add", {carried[0], one});
          SmallVector<Value> values;
          if (!step(carried[0], index, carried.slice(1, states.size()), values))
            return false;
          if (values.size() != states.size() + sequences.size()) {
            fail("its body has " + Twine(values.size()) + " outputs, expected " +
                 Twine(states.size() + sequences.size()));
            return false;
          }
          next.push_back(calls.call("Less", {index, length}));
          next.push_back(index);
          llvm::append_range(next, ArrayRef(values).take_front(states.size()));
          for (auto [sequence, item] : llvm::zip_equal(carried.drop_front(1 + states.size()),
                                                       ArrayRef(values).drop_front(states.size())))
            next.push_back(append(sequence, item));
          return !llvm::is_contained(next, Value());
        });
    return SmallVector<Value>(ArrayRef(results).drop_front(results.empty() ? 0 : 1));
  }

  GraphImporter &importer;
  onnx::NodeProto &node;
  OpBuilder &builder;
  Location location;
  HostCallBuilder calls;
};

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

class IfNode : RegionNode {
public:
  using RegionNode::RegionNode;

  void run() {
    Value condition = input(0);
    onnx::GraphProto *branches[] = {body("then_branch"), body("else_branch")};
    if (!condition)
      return fail("input 0 (cond) is missing; the operator needs it");
    if (!branches[0] || !branches[1] || !isCondition(condition, "input 0 (cond)"))
      return;
    // A branch that is never taken may even be invalid.
    if (ElementsAttr known; matchPattern(condition, m_Constant(&known)) &&
                            known.getNumElements() == 1 && known.getElementType().isInteger(1)) {
      SmallVector<Value> results;
      bool first = *known.getValues<bool>().begin();
      if (importer.importBody(*branches[first ? 0 : 1], {}, results))
        setOutputs(results);
      return;
    }
    std::unique_ptr<Block> blocks[2];
    SmallVector<Value> results[2];
    for (int i : {0, 1}) {
      blocks[i] = inBlock({}, [&](Block &) {
        if (!importer.importUntaken(
                [&] { return importer.importBody(*branches[i], {}, results[i]); }))
          return false;
        graph::LeaveOp::create(builder, location, results[i]);
        return true;
      });
      if (!blocks[i])
        return;
    }
    if (results[0].size() != results[1].size())
      return fail("its branches have " + Twine(results[0].size()) + " and " +
                  Twine(results[1].size()) + " outputs");
    SmallVector<Type> types;
    for (auto [i, a, b] : llvm::enumerate(results[0], results[1])) {
      types.push_back(graph::joinTypes(a.getType(), b.getType()));
      if (types.back())
        continue;
      fail("output " + Twine(i) + " is " + text(a.getType()) + " in then_branch and " +
           text(b.getType()) + " in else_branch, expected the same kind and element type");
      for (auto &block : blocks)
        block->dropAllReferences();
      return;
    }
    auto op = graph::IfOp::create(builder, location, types, condition);
    op.getThenRegion().push_back(blocks[0].release());
    op.getElseRegion().push_back(blocks[1].release());
    setOutputs(op.getResults());
  }
};

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

class LoopNode : RegionNode {
public:
  using RegionNode::RegionNode;

  void run() {
    onnx::GraphProto *graph = body("body");
    if (!graph)
      return;
    const int numCarried = std::max(0, node.input_size() - 2);
    const int numScans = graph->output_size() - 1 - numCarried;
    if (graph->input_size() != numCarried + 2 || numScans < 0)
      return fail("its body has " + Twine(graph->input_size()) + " inputs and " +
                  Twine(graph->output_size()) + " outputs, which do not fit " + Twine(numCarried) +
                  " carried values");
    Value max = input(0), first = input(1);
    if ((max && !isOne(max, builder.getI64Type(), "input 0 (M)")) ||
        (first && !isCondition(first, "input 1 (cond)")))
      return;
    auto below = [&](Value iteration, Value condition) {
      if (!max)
        return condition;
      Value inside = calls.call("Less", {iteration, max});
      return condition ? calls.call("And", {condition, inside}) : inside;
    };
    SmallVector<Value> initial{calls.constant({0}, /*scalar=*/true)};
    for (int i = 0; i < numCarried; ++i)
      initial.push_back(input(i + 2));
    auto scanOutput = [&](int i) -> const onnx::ValueInfoProto & {
      return graph->output(1 + numCarried + i);
    };
    for (int i = 0; i < numScans; ++i)
      initial.push_back(emptySequence(scanOutput(i), {}));
    if (llvm::is_contained(initial, Value()))
      return fail("a carried value is missing");
    Value condition = below(initial[0], first);
    if (!condition)
      condition = boolean(true);

    SmallVector<Value> results = loop(condition, initial, [&](ValueRange carried, auto &next) {
      onnx::GraphProto copy = *graph; // its constants are taken
      SmallVector<Value> arguments{carried[0], boolean(true)}, values;
      llvm::append_range(arguments, carried.slice(1, numCarried));
      if (!importer.importBody(copy, arguments, values) ||
          !isCondition(values[0], "output 0 of its body (cond)"))
        return false;
      Value iteration = calls.call("Add", {carried[0], calls.constant({1}, /*scalar=*/true)});
      next.push_back(below(iteration, values[0]));
      next.push_back(iteration);
      llvm::append_range(next, ArrayRef(values).slice(1, numCarried));
      for (int i = 0; i < numScans; ++i)
        next.push_back(append(carried[1 + numCarried + i], values[1 + numCarried + i]));
      return !llvm::is_contained(next, Value());
    });
    if (results.empty())
      return;
    SmallVector<Value> outputs(ArrayRef(results).slice(1, numCarried));
    for (int i = 0; i < numScans; ++i)
      outputs.push_back(stack(results[1 + numCarried + i], scanOutput(i), 0, false));
    setOutputs(outputs);
  }
};

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

class ScanNode : RegionNode {
public:
  using RegionNode::RegionNode;

  void run() {
    onnx::GraphProto *graph = body("body");
    AttributeProto *count = attribute("num_scan_inputs");
    if (!graph || !count)
      return fail("attribute 'num_scan_inputs' is missing; the operator needs it");
    const bool batched = importer.opset() < 9;
    SmallVector<Value> inputs;
    for (int i = batched ? 1 : 0; i < node.input_size(); ++i)
      inputs.push_back(input(i));
    const auto numInputs = static_cast<int64_t>(inputs.size());
    numScans = std::clamp<int64_t>(count->i(), 0, numInputs + 1);
    numStates = numInputs - numScans;
    if (numScans < 1 || numStates < 0 || graph->input_size() != numInputs ||
        graph->output_size() < numStates || llvm::is_contained(inputs, Value()))
      return fail("its inputs do not fit its body and attribute 'num_scan_inputs'");
    if (batched && input(0))
      return fail("input 0 (sequence_lens) is not supported");
    numOutputs = graph->output_size() - numStates;
    if (!batched)
      return setOutputs(scan(*graph, inputs));
    // Opset 8: everything has a batch dim in front, which is one more loop.
    SmallVector<Value> sequences;
    for (const onnx::ValueInfoProto &output : graph->output())
      sequences.push_back(emptySequence(output, inputs[0].getType()));
    SmallVector<Value> results = countedLoop(
        sizeOf(inputs[0], 0), {}, sequences,
        [&](Value index, Value, ValueRange, SmallVectorImpl<Value> &values) {
          SmallVector<Value> slices;
          for (Value input : inputs)
            slices.push_back(calls.call("Gather", {input, index}, {calls.ints("axis", {0})}));
          values = scan(*graph, slices);
          return !values.empty();
        });
    SmallVector<Value> outputs;
    for (auto [i, sequence] : llvm::enumerate(results))
      outputs.push_back(stack(sequence, graph->output(i), 0, false));
    setOutputs(outputs);
  }

private:
  Value sizeOf(Value value, int64_t axis) {
    Value shape = calls.call("Shape", {value});
    return calls.call("Gather", {shape, calls.constant({axis}, /*scalar=*/true)},
                      {calls.ints("axis", {0})});
  }

  SmallVector<Value> scan(onnx::GraphProto &graph, ArrayRef<Value> inputs) {
    // Opset 8 names the directions differently.
    const bool old = attribute("directions") != nullptr;
    SmallVector<int64_t> axes = ints("scan_input_axes", numScans),
                         reversed = ints(old ? "directions" : "scan_input_directions", numScans),
                         outAxes = ints("scan_output_axes", numOutputs),
                         outReversed = ints("scan_output_directions", numOutputs);
    Value length = sizeOf(inputs[numStates], axes[0]);
    SmallVector<Value> sequences;
    for (int64_t i = 0; i < numOutputs; ++i)
      sequences.push_back(emptySequence(graph.output(numStates + i), {}));
    SmallVector<Value> results = countedLoop(
        length, inputs.take_front(numStates), sequences,
        [&](Value index, Value next, ValueRange states, SmallVectorImpl<Value> &values) {
          SmallVector<Value> arguments(states);
          for (int64_t i = 0; i < numScans; ++i) {
            Value at = reversed[i] ? calls.call("Sub", {length, next}) : index;
            arguments.push_back(
                calls.call("Gather", {inputs[numStates + i], at}, {calls.ints("axis", {axes[i]})}));
          }
          onnx::GraphProto copy = graph; // its constants are taken
          return !llvm::is_contained(arguments, Value()) &&
                 importer.importBody(copy, arguments, values);
        });
    for (auto [i, result] :
         llvm::enumerate(MutableArrayRef(results).drop_front(results.empty() ? 0 : numStates)))
      result = stack(result, graph.output(numStates + i), outAxes[i], outReversed[i] != 0);
    return results;
  }

  int64_t numScans = 0, numStates = 0, numOutputs = 0;
};

//===----------------------------------------------------------------------===//
// SequenceMap
//===----------------------------------------------------------------------===//

class SequenceMapNode : RegionNode {
public:
  using RegionNode::RegionNode;

  void run() {
    onnx::GraphProto *graph = body("body");
    if (!graph)
      return;
    SmallVector<Value> inputs;
    for (int i = 0; i < node.input_size(); ++i)
      inputs.push_back(input(i));
    if (inputs.empty() || llvm::is_contained(inputs, Value()) ||
        graph->input_size() != static_cast<int>(inputs.size()))
      return fail("its inputs do not fit its body");
    Value length = calls.call("SequenceLength", {inputs[0]});
    if (!length)
      return fail("input 0 is not a sequence");
    SmallVector<Value> sequences;
    for (const onnx::ValueInfoProto &output : graph->output())
      sequences.push_back(emptySequence(output, {}));
    setOutputs(countedLoop(length, {}, sequences,
                           [&](Value index, Value, ValueRange, SmallVectorImpl<Value> &values) {
                             SmallVector<Value> arguments;
                             for (Value input : inputs)
                               arguments.push_back(isa<graph::SequenceType>(input.getType())
                                                       ? calls.call("SequenceAt", {input, index})
                                                       : input);
                             onnx::GraphProto copy = *graph; // its constants are taken
                             return importer.importBody(copy, arguments, values);
                           }));
  }
};

template <typename Node> void build(GraphImporter &importer, onnx::NodeProto &node) {
  Node(importer, node).run();
}

} // namespace

ControlFlowBuilder findControlFlow(const onnx::NodeProto &node) {
  if (node.domain() == "ai.onnx.preview" && node.op_type() == "FlexAttention")
    return importFlexAttention;
  if (!isStandard(node))
    return nullptr;
  return llvm::StringSwitch<ControlFlowBuilder>(node.op_type())
      .Case("If", build<IfNode>)
      .Case("Loop", build<LoopNode>)
      .Case("Scan", build<ScanNode>)
      .Case("SequenceMap", build<SequenceMapNode>)
      .Default(nullptr);
}

} // namespace atc::onnx_import
