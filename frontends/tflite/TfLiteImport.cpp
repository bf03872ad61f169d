//===-- TfLiteImport.cpp - TensorFlow Lite models to the graph dialect ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/TfLiteImport.h"

#include "dialects/graph/ConstantData.h"
#include "frontends/MainFunction.h"
#include "frontends/UnsupportedOps.h"
#include "frontends/onnx/OnnxModel.h"
#include "frontends/tflite/OpTable.h"

#include <utility>

using namespace mlir;

namespace atc::tflite {

namespace {

constexpr int64_t opset = 21;
/// Nodes of a subgraph are made again wherever it is used: limits for files that nest them.
constexpr int maxDepth = 32;
constexpr int64_t maxOperators = 1'000'000;

/// Makes an ONNX model of a file.
class ModelConverter : public ModelState {
public:
  /// Converts subgraph `index`, with those that it uses.
  ModelConverter(const ModelReader &reader, size_t index, onnx::ModelProto &model,
                 const OnnxImportOptions &options, Diagnostics &diagnostics)
      : ModelState(reader, *model.mutable_graph(), diagnostics), mainIndex(index),
        options(options) {
    model.set_ir_version(10);
    model.add_opset_import()->set_version(opset);
    roundsToBytes = options.roundsToBytes;
    main.set_name(reader.subgraph(index).name() ? reader.subgraph(index).name()->str() : "main");
  }

  /// Returns false after an error.
  bool run() {
    const unsigned before = diagnostics.numErrors();
    const fb::SubGraph &graph = reader.subgraph(mainIndex);
    GraphState state = {main, mainIndex, std::vector<std::string>(reader.numTensors(mainIndex))};
    for (unsigned i = 0; graph.inputs() && i < graph.inputs()->size(); ++i)
      addInput(state, graph.inputs()->Get(i));
    findVariables();
    importOperators(state, findNeeded());
    if (!unsupported.empty())
      diagnostics.error("E13010", "there is no importer for these operators: " + unsupported.str());
    if (diagnostics.numErrors() == before)
      addOutputs(state);
    return diagnostics.numErrors() == before;
  }

  std::optional<std::vector<std::string>>
  inlineSubgraph(onnx::GraphProto &graph, int64_t index,
                 const std::vector<std::string> &inputs) override {
    auto fail = [&](const Twine &text) {
      diagnostics.error("E13005", text);
      return std::nullopt;
    };
    if (index < 0 || index >= static_cast<int64_t>(reader.numSubgraphs()))
      return fail("the model has no subgraph " + Twine(index));
    const fb::SubGraph &subgraph = reader.subgraph(index);
    const unsigned count = subgraph.inputs() ? subgraph.inputs()->size() : 0;
    if (count != inputs.size())
      return fail("subgraph " + Twine(index) + " has " + Twine(count) + " inputs, but gets " +
                  Twine(inputs.size()));
    // One error of a model that calls itself; the calls beside the one that failed add none.
    if (isTooLarge)
      return std::nullopt;
    if (depth == maxDepth) {
      isTooLarge = true;
      return fail("subgraph " + Twine(index) + " calls itself, or subgraphs are nested more than " +
                  Twine(maxDepth) + " deep");
    }
    ++depth;
    const unsigned before = diagnostics.numErrors();
    GraphState state = {graph, static_cast<size_t>(index),
                        std::vector<std::string>(reader.numTensors(index))};
    for (unsigned i = 0; i < count; ++i)
      state.names[subgraph.inputs()->Get(i)] = inputs[i];
    importOperators(state, {});
    --depth;
    std::vector<std::string> results;
    for (unsigned i = 0; subgraph.outputs() && i < subgraph.outputs()->size(); ++i)
      results.push_back(outputName(state, subgraph.outputs()->Get(i)));
    if (diagnostics.numErrors() != before || !unsupported.empty())
      return std::nullopt;
    return results;
  }

  std::string addState(StringRef name, Variable &variable) override {
    const fb::Tensor &tensor = variable.initial ? *variable.initial : *variable.stored;
    std::string input = claimName(name) ? name.str() : uniqueName(name);
    if (!onnxType(tensor.type()) || isComplex(tensor) || tensor.type() == fb::TensorType::INT4 ||
        llvm::is_contained(dimsOf(tensor), -1))
      diagnostics.error("E14001", "variable '" + name +
                                      "', which the model changes, has a type or a shape that a "
                                      "state cannot have: it must hold real numbers, not of 4 "
                                      "bits, and its dims must be known");
    describe(*main.add_input(), input, tensor, dimsOf(tensor));
    variable.isState = true;
    State &state = states.emplace_back(State{name.str(), input, input + "/next", dimsOf(tensor)});
    if (variable.initial) {
      const StringRef bytes = reader.data(*variable.initial);
      state.first.assign(bytes.begin(), bytes.end());
    }
    return input;
  }

  bool hasStates() const { return !states.empty(); }

  /// Returns the options with which to import the ONNX model.
  OnnxImportOptions onnxOptions() const {
    OnnxImportOptions result = options;
    for (const State &state : states)
      if (!options.outputs.empty())
        result.outputs.push_back(state.output);
    return result;
  }

  /// Notes the pairs of inputs and outputs that are states, and what they begin with.
  void setStates(ModuleOp module) {
    Builder builder(module.getContext());
    SmallVector<Attribute> list;
    for (const State &state : states) {
      SmallVector<Attribute> parts = {builder.getStringAttr(state.input),
                                      builder.getStringAttr(state.output)};
      RankedTensorType type = inputType(module, state.input);
      if (type && type.getShape() != ArrayRef(state.dims))
        diagnostics.error("E10002", "state '" + state.input +
                                        "' has the shape of its variable: leave it out of "
                                        "--input_shape");
      else if (type && !state.first.empty())
        parts.push_back(graph::makeConstant(type, std::vector<char>(state.first)));
      list.push_back(builder.getArrayAttr(parts));
    }
    if (!list.empty())
      module->setAttr(kStatesAttr, builder.getArrayAttr(list));
  }

private:
  //===--- Variables --------------------------------------------------------===//

  /// A variable that is an input and an output.
  struct State {
    std::string variable, input, output;
    Dims dims;
    std::vector<char> first = {}; ///< what it begins with; empty for zeros
  };

  static RankedTensorType inputType(ModuleOp module, StringRef name) {
    auto function = *module.getOps<func::FuncOp>().begin();
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto given = function.getArgAttrOfType<StringAttr>(i, "om.name"); given == name)
        return dyn_cast<RankedTensorType>(function.getArgument(i).getType());
    return {};
  }

  /// Notes the variables, what initializes them, and which of them a run changes.
  void findVariables() {
    std::vector<std::pair<int64_t, bool>> graphs = {
        {mainIndex, false}}; // index; whether it initializes
    for (size_t at = 0; at < graphs.size(); ++at) {
      const auto [index, isFirst] = graphs[at];
      if (index < 0 || index >= static_cast<int64_t>(reader.numSubgraphs())) {
        diagnostics.error("E13005", "the model has no subgraph " + Twine(index));
        return;
      }
      const auto *operators = reader.subgraph(index).operators();
      std::map<int32_t, std::string> handles;
      for (unsigned i = 0; operators && i < operators->size(); ++i) {
        const fb::Operator &op = *operators->Get(i);
        const fb::BuiltinOperator code = reader.code(op);
        if (code == fb::BuiltinOperator::CALL_ONCE && !isFirst) {
          const auto *p = op.builtin_options_as<fb::CallOnceOptions>();
          graphs.push_back({p ? p->init_subgraph() : -1, true});
        }
        const auto *p = op.builtin_options_as<fb::VarHandleOptions>();
        if (code == fb::BuiltinOperator::VAR_HANDLE && p && p->shared_name() && op.outputs() &&
            op.outputs()->size() == 1) {
          handles[op.outputs()->Get(0)] = p->shared_name()->str();
          variables[p->shared_name()->str()];
        }
        if (code != fb::BuiltinOperator::ASSIGN_VARIABLE || !op.inputs() ||
            op.inputs()->size() != 2 || !handles.count(op.inputs()->Get(0)) ||
            op.inputs()->Get(1) < 0)
          continue;
        const std::string &name = handles[op.inputs()->Get(0)];
        Variable &variable = variables[name];
        if (!isFirst) {
          variable.isWritten = true;
          continue;
        }
        variable.initial = &reader.tensor(index, op.inputs()->Get(1));
        if (reader.data(*variable.initial).empty())
          diagnostics.error("E14001", "variable '" + name +
                                          "' begins with a value that is computed; a constant is "
                                          "expected");
      }
    }
  }

  //===--- Inputs and outputs -----------------------------------------------===//

  static std::string portName(const fb::Tensor &tensor, unsigned index) {
    return nameOf(tensor).empty() ? "tensor_" + std::to_string(index) : nameOf(tensor).str();
  }

  void addInput(GraphState &state, unsigned index) {
    const fb::Tensor &tensor = reader.tensor(mainIndex, index);
    std::string name = portName(tensor, index);
    if (!claimName(name))
      name = uniqueName(name);
    if (!onnxType(tensor.type())) {
      diagnostics.error("E10055", "input '" + name + "' has the type " + typeName(tensor.type()) +
                                      ", which cannot be imported");
      return;
    }
    state.names[index] = name;
    const Dims dims = dimsOf(tensor);
    for (const auto &[given, shape] : options.inputShapes)
      if (given == name)
        checkShape(name, dims, shape);
    describe(*main.add_input(), name, tensor, dims);
  }

  /// Other tensors of the file have shapes that follow from those of the inputs, so only what the
  /// file leaves dynamic can be stated.
  void checkShape(const std::string &name, const Dims &dims, ArrayRef<int64_t> given) {
    const bool fits =
        dims.size() == given.size() && llvm::all_of(llvm::zip_equal(dims, given), [](auto pair) {
          return std::get<0>(pair) < 0 || std::get<0>(pair) == std::get<1>(pair);
        });
    auto print = [](ArrayRef<int64_t> shape) {
      std::string text;
      for (int64_t dim : shape)
        text += (text.empty() ? "" : ",") + std::to_string(dim);
      return text;
    };
    if (!fits)
      diagnostics.error("E10002", "the shape " + print(given) + " of input '" + name +
                                      "' in --input_shape does not fit the file, which has " +
                                      print(dims) +
                                      "; convert the model again with the shape that you need");
  }

  static void describe(onnx::ValueInfoProto &info, const std::string &name,
                       const fb::Tensor &tensor, const Dims &dims) {
    info.set_name(name);
    onnx::TypeProto::Tensor &type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnxType(tensor.type()));
    type.mutable_shape();
    for (int64_t dim : dims) {
      onnx::TensorShapeProto::Dimension &stated = *type.mutable_shape()->add_dim();
      if (dim >= 0)
        stated.set_dim_value(dim);
    }
  }

  /// Returns the name of a subgraph's output; a constant becomes one, with a name of its own.
  std::string outputName(GraphState &state, unsigned index) {
    const fb::Tensor &tensor = reader.tensor(state.subgraph, index);
    std::string name = uniqueName(portName(tensor, index));
    if (state.names[index].empty() && !reader.data(tensor).empty() && onnxType(tensor.type()) &&
        tensor.type() != fb::TensorType::INT4) {
      state.names[index] = name + "/constant";
      addOnnxConstant(main, state.names[index], onnxType(tensor.type()), dimsOf(tensor),
                      reader.data(tensor));
    }
    if (state.names[index].empty()) {
      if (unsupported.empty() && !diagnostics.hasErrors())
        diagnostics.error("E16001", "output '" + nameOf(tensor) + "' is made by no operator");
      return "";
    }
    addOnnxNode(state.graph, "Identity", name, {state.names[index]}, {}).add_output(name);
    return name;
  }

  void addOutputs(GraphState &state) {
    const fb::SubGraph &graph = reader.subgraph(mainIndex);
    const auto *outputs = graph.outputs();
    llvm::SmallDenseSet<int32_t> listed;
    for (unsigned i = 0; outputs && i < outputs->size(); ++i) {
      const int32_t index = outputs->Get(i);
      const bool isMade = llvm::is_contained(made, index);
      // With --out_nodes the outputs need not be there.
      if (!isMade && !options.outputs.empty() &&
          reader.data(reader.tensor(mainIndex, index)).empty())
        continue;
      const std::string name =
          isMade && listed.insert(index).second ? state.names[index] : outputName(state, index);
      if (isComplex(reader.tensor(mainIndex, index)))
        diagnostics.error("E13010", "output '" + name +
                                        "' is complex; the outputs of a model are real: "
                                        "--out_nodes can name other tensors");
      else if (!name.empty())
        main.add_output()->set_name(name);
    }
    for (const State &state : states) {
      addOnnxNode(main, "Identity", state.output, {variables[state.variable].value}, {})
          .add_output(state.output);
      main.add_output()->set_name(state.output);
    }
    if (main.output().empty() && options.outputs.empty() && !diagnostics.hasErrors())
      diagnostics.error("E16004", "the model has no result");
  }

  //===--- Operators --------------------------------------------------------===//

  /// Returns which operators of the main graph the asked outputs need; empty for all of them.
  std::vector<bool> findNeeded() {
    const auto *operators = reader.subgraph(mainIndex).operators();
    if (options.outputs.empty() || !operators)
      return {};
    std::vector<bool> needed(operators->size()), wanted(reader.numTensors(mainIndex));
    for (size_t i = 0; i < wanted.size(); ++i) {
      const StringRef name = nameOf(reader.tensor(mainIndex, i));
      wanted[i] = llvm::any_of(options.outputs, [&](const std::string &output) {
        return name == output || name == StringRef(output).rsplit(':').first;
      });
    }
    for (size_t i = needed.size(); i-- > 0;) {
      const fb::Operator &op = *operators->Get(i);
      for (unsigned j = 0; op.outputs() && j < op.outputs()->size(); ++j)
        needed[i] = needed[i] || wanted[op.outputs()->Get(j)];
      needed[i] = needed[i] || reader.code(op) == fb::BuiltinOperator::ASSIGN_VARIABLE;
      for (unsigned j = 0; needed[i] && op.inputs() && j < op.inputs()->size(); ++j)
        if (op.inputs()->Get(j) >= 0)
          wanted[op.inputs()->Get(j)] = true;
    }
    return needed;
  }

  void importOperators(GraphState &state, const std::vector<bool> &needed) {
    const auto *operators = reader.subgraph(state.subgraph).operators();
    for (unsigned i = 0; operators && i < operators->size(); ++i) {
      if (!needed.empty() && !needed[i])
        continue;
      if (++numOperators > maxOperators) {
        if (!std::exchange(isTooLarge, true))
          diagnostics.error("E10055", "the model has more than " + Twine(maxOperators) +
                                          " operators, counted wherever a subgraph is used");
        return;
      }
      if (!importOperator(state, *operators->Get(i)))
        return;
    }
  }

  /// Returns false where the operators behind cannot be imported either.
  bool importOperator(GraphState &state, const fb::Operator &op) {
    OpContext context(*this, state, op);
    const OpRow *row = findOp(reader.code(op), reader.opName(op));
    if (!row) {
      const std::string result =
          context.numOutputs() ? nameOf(context.outputTensor(0)).str() : std::string();
      unsupported.add(reader.opName(op), result, whyNoImporter(reader.code(op), reader.opName(op)));
      // Operators after this one are visited only to find more that have no importer.
      isComplete = false;
      return true;
    }
    if (!isComplete)
      return true;
    if (!takesComplex(reader.code(op)))
      for (unsigned i = 0; i < context.numInputs(); ++i)
        if (context.hasInput(i) && isComplex(context.inputTensor(i)))
          context.fail("input " + Twine(i) + " is complex, which this operator cannot take here");
    if (context.failed())
      return false;
    row->import(context);
    for (unsigned i = 0; i < context.numOutputs(); ++i)
      state.producers[op.outputs()->Get(i)] = &op;
    for (unsigned i = 0; i < context.numOutputs() && state.subgraph == mainIndex; ++i)
      made.insert(op.outputs()->Get(i));
    return !context.failed();
  }

  const size_t mainIndex; ///< of the subgraph that is compiled
  const OnnxImportOptions &options;
  std::vector<State> states;
  UnsupportedOps unsupported;
  llvm::DenseSet<int32_t> made; ///< tensors of the main graph that operators made
  bool isComplete = true;       ///< no operator without an importer was found so far
  bool isTooLarge = false;      ///< no more subgraphs are imported: an error says why
  int depth = 0;
  int64_t numOperators = 0;
};

} // namespace

} // namespace atc::tflite

FailureOr<OwningOpRef<ModuleOp>> atc::importTfLite(StringRef path, const OnnxImportOptions &options,
                                                   MLIRContext &context, Diagnostics &diagnostics,
                                                   StringRef signature) {
  std::unique_ptr<tflite::ModelReader> reader = tflite::ModelReader::open(path, diagnostics);
  if (!reader)
    return failure();
  const std::optional<size_t> index = reader->findSignature(signature, diagnostics);
  if (!index)
    return failure();
  onnx::ModelProto model;
  tflite::ModelConverter converter(*reader, *index, model, options, diagnostics);
  if (!converter.run())
    return failure();
  OnnxImportOptions onnxOptions = converter.onnxOptions();
  // A state has the size of its variable, whatever the batch is.
  if (converter.hasStates())
    onnxOptions.makeTiles = {};
  if (!onnxOptions.makeTiles)
    reader.reset();
  auto make = [&, isMade = true](onnx::ModelProto &result) mutable {
    if (std::exchange(isMade, false)) {
      result.Swap(&model);
      return true;
    }
    return tflite::ModelConverter(*reader, *index, result, options, diagnostics).run();
  };
  auto module = importOnnxModel(make, path, onnxOptions, context, diagnostics);
  if (succeeded(module))
    converter.setStates(**module);
  if (diagnostics.hasErrors())
    return failure();
  return module;
}
