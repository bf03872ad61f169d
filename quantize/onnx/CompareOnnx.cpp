//===-- CompareOnnx.cpp - a float model beside a quantized one ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Quantize.h"
#include "quantize/onnx/InputRanges.h"
#include "quantize/onnx/OnnxHost.h"

using namespace mlir;

namespace atc::quantize {

namespace {

/// A tensor of the float model and its counterpart in the quantized one.
struct Pair {
  std::string right, quantized;
};

bool isLayer(const std::string &op) {
  return op == "Conv" || op == "ConvTranspose" || op == "Gemm" || op == "MatMul";
}

/// Finds the tensors that the quantized model stores as integers, under the names of the float
/// model.
std::vector<Pair> findPairs(OnnxModel &right, OnnxModel &quantized) {
  std::set<std::string> known = right.variableNames();
  for (const std::string &tensor : quantized.balancedTensors())
    known.erase(tensor);
  std::vector<Pair> pairs;
  for (const onnx::NodeProto &node : quantized.graph().node()) {
    const std::string &op = node.op_type();
    if ((op != "QuantizeLinear" && op != "AscendQuant") || node.input_size() < 1 ||
        node.output_size() < 1)
      continue;
    // Compares the dequantized values; the output of AscendQuant can be read directly.
    std::string real = op == "AscendQuant" ? node.output(0) : "";
    for (const onnx::NodeProto *user : quantized.findUsers(node.output(0)))
      if (user->op_type() == "DequantizeLinear" || user->op_type() == "AscendAntiQuant")
        real = user->output(0);
    // An output keeps its name behind the pair, every other tensor in front of it.
    const std::string &name = known.count(node.input(0)) ? node.input(0) : real;
    if (!real.empty() && known.count(name))
      pairs.push_back({name, real});
  }
  if (!pairs.empty())
    return pairs;
  for (const onnx::NodeProto &node : quantized.graph().node())
    if (isLayer(node.op_type()) && node.output_size() == 1 && known.count(node.output(0)))
      pairs.push_back({node.output(0), node.output(0)});
  return pairs;
}

/// Both must take the same inputs and have the same outputs.
void checkPorts(OnnxModel &right, OnnxModel &quantized, Diagnostics &diagnostics) {
  auto namesOf = [](OnnxModel &model, auto &&list) {
    std::string text;
    for (const onnx::ValueInfoProto &each : list)
      if (!model.findConstant(each.name()))
        text += (text.empty() ? "'" : ", '") + each.name() + "'";
    return text;
  };
  auto check = [&](const char *what, const std::string &first, const std::string &second) {
    if (first != second)
      diagnostics.error("E10014", "the models do not belong together: the " + llvm::Twine(what) +
                                      " of the float model are " + first +
                                      ", those of the quantized one " + second);
  };
  check("inputs", namesOf(right, right.graph().input()),
        namesOf(quantized, quantized.graph().input()));
  check("outputs", namesOf(right, right.graph().output()),
        namesOf(quantized, quantized.graph().output()));
}

} // namespace

bool compareOnnx(OnnxModel &right, OnnxModel &quantized, const QuantizeOptions &options,
                 DataSource &data, ErrorReport &report, MLIRContext &context,
                 Diagnostics &diagnostics) {
  checkPorts(right, quantized, diagnostics);
  if (diagnostics.hasErrors())
    return false;
  const InputShapes shapes = findInputShapes(right, options.inputShapes, data);
  const std::vector<Pair> pairs = findPairs(right, quantized);
  std::vector<std::string> names, counterparts;
  for (const Pair &pair : pairs) {
    names.push_back(pair.right);
    counterparts.push_back(pair.quantized);
  }
  const size_t numOutputs = right.graph().output_size();
  const std::vector<size_t> from = addOutputs(right.proto, names);
  const std::vector<size_t> to = addOutputs(quantized.proto, counterparts);
  std::vector<ComparedTensor> tensors;
  for (size_t i = 0; i < pairs.size(); ++i)
    tensors.push_back({names[i], from[numOutputs + i], to[numOutputs + i]});
  std::unique_ptr<HostModel> rightHost =
      compileOnnx(right.proto, options.name, shapes, context, diagnostics);
  std::unique_ptr<HostModel> host =
      rightHost ? compileOnnx(quantized.proto, options.name, shapes, context, diagnostics)
                : nullptr;
  if (!host)
    return false;

  std::vector<::om::Tensor> inputs = host->inputs();
  data.begin(inputs, diagnostics);
  if (diagnostics.hasErrors())
    return false;
  size_t all = data.count(), done = 0;
  const auto max = static_cast<size_t>(options.config.batchNum);
  if (max && (!all || all > max))
    all = max;
  std::vector<::om::Buffer> sample = host->makeInputs();
  report.model = options.name;
  InputRanges ranges(quantized, inputs);
  const bool compared = compareModels(
      *rightHost, *host, numOutputs, tensors,
      [&]() -> const std::vector<::om::Buffer> * {
        if (done && options.progress)
          options.progress(done, all);
        if ((max && done == max) || !data.next(sample, diagnostics))
          return nullptr;
        ++done;
        ranges.observe(sample);
        return &sample;
      },
      report, diagnostics);
  ranges.warn(diagnostics);
  return compared;
}

} // namespace atc::quantize
