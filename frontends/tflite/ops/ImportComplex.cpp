//===-- ImportComplex.cpp - complex numbers, bits of elements --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"
#include "llvm/Support/MathExtras.h"

using llvm::Twine;

namespace atc::tflite {
namespace {

//===--- Complex numbers: one more dim, with the real and the imaginary part
//-------------------===//

/// Transforms the last two dims, each cut or filled with zeros to its length; of the last one, half
/// of the symmetric result is kept.
void importRealTransform(OpContext &c) {
  const Dims dims = c.dims(0), lengths = c.requireInts(1, "lengths");
  const auto rank = static_cast<int64_t>(dims.size());
  if (!c.failed() && (rank < 2 || lengths.size() != 2 || lengths[0] < 1 || lengths[1] < 1))
    c.fail("it transforms " + Twine(rank) + " dims by " + Twine(lengths.size()) +
           " lengths, expected at least two dims and two positive lengths");
  if (c.failed())
    return;
  Value result =
      c.node("DFT", {c.unsqueeze(c.in(0), {rank}), c.intScalar(lengths[1]), c.intScalar(rank - 1)},
             {{"onesided", int64_t(1)}});
  if (lengths[0] != 1 || dims[rank - 2] != 1)
    result = c.node("DFT", {result, c.intScalar(lengths[0]), c.intScalar(rank - 2)});
  c.setOutput(result);
}

/// Returns the complex input of an operator; an error where it is real.
Value complexInput(OpContext &c) {
  const fb::Tensor &tensor = c.inputTensor(0);
  if (!c.failed() && tensor.type() != fb::TensorType::COMPLEX64)
    c.fail("its input has the type " + Twine(typeName(tensor.type())) + ", expected COMPLEX64");
  return c.failed() ? Value() : c.raw(0);
}

template <int64_t part> void importPart(OpContext &c) {
  const Value value = complexInput(c);
  c.setOutput(c.node("Gather", {value, c.intScalar(part)}, {{"axis", int64_t(-1)}}));
}

void importMagnitude(OpContext &c) {
  const Value value = complexInput(c);
  c.setOutput(c.node("ReduceL2", {value, c.ints({-1})}, {{"keepdims", int64_t(0)}}));
}

//===--- Bits
//------------------------------------------------------------------------------------===//

Value bitsAs(OpContext &c, Value value, int64_t type) {
  return c.node("BitCast", {value}, {{"to", type}});
}

/// Returns the integers without sign that have `size` bytes.
int64_t unsignedOf(size_t size) {
  return size == 1   ? onnx::TensorProto::UINT8
         : size == 2 ? onnx::TensorProto::UINT16
         : size == 4 ? onnx::TensorProto::UINT32
                     : onnx::TensorProto::UINT64;
}

/// The bits of each element as another type. An element of more bytes becomes several along one
/// more dim, the lowest bits first; all along the last dim become one of more bytes.
void importBitcast(OpContext &c) {
  const fb::Tensor &from = c.inputTensor(0), &to = c.outputTensor(0);
  if (c.failed())
    return;
  const size_t before = elementSize(from.type()), after = elementSize(to.type());
  const int64_t type = onnxType(to.type());
  if (!before || !after || !type || !onnxType(from.type()) || from.type() == fb::TensorType::INT4 ||
      to.type() == fb::TensorType::INT4 || from.type() == fb::TensorType::BOOL ||
      to.type() == fb::TensorType::BOOL)
    return c.fail("the bits of " + Twine(typeName(from.type())) + " cannot become " +
                  typeName(to.type()));
  Value value = {c.raw(0).name};
  if (before != after) {
    constexpr int64_t wide = onnx::TensorProto::UINT64;
    const auto parts = static_cast<int64_t>(std::max(before, after) / std::min(before, after)),
               bits = static_cast<int64_t>(8 * std::min(before, after)), rank = c.rank(0);
    if (before < after && (rank == 0 || c.knownDims(0, rank - 1).back() != parts))
      return c.fail("its last dim must have the " + Twine(parts) + " parts of an element");
    std::vector<uint64_t> shifts;
    for (int64_t part = 0; part < parts; ++part)
      shifts.push_back(part * bits);
    value = c.cast(bitsAs(c, value, unsignedOf(before)), wide);
    if (before > after)
      value = c.unsqueeze(value, {rank});
    value = c.node("BitShift", {value, c.constant(wide, {parts}, bytesOf(llvm::ArrayRef(shifts)))},
                   {{"direction", before > after ? "RIGHT" : "LEFT"}});
    // The bits of the parts are disjoint, so that their sum has all of them.
    const std::vector<uint64_t> mask = {llvm::maskTrailingOnes<uint64_t>(bits)};
    value = before > after
                ? c.node("BitwiseAnd", {value, c.constant(wide, {}, bytesOf(llvm::ArrayRef(mask)))})
                : c.node("ReduceSum", {value, c.ints({-1})}, {{"keepdims", int64_t(0)}});
    value = c.cast(value, static_cast<int>(unsignedOf(after)));
  }
  value = bitsAs(c, value, type);
  value.isStored = isQuantized(to);
  c.setOutput(value);
}

} // namespace

llvm::ArrayRef<OpRow> complexOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{BITCAST, importBitcast},
                               {COMPLEX_ABS, importMagnitude},
                               {IMAG, importPart<1>},
                               {REAL, importPart<0>},
                               {RFFT2D, importRealTransform}};
  return rows;
}

} // namespace atc::tflite
