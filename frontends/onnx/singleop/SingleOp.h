//===-- SingleOp.h - operators that are described in a .json file ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Ascend toolchain compiles single operators from a description: a type, tensors and
// attributes. Each becomes an ONNX model of a few nodes, and is imported as such.

#ifndef OPENATC_FRONTENDS_ONNX_SINGLEOP_H
#define OPENATC_FRONTENDS_ONNX_SINGLEOP_H

#include "support/Diagnostics.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace atc {

/// A tensor as the file describes it. Numbers are those of AscendCL: FLOAT is 0, ND is 2.
struct SingleOpTensor {
  int type = 0, format = 2;
  std::vector<int64_t> dims; ///< -1: of any size
  bool isAbsent = false;     ///< an optional input that is not given
  bool isConstant = false;
  std::vector<double> values = {}; ///< of a constant; an integer fits, or isExactConstant is false
  bool isInferred = false;         ///< an output whose dims are [-2]: they follow from the inputs
};

struct SingleOpAttribute {
  std::string name;
  std::string type; ///< "int", "list_int", "float", "bool", "string" ...
  nlohmann::ordered_json value;
};

struct SingleOp {
  std::string type; ///< "Add"
  std::string name; ///< of the file that it becomes; empty: made of what it is
  std::vector<SingleOpTensor> inputs, outputs;
  std::vector<SingleOpAttribute> attributes; ///< sorted by name
};

/// Reads a list of operators, or one. Everything that is not valid is an error (E10025 to E10030)
/// that names the operator by its position; `origin` stands for the file.
std::vector<SingleOp> readSingleOps(const nlohmann::ordered_json &file, const std::string &origin,
                                    Diagnostics &diagnostics);

/// Returns the number that ONNX and .om files have for the element type of a tensor.
int singleOpType(const SingleOpTensor &tensor);

/// Returns the integer that a value of a constant stands for: of those beyond 64 bits the nearest,
/// so that the end of all, 2^63 - 1, stays what it is.
int64_t constantInt(double value);
/// Returns constantInt of each value.
std::vector<int64_t> constantInts(const std::vector<double> &values);
/// Returns whether a constant can hold `value`: integers beyond 2^53 may have no double.
inline bool isExactConstant(int64_t value) { return constantInt(double(value)) == value; }

/// Returns the name of the file without .om that operator `index` of a list becomes: its name, or
/// `0_Add_3_2_3_3_3_2_3_3_3_2_3_3`, which is its position and type and, of each tensor, type,
/// format and dims.
std::string singleOpFileName(const SingleOp &op, size_t index);

/// Returns an operator as JSON on one line, in the fields of the file with AscendCL's numbers for
/// types and formats. An .om has it in its command line, so that who has an operator at hand finds
/// the file for it.
std::string describeSingleOp(const SingleOp &op);

/// Returns a serialized ONNX model with inputs x0, x1 ... (those that are neither constant nor
/// absent) and outputs y0, y1 ...; nothing after an error.
std::optional<std::string> makeSingleOpModel(const SingleOp &op, Diagnostics &diagnostics);

} // namespace atc

#endif // OPENATC_FRONTENDS_ONNX_SINGLEOP_H
