//===-- NodeWriter.h - nodes and constants of an ONNX model in memory -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_NODEWRITER_H
#define OPENATC_FRONTENDS_ONNX_NODEWRITER_H

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <onnx/onnx_pb.h>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace atc {

/// A value of an attribute: INT, FLOAT, INTS, STRING, STRINGS.
using OnnxValue = std::variant<int64_t, double, llvm::SmallVector<int64_t>, std::string,
                               std::vector<std::string>>;
using OnnxAttributes = std::vector<std::pair<const char *, OnnxValue>>;

/// Appends a node without outputs to `graph` and returns it.
onnx::NodeProto &addOnnxNode(onnx::GraphProto &graph, const char *op, const std::string &name,
                             llvm::ArrayRef<std::string> inputs, const OnnxAttributes &attributes);

/// Appends a constant to `graph`. `type` is a value of onnx::TensorProto::DataType, `bytes` its
/// elements in row-major order and little-endian.
void addOnnxConstant(onnx::GraphProto &graph, const std::string &name, int type,
                     llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes);

/// Returns the bytes of `values`, which owns them.
template <typename T> llvm::StringRef bytesOf(const T &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(values[0])};
}

} // namespace atc

#endif // OPENATC_FRONTENDS_ONNX_NODEWRITER_H
