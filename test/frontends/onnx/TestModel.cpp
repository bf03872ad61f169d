//===-- TestModel.cpp - ONNX models made by tests -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/frontends/onnx/TestModel.h"

#include <catch2/catch.hpp>

using onnx::AttributeProto;

namespace atc::test {

TestModel::TestModel(int64_t opset) {
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  graph().set_name("test");
}

static onnx::TensorShapeProto *addInput(onnx::GraphProto &graph, const std::string &name,
                                        int type) {
  onnx::ValueInfoProto *info = graph.add_input();
  info->set_name(name);
  auto *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  return tensor->mutable_shape();
}

TestModel &TestModel::input(const std::string &name, const Ints &dims, int type) {
  onnx::TensorShapeProto *shape = addInput(graph(), name, type);
  for (int64_t dim : dims)
    shape->add_dim()->set_dim_value(dim);
  return *this;
}

TestModel &TestModel::symbolicInput(const std::string &name, const Names &dims) {
  onnx::TensorShapeProto *shape = addInput(graph(), name, onnx::TensorProto::FLOAT);
  for (llvm::StringRef dim : dims) {
    int64_t value;
    if (!dim.getAsInteger(10, value))
      shape->add_dim()->set_dim_value(value);
    else
      shape->add_dim()->set_dim_param(dim.str());
  }
  return *this;
}

TestModel &TestModel::output(const std::string &name) {
  graph().add_output()->set_name(name);
  return *this;
}

onnx::TensorProto &TestModel::initializer(const std::string &name, const Ints &dims, int type) {
  onnx::TensorProto *tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (int64_t dim : dims)
    tensor->add_dims(dim);
  return *tensor;
}

TestModel &TestModel::floats(const std::string &name, const Ints &dims, const Floats &values) {
  onnx::TensorProto &tensor = initializer(name, dims, onnx::TensorProto::FLOAT);
  tensor.mutable_float_data()->Add(values.begin(), values.end());
  return *this;
}

TestModel &TestModel::ints(const std::string &name, const Ints &values) {
  onnx::TensorProto &tensor =
      initializer(name, {static_cast<int64_t>(values.size())}, onnx::TensorProto::INT64);
  tensor.mutable_int64_data()->Add(values.begin(), values.end());
  return *this;
}

onnx::NodeProto &TestModel::node(const std::string &op, const Names &inputs, const Names &outputs,
                                 const std::string &name) {
  onnx::NodeProto *node = graph().add_node();
  node->set_op_type(op);
  node->set_name(name);
  for (const std::string &input : inputs)
    node->add_input(input);
  for (const std::string &output : outputs)
    node->add_output(output);
  return *node;
}

static AttributeProto &add(onnx::NodeProto &node, const std::string &name,
                           AttributeProto::AttributeType type) {
  AttributeProto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return *attribute;
}

onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, int64_t value) {
  add(node, name, AttributeProto::INT).set_i(value);
  return node;
}
onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, float value) {
  add(node, name, AttributeProto::FLOAT).set_f(value);
  return node;
}
onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, const char *value) {
  add(node, name, AttributeProto::STRING).set_s(value);
  return node;
}
onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, const Ints &values) {
  add(node, name, AttributeProto::INTS).mutable_ints()->Add(values.begin(), values.end());
  return node;
}
onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, const Floats &values) {
  add(node, name, AttributeProto::FLOATS).mutable_floats()->Add(values.begin(), values.end());
  return node;
}

std::string Imported::messages() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  diagnostics.print(stream);
  return text;
}

std::string Imported::text(bool locations) const {
  std::string text;
  if (!module)
    return text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(locations);
  module.get().print(stream, flags);
  return text;
}

template <typename Function> static Imported run(Function function) {
  Imported result;
  result.context = std::make_unique<mlir::MLIRContext>();
  result.context->disableMultithreading();
  auto module = function(*result.context, result.diagnostics);
  if (mlir::succeeded(module))
    result.module = std::move(*module);
  return result;
}

Imported importBytes(const std::string &bytes, const OnnxImportOptions &options,
                     const std::string &folder) {
  return run([&](mlir::MLIRContext &context, Diagnostics &diagnostics) {
    return importOnnxBuffer(bytes, "test.onnx", folder, options, context, diagnostics);
  });
}

Imported import(const TestModel &model, const OnnxImportOptions &options,
                const std::string &folder) {
  return importBytes(model.bytes(), options, folder);
}

Imported importFile(const std::string &path, const OnnxImportOptions &options) {
  return run([&](mlir::MLIRContext &context, Diagnostics &diagnostics) {
    return importOnnx(path, options, context, diagnostics);
  });
}

std::string textOf(const TestModel &model) {
  Imported result = import(model);
  INFO(result.messages());
  CHECK(result);
  return result.text();
}

std::string errorOf(const TestModel &model) {
  Imported result = import(model);
  CHECK_FALSE(result);
  CHECK(result.diagnostics.hasErrors());
  return result.messages();
}

} // namespace atc::test
