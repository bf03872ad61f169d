//===-- ImportComplex.cpp - complex values and Fourier transforms ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/Complex.h"
#include "frontends/tf/ops/DynamicForms.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::tf_import {

Type partOfComplex(NodeContext &n, StringRef attribute) {
  auto found = n.proto().attr().find(attribute.str());
  if (found == n.proto().attr().end())
    return {};
  if (found->second.type() == pb::DT_COMPLEX64)
    return n.builder().getF32Type();
  return found->second.type() == pb::DT_COMPLEX128 ? n.builder().getF64Type() : Type();
}

namespace {

Complex readComplex(NodeContext &n, unsigned index) {
  return {n.input(index), n.imaginaryInput(index)};
}

void setComplex(NodeContext &n, Complex value) {
  if (!n.failed())
    n.setOutput(value.re, value.im);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void importComplex(NodeContext &n) {
  Value re = n.input(0), im = n.input(1);
  if (n.failed())
    return;
  if (NodeContext::isStatic(re) && NodeContext::isStatic(im) && n.shape(re) != n.shape(im)) {
    // The parts are broadcast against each other.
    re = n.add(re, n.mul(im, n.scalarLike(0, im)));
    im = n.add(im, n.mul(re, n.scalarLike(0, re)));
  }
  setComplex(n, {re, im});
}

void importReal(NodeContext &n) { n.setOutput(readComplex(n, 0).re); }
void importImag(NodeContext &n) { n.setOutput(readComplex(n, 0).im); }
void importConj(NodeContext &n) {
  Complex x = readComplex(n, 0);
  setComplex(n, {x.re, n.create<graph::NegOp>(x.im)});
}
void importAngle(NodeContext &n) {
  Complex x = readComplex(n, 0);
  if (!n.failed())
    n.setOutput(angleOf(n, x.im, x.re));
}

Value squaredMagnitude(NodeContext &n, Complex x) {
  return n.add(n.mul(x.re, x.re), n.mul(x.im, x.im));
}

void importComplexAbs(NodeContext &n) {
  Complex x = readComplex(n, 0);
  if (!n.failed())
    n.setOutput(n.create<graph::SqrtOp>(squaredMagnitude(n, x)));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Complex product(NodeContext &n, Complex a, Complex b) {
  return {n.sub(n.mul(a.re, b.re), n.mul(a.im, b.im)), n.add(n.mul(a.re, b.im), n.mul(a.im, b.re))};
}

void importMul(NodeContext &n) {
  Complex a = readComplex(n, 0), b = readComplex(n, 1);
  setComplex(n, product(n, a, b));
}

void importSquare(NodeContext &n) {
  Complex x = readComplex(n, 0);
  setComplex(n, product(n, x, x));
}

/// The exponential of re + i im is exp(re) (cos im + i sin im).
void importExp(NodeContext &n) {
  Complex x = readComplex(n, 0);
  if (n.failed())
    return;
  Value size = n.create<graph::ExpOp>(x.re);
  setComplex(
      n, {n.mul(size, n.create<graph::CosOp>(x.im)), n.mul(size, n.create<graph::SinOp>(x.im))});
}

void importDiv(NodeContext &n) {
  Complex a = readComplex(n, 0), b = readComplex(n, 1);
  if (n.failed())
    return;
  Value size = squaredMagnitude(n, b);
  Complex x = product(n, a, {b.re, n.create<graph::NegOp>(b.im)});
  setComplex(n, {n.div(x.re, size), n.div(x.im, size)});
}

void importReciprocal(NodeContext &n) {
  Complex x = readComplex(n, 0);
  if (n.failed())
    return;
  Value size = squaredMagnitude(n, x);
  setComplex(n, {n.div(x.re, size), n.div(n.create<graph::NegOp>(x.im), size)});
}

/// The logarithm of the length, and the angle.
void importLog(NodeContext &n) {
  Complex x = readComplex(n, 0);
  if (n.failed())
    return;
  Value size = n.create<graph::LogOp>(squaredMagnitude(n, x));
  setComplex(n, {n.mul(size, n.scalarLike(0.5, size)), angleOf(n, x.im, x.re)});
}

/// The root with the positive real part: the larger part is computed first, so that nothing
/// cancels.
void importSqrt(NodeContext &n) {
  Complex x = readComplex(n, 0);
  if (n.failed())
    return;
  Value zero = n.scalarLike(0, x.re), half = n.scalarLike(0.5, x.re);
  Value length = n.create<graph::SqrtOp>(squaredMagnitude(n, x));
  Value larger = n.create<graph::SqrtOp>(n.mul(n.add(length, n.create<graph::AbsOp>(x.re)), half));
  // The root of 0 is 0.
  Value isZero = n.compare(larger, zero, graph::ComparePredicate::Eq);
  Value divisor = n.create<graph::WhereOp>(isZero, n.scalarLike(1, x.re), larger);
  Value smaller = n.div(n.mul(n.create<graph::AbsOp>(x.im), half), divisor);
  Value isRight = n.compare(x.re, zero, graph::ComparePredicate::Ge);
  Value im = n.create<graph::WhereOp>(isRight, smaller, larger);
  Value isBelow = n.compare(x.im, zero, graph::ComparePredicate::Lt);
  setComplex(n, {n.create<graph::WhereOp>(isRight, larger, smaller),
                 n.create<graph::WhereOp>(isBelow, n.create<graph::NegOp>(im), im)});
}

/// tanh(x + iy) = (tanh x (1 + t^2) + i t (1 - tanh^2 x)) / (1 + tanh^2 x t^2) with t = tan y; by
/// sine and cosine, so that no tangent is infinite.
Complex hyperbolicTangent(NodeContext &n, Complex x) {
  if (n.failed())
    return {};
  Value tangent = n.create<graph::TanhOp>(x.re), sine = n.create<graph::SinOp>(x.im),
        cosine = n.create<graph::CosOp>(x.im), one = n.scalarLike(1, x.re);
  Value square = n.mul(tangent, tangent);
  Value divisor = n.add(n.mul(cosine, cosine), n.mul(square, n.mul(sine, sine)));
  return {n.div(tangent, divisor), n.div(n.mul(n.mul(sine, cosine), n.sub(one, square)), divisor)};
}

void importTanh(NodeContext &n) { setComplex(n, hyperbolicTangent(n, readComplex(n, 0))); }

/// The sigmoid of x is (1 + tanh(x / 2)) / 2.
void importSigmoid(NodeContext &n) {
  Complex x = readComplex(n, 0);
  if (n.failed())
    return;
  Value half = n.scalarLike(0.5, x.re);
  Complex tangent = hyperbolicTangent(n, {n.mul(x.re, half), n.mul(x.im, half)});
  setComplex(n, {n.add(n.mul(tangent.re, half), half), n.mul(tangent.im, half)});
}

/// To a real type only the real part is kept.
void importCast(NodeContext &n) {
  Complex x = readComplex(n, 0);
  if (Type part = partOfComplex(n, "DstT"))
    return setComplex(n, {n.cast(x.re, part), n.cast(x.im, part)});
  Type element = n.typeAttr("DstT", pb::DT_FLOAT);
  if (!n.failed())
    n.setOutput(n.cast(x.re, element));
}

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

/// Reads the lengths of a transform, which input 1 states; empty after an error.
SmallVector<int64_t> readLengths(NodeContext &n, size_t count) {
  SmallVector<int64_t> lengths = n.constantInts(1);
  if (n.failed())
    return {};
  constexpr int64_t max = 1 << 24;
  if (lengths.size() != count)
    n.failInput(1, "has " + Twine(lengths.size()) + " elements, expected " + Twine(count));
  for (int64_t length : lengths)
    if (length < 1 || length > max)
      n.failInput(1, "has the length " + Twine(length) + ", expected 1 to " + Twine(max));
  return n.failed() ? SmallVector<int64_t>() : lengths;
}

void requireAxes(NodeContext &n, int64_t axes) {
  Value input = n.input(0);
  if (!n.failed() && !NodeContext::hasRank(input))
    return n.failInput(0, "has no known rank, which a Fourier transform needs");
  n.requireRank(0, axes, maxRank - 1);
}

/// Exchanges the last axis and the one that is `fromEnd`th when they are counted from the end.
Complex swapAxes(NodeContext &n, Complex x, int fromEnd) {
  if (n.failed())
    return {};
  if (!NodeContext::hasRank(x.re)) {
    n.failNode("has an axis to transform in a tensor of no known rank");
    return {};
  }
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(x.re)));
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - fromEnd]);
  return {n.transpose(x.re, permutation), n.transpose(x.im, permutation)};
}

using Transform = Complex (*)(NodeContext &, Complex, int64_t, bool);

/// Transforms along the last `axes` axes but the very last one. The lengths are those of all of
/// them; where there are none, the axes keep theirs.
Complex transformOuter(NodeContext &n, Complex x, int axes, ArrayRef<int64_t> lengths,
                       Transform transform) {
  for (int fromEnd = 2; fromEnd <= axes; ++fromEnd) {
    const int64_t length = lengths.empty() ? 0 : lengths[axes - fromEnd];
    x = swapAxes(n, transform(n, swapAxes(n, x, fromEnd), length, /*isHalf=*/false), fromEnd);
  }
  return x;
}

/// Returns the lengths that input 1 of a transform states, each of rank 0, where they are known
/// only when the model runs; else none.
SmallVector<Value> openLengths(NodeContext &n, int axes) {
  Value given = n.input(1);
  if (n.failed() || matchPattern(given, m_Constant()))
    return {};
  // Another number of lengths fails the run.
  Value list = n.callHost("Reshape", {indexVector(n, given), n.intList({axes})});
  SmallVector<Value> lengths;
  for (int axis = 0; axis < axes; ++axis)
    lengths.push_back(n.callHost("Gather", {list, n.scalar(axis, n.builder().getI64Type())},
                                 {n.hostInts("axis", {0})}));
  return lengths;
}

/// As transformOuter, with lengths that are known only when the model runs.
Complex transformOuter(NodeContext &n, Complex x, ArrayRef<Value> lengths, bool isInverse) {
  const int axes = static_cast<int>(lengths.size());
  for (int fromEnd = 2; fromEnd <= axes; ++fromEnd)
    x = swapAxes(n,
                 transformOfAnyLength(n, swapAxes(n, x, fromEnd), lengths[axes - fromEnd],
                                      isInverse, /*isHalf=*/false),
                 fromEnd);
  return x;
}

template <int axes> void importRfft(NodeContext &n) {
  requireAxes(n, axes);
  if (SmallVector<Value> open = openLengths(n, axes); !open.empty()) {
    Complex half = transformOfAnyLength(n, {n.input(0), Value()}, open.back(),
                                        /*isInverse=*/false, /*isHalf=*/true);
    return setComplex(n, transformOuter(n, half, open, /*isInverse=*/false));
  }
  SmallVector<int64_t> lengths = readLengths(n, axes);
  if (n.failed())
    return;
  Complex result = transformForward(n, {n.input(0), Value()}, lengths.back(), /*isHalf=*/true);
  setComplex(n, transformOuter(n, result, axes, lengths, transformForward));
}

template <int axes> void importIrfft(NodeContext &n) {
  requireAxes(n, axes);
  if (SmallVector<Value> open = openLengths(n, axes); !open.empty()) {
    Complex outer = transformOuter(n, readComplex(n, 0), open, /*isInverse=*/true);
    return n.setOutput(
        transformOfAnyLength(n, outer, open.back(), /*isInverse=*/true, /*isHalf=*/true).re);
  }
  SmallVector<int64_t> lengths = readLengths(n, axes);
  Complex input = readComplex(n, 0);
  if (n.failed())
    return;
  input = transformOuter(n, input, axes, lengths, transformInverse);
  n.setOutput(transformInverse(n, input, lengths.back(), /*isHalf=*/true).re);
}

template <int axes, Transform transform> void importFft(NodeContext &n) {
  requireAxes(n, axes);
  Complex input = readComplex(n, 0);
  if (n.failed())
    return;
  Complex result = transform(n, input, /*length=*/0, /*isHalf=*/false);
  setComplex(n, transformOuter(n, result, axes, {}, transform));
}

const OpRow *findIn(ArrayRef<OpRow> rows, StringRef op) {
  const OpRow *found = llvm::find_if(rows, [&](const OpRow &row) { return row.op == op; });
  return found == rows.end() ? nullptr : found;
}

} // namespace

ArrayRef<OpRow> complexRows() {
  static const OpRow rows[] = {
      {"Angle", importAngle},
      {"Complex", importComplex},
      {"ComplexAbs", importComplexAbs},
      {"Conj", importConj},
      {"FFT", importFft<1, transformForward>},
      {"FFT2D", importFft<2, transformForward>},
      {"FFT3D", importFft<3, transformForward>},
      {"IFFT", importFft<1, transformInverse>},
      {"IFFT2D", importFft<2, transformInverse>},
      {"IFFT3D", importFft<3, transformInverse>},
      {"IRFFT", importIrfft<1>},
      {"IRFFT2D", importIrfft<2>},
      {"IRFFT3D", importIrfft<3>},
      {"Imag", importImag},
      {"RFFT", importRfft<1>},
      {"RFFT2D", importRfft<2>},
      {"RFFT3D", importRfft<3>},
      {"Real", importReal},
  };
  return rows;
}

const OpRow *findComplexOp(StringRef op) {
  static const OpRow arithmetic[] = {
      {"Cast", importCast},
      {"Exp", importExp},
      {"Inv", importReciprocal},
      {"Log", importLog},
      {"Mul", importMul},
      {"RealDiv", importDiv},
      {"Reciprocal", importReciprocal},
      {"Sigmoid", importSigmoid},
      {"Sqrt", importSqrt},
      {"Square", importSquare},
      {"Tanh", importTanh},
  };
  const OpRow *row = findIn(complexRows(), op);
  return row ? row : findIn(arithmetic, op);
}

bool actsOnParts(StringRef op) {
  static const llvm::StringSet<> ops{
      "Add",    "AddN",      "AddV2",    "BroadcastTo",  "Concat",       "ConcatV2", "ExpandDims",
      "Gather", "GatherNd",  "GatherV2", "Identity",     "IdentityN",    "Mean",     "Neg",
      "Pack",   "Pad",       "Reshape",  "ReverseV2",    "Roll",         "Slice",    "Snapshot",
      "Split",  "SplitV",    "Squeeze",  "StopGradient", "StridedSlice", "Sub",      "Sum",
      "Tile",   "Transpose", "Unpack"};
  return ops.contains(op);
}

bool readsOnlyShape(StringRef op) {
  return llvm::is_contained({"Rank", "Shape", "ShapeN", "Size"}, op);
}

} // namespace atc::tf_import
