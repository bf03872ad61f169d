//===-- Tensor.cpp - shapes and tensors of graphs -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/tensor.h"

#include <limits>

namespace ge {

graphStatus Shape::SetDim(size_t index, int64_t value) {
  if (index >= dims.size())
    return GRAPH_FAILED;
  dims[index] = value;
  return GRAPH_SUCCESS;
}

int64_t Shape::GetShapeSize() const {
  if (dims.empty())
    return 0;
  int64_t elements = 1;
  for (int64_t dim : dims) {
    if (dim < 0 || (dim && elements > std::numeric_limits<int64_t>::max() / dim))
      return -1;
    elements *= dim;
  }
  return elements;
}

const uint8_t *Tensor::GetData() const { return bytes ? bytes->data() : nullptr; }
uint8_t *Tensor::GetData() { return bytes ? bytes->data() : nullptr; }

graphStatus Tensor::SetData(std::vector<uint8_t> &&data) {
  bytes = std::make_shared<std::vector<uint8_t>>(std::move(data));
  return GRAPH_SUCCESS;
}

graphStatus Tensor::SetData(const std::vector<uint8_t> &data) {
  return SetData(std::vector<uint8_t>(data));
}

graphStatus Tensor::SetData(const uint8_t *data, size_t size) {
  if (!data && size)
    return GRAPH_FAILED;
  return SetData(std::vector<uint8_t>(data, data + size));
}

graphStatus Tensor::SetData(uint8_t *data, size_t size, const DeleteFunc &deleter) {
  const graphStatus status = SetData(static_cast<const uint8_t *>(data), size);
  if (deleter && status == GRAPH_SUCCESS)
    deleter(data);
  return status;
}

graphStatus Tensor::SetData(const char *data) {
  return data ? SetData(std::string(data)) : GRAPH_FAILED;
}

graphStatus Tensor::IsValid() const {
  const std::vector<int64_t> dims = desc.GetShape().GetDims();
  const int64_t elements = dims.empty() ? 1 : desc.GetShape().GetShapeSize();
  const int64_t element = GetSizeByDataType(desc.GetDataType());
  // The product of both may be more than any number has.
  return elements >= 0 && element > 0 && GetSize() % size_t(element) == 0 &&
                 uint64_t(elements) == GetSize() / size_t(element)
             ? GRAPH_SUCCESS
             : GRAPH_FAILED;
}

Tensor Tensor::Clone() const {
  Tensor copy(desc);
  if (bytes)
    copy.SetData(*bytes);
  return copy;
}

} // namespace ge
