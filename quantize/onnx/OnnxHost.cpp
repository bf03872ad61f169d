//===-- OnnxHost.cpp - ONNX models that run in this process ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/OnnxHost.h"

#include "frontends/onnx/OnnxImport.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::quantize {

InputShapes findInputShapes(OnnxModel &model, const InputShapes &given, DataSource &data) {
  InputShapes shapes = given;
  // Files hold any number of samples: a batch of any size is one of 1.
  for (auto &[name, dims] : shapes)
    if (!dims.empty() && dims.front() < 0)
      dims.front() = 1;
  if (!given.empty())
    return shapes;
  for (int i = 0; i < model.graph().input_size(); ++i) {
    const onnx::ValueInfoProto &input = model.graph().input(i);
    const auto &dims = input.type().tensor_type().shape().dim();
    if (llvm::all_of(dims, [](const auto &dim) { return dim.dim_value() > 0; }))
      continue;
    std::optional<std::vector<int64_t>> known = data.shapeOf(input.name(), i);
    if (!known) {
      known.emplace();
      for (const auto &dim : dims)
        known->push_back(known->empty() && dim.dim_value() <= 0 ? 1 : dim.dim_value());
    }
    if (known->size() == size_t(dims.size()) &&
        llvm::all_of(*known, [](int64_t dim) { return dim > 0; }))
      shapes.emplace_back(input.name(), *known);
  }
  return shapes;
}

OwningOpRef<ModuleOp> importProto(const onnx::ModelProto &proto, const std::string &name,
                                  const InputShapes &shapes, MLIRContext &context,
                                  Diagnostics &diagnostics) {
  std::string bytes;
  if (!proto.SerializeToString(&bytes)) {
    diagnostics.error("E13004", "the model '" + name + "' is larger than 2 GB");
    return {};
  }
  auto module = importOnnxBuffer(bytes, name, /*folder=*/"", {shapes, {}}, context, diagnostics);
  if (failed(module) || diagnostics.hasErrors())
    return {};
  return std::move(*module);
}

std::unique_ptr<HostModel> compileOnnx(const onnx::ModelProto &proto, const std::string &name,
                                       const InputShapes &shapes, MLIRContext &context,
                                       Diagnostics &diagnostics) {
  OwningOpRef<ModuleOp> module = importProto(proto, name, shapes, context, diagnostics);
  return module && checkInputs(*module, diagnostics) ? HostModel::compile(*module, diagnostics)
                                                     : nullptr;
}

std::vector<size_t> addOutputs(onnx::ModelProto &proto, const std::vector<std::string> &tensors) {
  onnx::GraphProto &graph = *proto.mutable_graph();
  std::vector<size_t> indices;
  std::map<std::string, size_t> listed;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    listed[output.name()] = indices.size();
    indices.push_back(indices.size());
  }
  for (const std::string &name : tensors) {
    auto [entry, isNew] = listed.emplace(name, graph.output_size());
    indices.push_back(entry->second);
    if (!isNew)
      continue;
    onnx::ValueInfoProto &output = *graph.add_output();
    output.set_name(name);
    output.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  }
  return indices;
}

} // namespace atc::quantize
