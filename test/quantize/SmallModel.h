//===-- SmallModel.h - ONNX models of a few nodes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_QUANTIZE_SMALLMODEL_H
#define OPENATC_TEST_QUANTIZE_SMALLMODEL_H

#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// Makes a model node by node.
class SmallModel {
public:
  explicit SmallModel(int64_t opset = 13) {
    proto.set_ir_version(7);
    proto.add_opset_import()->set_version(opset);
    proto.mutable_graph()->set_name("small");
  }

  SmallModel &input(const std::string &name, const std::vector<int64_t> &dims) {
    describe(*proto.mutable_graph()->add_input(), name, dims);
    return *this;
  }
  SmallModel &output(const std::string &name, const std::vector<int64_t> &dims = {}) {
    describe(*proto.mutable_graph()->add_output(), name, dims);
    return *this;
  }
  SmallModel &constant(const std::string &name, const std::vector<int64_t> &dims,
                       const std::vector<float> &values) {
    *proto.mutable_graph()->add_initializer() = makeFloats(name, dims, values);
    return *this;
  }
  onnx::NodeProto &node(const std::string &type, const std::vector<std::string> &inputs,
                        const std::string &output) {
    onnx::NodeProto &node = *proto.mutable_graph()->add_node();
    node.set_op_type(type);
    node.set_name("node_" + output);
    for (const std::string &name : inputs)
      node.add_input(name);
    node.add_output(output);
    return node;
  }

  std::unique_ptr<OnnxModel> finish() {
    std::string bytes;
    proto.SerializeToString(&bytes);
    Diagnostics diagnostics;
    return OnnxModel::parse(bytes, "small.onnx", "", diagnostics);
  }

private:
  static void describe(onnx::ValueInfoProto &info, const std::string &name,
                       const std::vector<int64_t> &dims) {
    info.set_name(name);
    auto &type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (int64_t dim : dims)
      type.mutable_shape()->add_dim()->set_dim_value(dim);
  }

  onnx::ModelProto proto;
};

inline std::vector<std::string> opsOf(OnnxModel &model) {
  std::vector<std::string> ops;
  for (const onnx::NodeProto &node : model.graph().node())
    ops.push_back(node.op_type());
  return ops;
}

} // namespace atc::quantize

#endif // OPENATC_TEST_QUANTIZE_SMALLMODEL_H
