//===-- OnnxInitializers.cpp - the weights of ONNX model files ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/training/OnnxInitializers.h"

#include <onnx/onnx_pb.h>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/GraphDialect.h"
#include "frontends/ModelFile.h"
#include "frontends/onnx/TensorData.h"
#include "support/OutputFile.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace atc::driver {

static constexpr FileFormat modelFormat{"an ONNX model", "ONNX",
                                        ": store the weights as external data",
                                        /*maxDepth=*/4096};

static void setElements(onnx::TensorProto &tensor, const FloatInitializer &value) {
  tensor.Clear();
  tensor.set_name(value.name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t dim : value.dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(value.elements.data(), value.elements.size() * sizeof(float));
}

bool writeInitializers(StringRef path, const std::optional<std::string> &bytes,
                       ArrayRef<FloatInitializer> tensors, const std::string &output,
                       const std::function<void(onnx::GraphProto &)> &edit,
                       Diagnostics &diagnostics) {
  onnx::ModelProto model;
  if (bytes ? !parseBytes(*bytes, path, modelFormat, model, diagnostics)
            : !parseFile(path, modelFormat, model, diagnostics))
    return false;
  if (edit)
    edit(*model.mutable_graph());
  llvm::StringMap<onnx::TensorProto *> known;
  for (onnx::TensorProto &tensor : *model.mutable_graph()->mutable_initializer())
    known[tensor.name()] = &tensor;
  for (const FloatInitializer &value : tensors) {
    onnx::TensorProto *old = known.lookup(value.name);
    if (old && !llvm::equal(old->dims(), value.dims))
      diagnostics.error("E10014", "the value for initializer '" + value.name +
                                      "' has other dims than the initializer of the model");
    else
      setElements(old ? *old : *model.mutable_graph()->add_initializer(), value);
  }
  // Weights that are not trained may be external data beside the model, where the new file is not.
  const StringRef folder = bytes ? StringRef() : llvm::sys::path::parent_path(path);
  if (!onnx_import::loadExternalData(*model.mutable_graph(), folder, diagnostics) ||
      diagnostics.hasErrors())
    return false;
  std::string text;
  OutputFile file(output);
  if (!model.SerializeToString(&text))
    diagnostics.error("E13004", "the model is too large for '" + output +
                                    "': an ONNX file has less than 2 GB");
  else if (!file.write(text.data(), text.size()) || !file.commit())
    diagnostics.error("E13004", "cannot write '" + output + "': " + file.reason());
  return !diagnostics.hasErrors();
}

bool readInitializers(StringRef path, const std::function<void(const FloatInitializer &)> &each,
                      Diagnostics &diagnostics) {
  onnx::ModelProto model;
  if (!parseFile(path, modelFormat, model, diagnostics))
    return false;
  MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  onnx_import::ExternalFiles files(llvm::sys::path::parent_path(path));
  for (onnx::TensorProto &tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.data_type() != onnx::TensorProto::FLOAT)
      continue;
    FloatInitializer value = {tensor.name(), {tensor.dims().begin(), tensor.dims().end()}, {}};
    llvm::Expected<ElementsAttr> elements = onnx_import::takeTensor(tensor, files, &context);
    if (!elements) {
      diagnostics.error("E14001",
                        "initializer '" + value.name + "' " + toString(elements.takeError()));
      continue;
    }
    auto read = graph::ConstantBytes::get(*elements);
    if (failed(read))
      continue;
    value.elements = read->expandedAs<float>();
    each(value);
  }
  return !diagnostics.hasErrors();
}

} // namespace atc::driver
