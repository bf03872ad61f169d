//===-- ModelReader.h - reads and checks TensorFlow Lite files ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TFLITE_MODELREADER_H
#define OPENATC_FRONTENDS_TFLITE_MODELREADER_H

#include <memory>
#include <string>
#include <unordered_map>

#include "frontends/tflite/schema/tflite_generated.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace atc::tflite {

using Dims = llvm::SmallVector<int64_t>;

/// A file whose tables, indices and sizes have been checked: whatever refers to a subgraph's
/// tensor, a buffer or an operator's code refers to one that exists, dims are not negative, the
/// bytes of a constant are as many as its shape and type need, and scales are positive and as
/// many as the dim they are for.
class ModelReader {
public:
  /// Maps and checks the file. Returns null after at least one error.
  static std::unique_ptr<ModelReader> open(llvm::StringRef path, Diagnostics &diagnostics);

  /// Return tables of the file, which stay in its memory. An index must be below the number.
  size_t numSubgraphs() const { return model->subgraphs()->size(); }
  const fb::SubGraph &subgraph(size_t index) const { return *model->subgraphs()->Get(index); }
  const fb::Tensor &tensor(size_t subgraphIndex, size_t index) const {
    return *subgraph(subgraphIndex).tensors()->Get(index);
  }
  size_t numTensors(size_t subgraphIndex) const {
    const auto *tensors = subgraph(subgraphIndex).tensors();
    return tensors ? tensors->size() : 0;
  }

  /// Returns the index of the subgraph that a signature names; without a name that of
  /// serving_default, or the one that all signatures name, or 0 where there are none. Returns none
  /// after an error.
  std::optional<size_t> findSignature(llvm::StringRef wanted, Diagnostics &diagnostics) const;

  /// Returns the bytes of a constant, which belong to the reader; empty for other tensors.
  llvm::StringRef data(const fb::Tensor &tensor) const;

  /// Returns the builtin operator of `op`, also where an old file states it in a byte.
  fb::BuiltinOperator code(const fb::Operator &op) const;
  /// Returns the name of an operator: "CONV_2D", or the name of a custom one.
  std::string opName(const fb::Operator &op) const;

private:
  ModelReader() = default;
  bool check(llvm::StringRef path, Diagnostics &diagnostics);
  uint64_t expandedBytes() const;
  bool checkSubgraph(size_t index, Diagnostics &diagnostics);
  bool checkTensor(const fb::Tensor &tensor, Diagnostics &diagnostics);

  std::unique_ptr<llvm::MemoryBuffer> file;
  const fb::Model *model = nullptr;
  /// All elements of the tensors that the file stores without zeros.
  std::unordered_map<const fb::Tensor *, std::string> expanded;
};

/// Returns the dims of a tensor; -1 for one that is dynamic.
Dims dimsOf(const fb::Tensor &tensor);

/// Returns the name of a tensor; empty where it has none.
llvm::StringRef nameOf(const fb::Tensor &tensor);

/// Returns the value of onnx::TensorProto::DataType in which a tensor is imported (int4 as int8),
/// or 0 for types that cannot be.
int onnxType(fb::TensorType type);

/// Returns the bytes per element of a type as the file stores it; 0 for int4, whose elements share
/// bytes, and for types without a size.
size_t elementSize(fb::TensorType type);

/// Returns the name of a type, and its number where it has none.
std::string typeName(fb::TensorType type);

/// Reports whether a tensor is complex: operators make its parts along one more dim, the last.
bool isComplex(const fb::Tensor &tensor);

/// Reports whether the elements of a tensor stand for real values by its scales.
bool isQuantized(const fb::Tensor &tensor);

} // namespace atc::tflite

#endif // OPENATC_FRONTENDS_TFLITE_MODELREADER_H
