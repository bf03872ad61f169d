//===-- TestModel.h - ONNX models made by tests ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FRONTENDS_ONNX_TESTMODEL_H
#define OPENATC_TEST_FRONTENDS_ONNX_TESTMODEL_H

#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

#include "frontends/onnx/OnnxImport.h"
#include "mlir/IR/MLIRContext.h"

namespace atc::test {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

/// Builds a model step by step; every step returns the object itself or the
/// node, so that a test reads from top to bottom.
class TestModel {
public:
  explicit TestModel(int64_t opset = 13);

  TestModel &input(const std::string &name, const Ints &dims, int type = onnx::TensorProto::FLOAT);
  /// A dim that is no number is symbolic.
  TestModel &symbolicInput(const std::string &name, const Names &dims);
  TestModel &output(const std::string &name);
  TestModel &floats(const std::string &name, const Ints &dims, const Floats &values);
  TestModel &ints(const std::string &name, const Ints &values);
  onnx::TensorProto &initializer(const std::string &name, const Ints &dims, int type);
  onnx::NodeProto &node(const std::string &op, const Names &inputs, const Names &outputs,
                        const std::string &name = "n");

  onnx::GraphProto &graph() { return *model.mutable_graph(); }
  std::string bytes() const { return model.SerializeAsString(); }

  onnx::ModelProto model;
};

onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, int64_t value);
onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, float value);
onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, const char *value);
onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, const Ints &values);
onnx::NodeProto &attr(onnx::NodeProto &node, const std::string &name, const Floats &values);

/// The result of importing a model.
struct Imported {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Diagnostics diagnostics;

  explicit operator bool() const { return static_cast<bool>(module); }
  /// The messages, one a line.
  std::string messages() const;
  /// The module as text, with or without locations.
  std::string text(bool locations = false) const;
};

Imported importBytes(const std::string &bytes, const OnnxImportOptions &options = {},
                     const std::string &folder = "");
Imported import(const TestModel &model, const OnnxImportOptions &options = {},
                const std::string &folder = "");
Imported importFile(const std::string &path, const OnnxImportOptions &options = {});

/// The imported module as text; checks that there is one.
std::string textOf(const TestModel &model);
/// The messages of an import that fails; checks that it does, with an error.
std::string errorOf(const TestModel &model);

} // namespace atc::test

#endif // OPENATC_TEST_FRONTENDS_ONNX_TESTMODEL_H
