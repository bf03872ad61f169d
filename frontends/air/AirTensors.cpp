//===-- AirTensors.cpp - inputs and constants of an .air graph ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirGraph.h"
#include "frontends/air/AirNames.h"

using namespace mlir;

namespace atc::air {

void AirGraph::importData(const pb::Op &op) {
  if (!op.output_desc_size())
    return fail("E14001", op, "it describes no tensor");
  const pb::TensorDesc &desc = op.output_desc(0);
  const std::optional<int> type = typeOf(desc.dtype());
  if (!type)
    return fail("E14001", op,
                "the element type " + Twine(desc.dtype()) + " of its tensor is not supported");
  AirValue value = {op.name(), {*type, formatOf(desc.layout()), {}}};
  value.tensor.dims.assign(desc.shape().dim().begin(), desc.shape().dim().end());
  for (const auto &[name, shape] : file.options.inputShapes)
    if (name == op.name())
      value.tensor.dims.assign(shape.begin(), shape.end());
  for (int64_t &dim : value.tensor.dims) {
    if (dim == -2)
      return fail("E10002", op, "its rank is not known: give its shape with --input_shape");
    dim = dim > 0 ? dim : -1;
  }
  onnx::ValueInfoProto &info = *whole.add_input();
  info.set_name(op.name());
  onnx::TypeProto::Tensor &stated = *info.mutable_type()->mutable_tensor_type();
  stated.set_elem_type(singleOpType(value.tensor));
  stated.mutable_shape();
  for (int64_t dim : value.tensor.dims)
    if (auto &added = *stated.mutable_shape()->add_dim(); dim > 0)
      added.set_dim_value(dim);
  values[keyOf(op.name(), 0)] = std::move(value);
}

void AirGraph::importConstant(pb::Op &op) {
  auto found = op.mutable_attr()->find("value");
  if (found == op.attr().end() || !found->second.has_t())
    return fail("E14001", op, "its value is missing: a graph of an inference has constants only");
  pb::Tensor &tensor = *found->second.mutable_t();
  const std::optional<int> type = typeOf(tensor.desc().dtype());
  if (!type)
    return fail("E14001", op,
                "the element type " + Twine(tensor.desc().dtype()) + " is not supported");
  AirValue value = {outputName(op, 0), {*type, formatOf(tensor.desc().layout()), {}}, &tensor};
  // The format that the operator states for its output takes precedence, as a program may have
  // changed only that one.
  if (op.output_desc_size() && tensor.desc().layout().empty())
    value.tensor.format = formatOf(op.output_desc(0).layout());
  int64_t elements = 1;
  for (int64_t dim : tensor.desc().shape().dim()) {
    if (dim < 0 || (dim && elements > (int64_t(1) << 40) / dim))
      return fail("E14001", op, "the dim " + Twine(dim) + " of a constant is not valid");
    elements *= dim;
    value.tensor.dims.push_back(dim);
  }
  const int64_t bytes = elements * elementBytes(*type);
  if (int64_t(tensor.data().size()) != bytes)
    return fail("E13002", op,
                "its value has " + Twine(tensor.data().size()) + " bytes, but its shape has " +
                    Twine(bytes));
  onnx::TensorProto &added = *whole.add_initializer();
  added.set_name(value.name);
  added.set_data_type(singleOpType(value.tensor));
  for (int64_t dim : value.tensor.dims)
    added.add_dims(dim);
  // Settings are read here again, and graphs that operators call are imported several times.
  if (depth || elements <= maxSettings)
    added.set_raw_data(tensor.data());
  else
    added.set_raw_data(std::move(*tensor.mutable_data()));
  values[keyOf(op.name(), 0)] = std::move(value);
}

} // namespace atc::air
