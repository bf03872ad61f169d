//===-- GraphOfConstants.h - a graph that is evaluated while imported -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FRONTENDS_TF_GRAPHOFCONSTANTS_H
#define OPENATC_TEST_FRONTENDS_TF_GRAPHOFCONSTANTS_H

#include <catch2/catch.hpp>
#include <google/protobuf/text_format.h>
#include <sstream>

#include "dialects/graph/ops/StructureOps.h"
#include "frontends/Tensors.h"
#include "frontends/tf/TfImport.h"
#include "frontends/tf/schema/tensorflow.pb.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

namespace atc::tf_test {

using namespace mlir;

using Numbers = std::vector<double>;

/// A graph of constants is evaluated while it is imported.
class Graph {
public:
  Graph &constant(const std::string &name, const std::string &type,
                  std::initializer_list<int64_t> dims, const Numbers &values) {
    std::ostringstream os;
    os << "node { name: \"" << name << "\" op: \"Const\" attr { key: \"value\" value { tensor { "
       << "dtype: DT_" << type << " tensor_shape {";
    for (int64_t dim : dims)
      os << " dim { size: " << dim << " }";
    bool isFloat = type == "FLOAT", isBool = type == "BOOL";
    os << " } ";
    for (double value : values)
      os << (isFloat            ? "float_val: "
             : isBool           ? "bool_val: "
             : type == "DOUBLE" ? "double_val: "
             : type == "INT64"  ? "int64_val: "
                                : "int_val: ")
         << value << " ";
    os << "} } } }\n";
    text += os.str();
    return *this;
  }
  Graph &floats(const std::string &name, std::initializer_list<int64_t> dims,
                const Numbers &values) {
    return constant(name, "FLOAT", dims, values);
  }
  Graph &ints(const std::string &name, std::initializer_list<int64_t> dims, const Numbers &values) {
    return constant(name, "INT32", dims, values);
  }
  /// `attributes` is for example "k i: 3; mode s: 'X'".
  Graph &node(const std::string &op, const std::string &inputs, const std::string &attributes = "",
              const std::string &name = "y") {
    text += "node { name: \"" + name + "\" op: \"" + op + "\"";
    SmallVector<StringRef> parts;
    StringRef(inputs).split(parts, ' ', -1, false);
    for (StringRef input : parts)
      text += " input: \"" + input.str() + "\"";
    parts.clear();
    StringRef(attributes).split(parts, ';', -1, false);
    for (StringRef attribute : parts) {
      auto [key, value] = attribute.trim().split(' ');
      text += " attr { key: \"" + key.str() + "\" value { " + value.str() + " } }";
    }
    text += " }\n";
    return *this;
  }
  Graph &input(const std::string &name, const std::string &type,
               std::initializer_list<int64_t> dims) {
    text += "node { name: \"" + name +
            "\" op: \"Placeholder\" attr { key: \"dtype\" value { type: "
            "DT_" +
            type + " } } attr { key: \"shape\" value { shape {";
    for (int64_t dim : dims)
      text += " dim { size: " + std::to_string(dim) + " }";
    text += " } } } }\n";
    return *this;
  }

  void import(const std::string &output) {
    atc::tf::pb::GraphDef graph;
    REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &graph));
    diagnostics = atc::Diagnostics();
    atc::TfImportOptions options;
    options.outputs = {output};
    auto result = atc::importTfGraph(graph, "test", {}, options, context, diagnostics);
    if (succeeded(result))
      module = std::move(*result);
  }
  /// The output as numbers; `shape` gets its dims.
  Numbers evaluate(const std::string &output = "y") {
    import(output);
    std::string messages;
    llvm::raw_string_ostream os(messages);
    diagnostics.print(os);
    INFO(messages);
    REQUIRE(module);
    auto main = *module->getOps<func::FuncOp>().begin();
    auto constant = main.getBody()
                        .front()
                        .getTerminator()
                        ->getOperand(0)
                        .getDefiningOp<atc::graph::ConstantOp>();
    REQUIRE(constant);
    auto type = cast<RankedTensorType>(constant.getType());
    shape.assign(type.getShape().begin(), type.getShape().end());
    SmallVector<double> values = atc::readFloats(constant.getValue());
    return Numbers(values.begin(), values.end());
  }
  std::string errorText(const std::string &output = "y") {
    import(output);
    std::string messages;
    llvm::raw_string_ostream os(messages);
    diagnostics.print(os);
    CHECK(diagnostics.hasErrors());
    return messages;
  }
  func::FuncOp main() { return *module->getOps<func::FuncOp>().begin(); }

  std::vector<int64_t> shape;

private:
  MLIRContext context;
  atc::Diagnostics diagnostics;
  OwningOpRef<ModuleOp> module;
  std::string text;
};

} // namespace atc::tf_test

#endif // OPENATC_TEST_FRONTENDS_TF_GRAPHOFCONSTANTS_H
