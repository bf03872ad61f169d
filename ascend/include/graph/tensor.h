/*===-- graph/tensor.h - shapes, descriptions and values ------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_TENSOR_H
#define OPENATC_GRAPH_TENSOR_H

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ge_error_codes.h"
#include "graph/types.h"

namespace ge {

class Shape {
public:
  Shape() = default;
  explicit Shape(const std::vector<int64_t> &dims) : dims(dims) {}

  size_t GetDimNum() const { return dims == UNKNOWN_RANK ? 0 : dims.size(); }
  graphStatus SetDim(size_t index, int64_t value);
  int64_t GetDim(size_t index) const { return index < dims.size() ? dims[index] : 0; }
  std::vector<int64_t> GetDims() const { return dims; }
  /** Returns the number of elements; -1 where a dim is not known, 0 for a shape without dims. */
  int64_t GetShapeSize() const;

private:
  std::vector<int64_t> dims;
};

class TensorDesc {
public:
  TensorDesc() = default;
  explicit TensorDesc(Shape shape, Format format = FORMAT_ND, DataType type = DT_FLOAT)
      : shape(std::move(shape)), format(format), originFormat(format), type(type) {
    originShape = this->shape;
  }

  void Update(const Shape &newShape, Format newFormat = FORMAT_ND, DataType newType = DT_FLOAT) {
    shape = newShape;
    format = newFormat;
    type = newType;
  }
  Shape GetShape() const { return shape; }
  void SetShape(const Shape &value) { shape = value; }
  graphStatus SetUnknownDimNumShape() {
    shape = Shape(UNKNOWN_RANK);
    return GRAPH_SUCCESS;
  }
  graphStatus SetShapeRange(const std::vector<std::pair<int64_t, int64_t>> &value) {
    range = value;
    return GRAPH_SUCCESS;
  }
  graphStatus GetShapeRange(std::vector<std::pair<int64_t, int64_t>> &value) const {
    value = range;
    return GRAPH_SUCCESS;
  }
  Format GetFormat() const { return format; }
  void SetFormat(Format value) { format = value; }
  Shape GetOriginShape() const { return originShape; }
  void SetOriginShape(const Shape &value) { originShape = value; }
  Format GetOriginFormat() const { return originFormat; }
  void SetOriginFormat(Format value) { originFormat = value; }
  DataType GetDataType() const { return type; }
  void SetDataType(DataType value) { type = value; }
  graphStatus GetName(AscendString &value) const {
    value = name;
    return GRAPH_SUCCESS;
  }
  std::string GetName() const { return name.GetString(); }
  void SetName(const char *value) { name = value; }
  void SetName(const std::string &value) { name = value.c_str(); }
  void SetSize(int64_t value) { size = value; }
  int64_t GetSize() const { return size; }
  void SetRealDimCnt(int64_t value) { realDimCount = value; }
  int64_t GetRealDimCnt() const { return realDimCount; }
  void SetPlacement(Placement value) { placement = value; }
  Placement GetPlacement() const { return placement; }

private:
  Shape shape, originShape;
  Format format = FORMAT_ND, originFormat = FORMAT_ND;
  DataType type = DT_FLOAT;
  AscendString name;
  std::vector<std::pair<int64_t, int64_t>> range;
  int64_t size = 0, realDimCount = 0;
  Placement placement = kPlacementHost;
};

/** A description and its bytes, which copies of a tensor share until one is set again. */
class Tensor {
public:
  using DeleteFunc = std::function<void(uint8_t *)>;

  Tensor() = default;
  explicit Tensor(const TensorDesc &desc) : desc(desc) {}
  Tensor(const TensorDesc &desc, const std::vector<uint8_t> &data) : desc(desc) { SetData(data); }
  Tensor(const TensorDesc &desc, const uint8_t *data, size_t size) : desc(desc) {
    SetData(data, size);
  }

  TensorDesc GetTensorDesc() const { return desc; }
  graphStatus SetTensorDesc(const TensorDesc &value) {
    desc = value;
    return GRAPH_SUCCESS;
  }
  const uint8_t *GetData() const;
  uint8_t *GetData();
  size_t GetSize() const { return bytes ? bytes->size() : 0; }
  graphStatus SetData(std::vector<uint8_t> &&data);
  graphStatus SetData(const std::vector<uint8_t> &data);
  graphStatus SetData(const uint8_t *data, size_t size);
  /** Copies the bytes and gives them back with `deleter`. */
  graphStatus SetData(uint8_t *data, size_t size, const DeleteFunc &deleter);
  graphStatus SetData(const std::string &data) {
    return SetData(std::vector<uint8_t>(data.begin(), data.end()));
  }
  graphStatus SetData(const char *data);
  /** Returns GRAPH_SUCCESS where the bytes are those of the shape. */
  graphStatus IsValid() const;
  Tensor Clone() const;

private:
  TensorDesc desc;
  std::shared_ptr<std::vector<uint8_t>> bytes;
};

} // namespace ge

#endif
