//===-- SingleOpGraph.h - the ONNX graph of an operator -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_SINGLEOPGRAPH_H
#define OPENATC_FRONTENDS_ONNX_SINGLEOPGRAPH_H

#include "frontends/onnx/singleop/SingleOp.h"

#include "llvm/ADT/ArrayRef.h"

#include <initializer_list>
#include <onnx/onnx_pb.h>
#include <set>

namespace atc::single_op {

/// The opset whose rules the nodes below follow.
inline constexpr int64_t opset = 20;

using Names = std::vector<std::string>;
using Ints = std::vector<int64_t>;

/// Formats by AscendCL's numbers.
inline constexpr int kNCHW = 0, kNHWC = 1, kND = 2, kNC1HWC0 = 3, kHWCN = 16, kFractalNz = 29;

/// Returns ONNX's number of an element type, of AscendCL's.
int onnxType(int type);

/// The graph that an operator becomes: tensors x0, x1 ... and y0, y1 ..., nodes between them, and
/// what the operator's attributes say.
class SingleOpGraph {
public:
  /// Starts the graph of `op`, which must outlive it, as must `diagnostics`.
  SingleOpGraph(const SingleOp &op, Diagnostics &diagnostics) : op(op), diagnostics(diagnostics) {
    graph.set_name(op.type);
  }

  /// Adds the inputs and outputs of the operator to the graph.
  void addTensors();
  /// Returns the graph as a model; it is empty then.
  std::string serialize();

  //===--- Tensors and nodes ----------------------------------------------===//

  /// Adds an initializer, in f64 and cast where the type is another.
  void addConstant(const std::string &name, int type, const Ints &dims,
                   const std::vector<double> &values);
  /// Adds a list of i64, for axes and shapes; returns its name.
  std::string addInts(const Ints &values);
  /// Returns whether the type of input 0 has a number; floats round it.
  bool holds(double value) const;
  /// Adds a scalar of the type of input 0, which must hold it, and f32 after widen(); returns its
  /// name.
  std::string addScalar(double value);
  std::string fresh() { return "t" + std::to_string(numbers++); }

  /// Appends a node and returns it; the graph owns it.
  onnx::NodeProto &node(llvm::StringRef type, const Names &inputs, const Names &outputs);
  /// Adds a node with one output; returns the output's name.
  std::string value(llvm::StringRef type, const Names &inputs);
  std::string transpose(const std::string &input, const Ints &permutation);
  std::string reshape(const std::string &input, const Ints &shape) {
    return value("Reshape", {input, addInts(shape)});
  }
  /// Casts inputs of f16 and bf16 to f32, in which the nodes that follow compute: squares of halves
  /// are beyond their largest number soon.
  void widen();
  /// Makes an output of a result; what was computed in f32 becomes a float as the output is stated.
  void write(size_t output, const std::string &result);
  void finish(const std::string &result) { write(0, result); }

  //===--- Input 0 --------------------------------------------------------===//

  /// Returns how many dims an input has.
  int64_t rankOf(size_t input) const { return op.inputs[input].dims.size(); }
  /// Returns an axis of input 0, counted from the front; -1 after an error.
  int64_t axisOf(int64_t axis);
  /// Returns input 0 as NCHW.
  std::string image();
  /// Makes the first output of a result in NCHW.
  void finishImage(const std::string &result);

  /// Append an attribute to `node`.
  static void setInt(onnx::NodeProto &node, const char *name, int64_t value);
  static void setFloat(onnx::NodeProto &node, const char *name, double value);
  static void setInts(onnx::NodeProto &node, const char *name, const Ints &values);
  static void setText(onnx::NodeProto &node, const char *name, const std::string &value);

  //===--- Attributes of the operator -------------------------------------===//

  /// Returns the attribute's value, which the operator owns; null when it is not stated.
  const nlohmann::ordered_json *find(llvm::StringRef name) const;
  /// Return the value of an attribute, or `otherwise` (false for bools) where it is not stated or
  /// of another kind.
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  bool getBool(llvm::StringRef name) const;
  std::string getText(llvm::StringRef name, const char *otherwise) const;
  Ints getInts(llvm::StringRef name, const Ints &otherwise) const;
  /// Returns whether an input is given that is not constant, without an attribute in its place.
  bool isVariable(size_t index, llvm::StringRef attribute) const;
  /// Returns what an operator has as a constant input, or as an attribute in its D variant.
  Ints getIntsOfInput(size_t index, llvm::StringRef attribute) const;
  /// Does that for what the result depends on; reports an error where the input is given but not
  /// constant, and empties the list.
  Ints getConstantInts(size_t index, llvm::StringRef attribute);

  /// States that an operator has attributes, which some of its forms do not read.
  void knows(std::initializer_list<llvm::StringRef> names) const {
    for (llvm::StringRef name : names)
      asked.insert(name.str());
  }
  /// Reports attributes whose values are of no kind that the operator reads, and those that it did
  /// not ask for, unless they change no result.
  void checkAttributes();

  /// Reports an error of this operator.
  void fail(const llvm::Twine &what);
  /// Returns false, with an error, where there are fewer inputs than an operator reads.
  bool needs(size_t count);

  const SingleOp &op;
  Diagnostics &diagnostics;
  onnx::GraphProto graph;
  Names x, y;
  unsigned numbers = 0;
  bool isWide = false; ///< by widen()

private:
  /// Returns the value of an attribute where `isKind` holds for it, and notes whether it does.
  template <typename Predicate>
  const nlohmann::ordered_json *findKind(llvm::StringRef name, Predicate isKind) const;

  /// The attributes that were asked for, and those that were read, or not, as some kind.
  mutable std::set<std::string> asked, read, refused;
};

/// Builds TransData: NCHW and NHWC to and from NC1HWC0, ND to and from FRACTAL_NZ.
void buildTransData(SingleOpGraph &graph);

/// Returns whether an attribute that the rows of an operator do not read changes no result: tensors
/// say what it says, it is for the vendor's kernels only, or it has the value that rows compute
/// with.
bool isWithoutEffect(llvm::StringRef type, llvm::StringRef name,
                     const nlohmann::ordered_json &value);

/// An operator and the function that builds its nodes.
struct OperatorRow {
  llvm::StringLiteral type;
  size_t inputs; ///< that it reads
  void (*build)(SingleOpGraph &);
};

/// Return the operators of one file each.
llvm::ArrayRef<OperatorRow> composedRows();
llvm::ArrayRef<OperatorRow> elementwiseRows();
llvm::ArrayRef<OperatorRow> gradientRows();
llvm::ArrayRef<OperatorRow> layerRows();
llvm::ArrayRef<OperatorRow> movementRows();
llvm::ArrayRef<OperatorRow> neuralRows();
llvm::ArrayRef<OperatorRow> quantizedRows();

/// Builds an operator of the rows above. Returns false, without a change, where there is none of
/// its type.
bool buildOfRows(SingleOpGraph &graph);

/// Returns the operators that buildOfRows builds.
std::vector<std::string> namesOfRows();

} // namespace atc::single_op

#endif // OPENATC_FRONTENDS_ONNX_SINGLEOPGRAPH_H
