//===-- VectorPlan.h - plans scalar code as vector instructions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of steps between arith / math ops and instructions on ub, without addresses: constants are
// scalar operands, functions are expanded into formulas, and the type of the computation is chosen.

#ifndef OPENATC_PASSES_NPU_VECTOR_VECTORPLAN_H
#define OPENATC_PASSES_NPU_VECTOR_VECTORPLAN_H

#include "mlir/IR/Block.h"
#include "npu/isa/Isa.h"

#include "llvm/ADT/SmallVector.h"

namespace atc::npu {

/// The steps that compute a scalar body.
class VectorPlan {
public:
  enum class Kind { Input, Constant, Op };
  struct Step {
    Kind kind = Kind::Op;
    VectorOp op = VectorOp::Copy;
    int a = -1, b = -1, mask = -1; ///< steps whose results are the operands
    int target = -1;               ///< of Madd and Axpy: the step that is accumulated
    double scalar = 0;             ///< also a constant's value
    unsigned input = 0;
    int roundings = 0; ///< on the longest path from the inputs, if computed in f16
    bool used = false;
    int lastUse = -1;
  };

  /// Plans a body that ends in a kernel.yield.
  explicit VectorPlan(mlir::Block &body);

  /// Returns the reason why there is no plan; empty: there is one.
  const std::string &errorText() const { return problem; }

  llvm::ArrayRef<Step> steps() const { return list; }
  /// Returns the step that computes the result.
  int result() const { return resultStep; }
  /// Returns the type in which all steps compute.
  mlir::Type computeType() const { return type; }
  mlir::Type resultType() const { return storedType; }
  /// Returns the factor that is applied while the result is stored.
  double storeScale() const { return resultScale; }
  /// Returns the element type of an input; 8-bit types have a sign here.
  mlir::Type inputType(unsigned input) const { return inputTypes[input]; }
  /// Returns whether the result is an input, maybe in another type.
  bool isCast() const { return list[resultStep].kind == Kind::Input; }
  /// Returns the number of buffers for temporaries that are needed at the same time.
  unsigned slots() const { return slotCount; }
  /// Returns where the result of a step is kept: a slot, or -1 for the output itself.
  int slotOf(int step) const { return slotByStep[step]; }

private:
  bool read(mlir::Operation &op);
  /// Appends the steps that compute the operands to `in`. Returns false where one has none, or is
  /// an integer that the op does not convert to a float.
  bool readOperands(mlir::Operation &op, llvm::SmallVectorImpl<int> &in);
  /// Return the step that computes an op of this dialect, or -1 where there is none.
  int readArith(mlir::Operation &op, llvm::ArrayRef<int> in);
  int readMath(mlir::Operation &op, llvm::ArrayRef<int> in);
  bool readCompare(mlir::Operation &op);
  /// Reads a conversion to an integer of 8 bits that other ops of the body read.
  bool readQuantization(mlir::Operation &op);
  /// Returns whether `op` converts the result of such a conversion back.
  static bool isReadBack(mlir::Operation &op, mlir::Value integer);
  std::optional<int> readStore(mlir::Operation *store);
  std::optional<int> readTruncation(mlir::Operation *store);
  /// Makes a number without its fraction.
  int truncated(int number);
  void chooseType();
  void fuseScales();
  void castInputs();
  void fuse();
  void findLives();
  void assignSlots();

  int valueOf(mlir::Value value);
  int input(unsigned number);
  int constant(double value);
  int append(Step step);
  int unary(VectorOp op, int a, double scalar = 0);
  int binary(VectorOp op, int a, int b);
  int add(int a, int b);
  int sub(int a, int b);
  int mul(int a, int b);
  int div(int a, int b);
  int maxmin(VectorOp op, VectorOp withScalar, int a, int b);
  int select(int mask, int a, int b);
  int wholePower(int a, int exponent);
  int power(int a, int b);
  int remainder(int a, int b);
  int normalDistribution(int a, double factor);
  int tanh(int a);
  int erf(int a);
  int sine(int a, bool isCosine);
  int polynomial(int x, llvm::ArrayRef<double> factors);
  int copySign(int a, int b);
  int arcTangent(int a);
  int arcSine(int a);
  int arcCosine(int a);
  int hyperbolic(int a, bool isCosine);
  int arcHyperbolic(int a, bool isCosine);
  int arcHyperbolicTangent(int a);
  /// Returns `step`, which makes the plan compute in f32.
  int inFloat(int step);

  bool isConstant(int step, double *value = nullptr) const;
  template <typename Visit> void forEachOperand(Step &step, Visit visit);

  mlir::Block &body;
  llvm::SmallVector<Step> list;
  llvm::SmallVector<std::pair<mlir::Value, int>> values;
  llvm::SmallVector<int> slotByStep;
  llvm::SmallVector<mlir::Type> inputTypes;
  mlir::Type type, storedType;
  bool halfOnly = true;
  /// Whether each operation is exactly that of the model, as quantized values require.
  bool exact = false;
  /// Whether f32 is read and stored, whose formulas are those of the CPU.
  bool keepsFloats = false;
  double resultScale = 1;
  int resultStep = -1;
  unsigned slotCount = 0;
  std::string problem;
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_VECTORPLAN_H
