//===-- QuantizedNodes.cpp - operators on integers with a range -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/decompose/QuantizedNodes.h"

#include <cmath>
#include <limits>

#include "frontends/tf/decompose/QuantizedArithmetic.h"

using namespace llvm;

namespace atc::tf_import {
namespace {

/// Adds the nodes of quantized arithmetic, as TensorFlow's kernels compute it: what holds for a
/// whole tensor partly in f64, elements in f32.
class Quantized {
public:
  explicit Quantized(GraphRewriter &r)
      : r(r), f32(r, pb::DT_FLOAT), f64(r, pb::DT_DOUBLE), i64(r, pb::DT_INT64) {}

  /// Returns a range whose ends are stated as one number of any rank each.
  Range range(const Name &min, const Name &max) { return {scalar(min), scalar(max)}; }
  Name scalar(const Name &x) { return r.add("Reshape", {x, r.constant(ArrayRef<int32_t>())}); }

  /// Returns the integer that stands for `x` (f64), in f64, perhaps beyond the ends of the type.
  Name unclamped(const Name &x, const Range &range, const Integers &of) {
    Name scale = f64.div(f64.number(of.steps()), adjusted(range, of));
    Name begin = f64.round(f64.mul(f64.of(range.min), scale));
    Name q = f64.add(f64.sub(f64.round(f64.mul(x, scale)), begin), f64.number(of.lowest));
    return f64.select(f32.equal(range.min, range.max), f64.number(of.lowest), q);
  }
  Name clamped(const Name &x, const Range &range, const Integers &of) {
    return f64.clamp(unclamped(x, range, of), f64.number(of.lowest), f64.number(of.highest));
  }
  Name zero(const Range &range, const Integers &of) { return unclamped(f64.number(0), range, of); }
  /// Returns the f32 that the integer `q`, in f64, stands for.
  Name numberOf(const Name &q, const Range &range, const Integers &of) {
    Name scale = f64.div(adjusted(range, of), f64.number(of.steps())), narrow = f32.of(scale);
    Name begin = f32.mul(f32.round(f32.div(range.min, narrow)), narrow);
    Name value = f64.add(f64.of(begin), f64.mul(f64.sub(q, f64.number(of.lowest)), scale));
    return f32.select(f32.equal(range.min, range.max), range.min, f32.of(value));
  }

  /// Returns elements as f32.
  Name dequantize(const Name &x, const Range &range, const Integers &of) {
    Name scale = f32.of(f64.div(width(range), f64.number(of.steps() - 1)));
    Name begin = f32.select(f32.equal(range.min, range.max), range.min,
                            f32.mul(f32.round(f32.div(range.min, scale)), scale));
    Name offset = f32.sub(begin, f32.mul(f32.number(of.lowest), scale));
    return f32.add(offset, f32.mul(f32.of(x), scale));
  }
  /// Returns elements of f32 as integers.
  Name quantize(const Name &x, const Range &range, const Integers &of) {
    Name scale = f32.select(f32.equal(range.min, range.max), f32.number(0),
                            f32.of(f64.div(f64.number(of.steps() - 1), width(range))));
    Name begin = f32.round(f32.mul(range.min, scale));
    // The last float below 2^31 is the largest that fits.
    const double max = std::min(of.highest, 0x1p31 - 128);
    Name q = f32.sub(f32.round(f32.mul(x, scale)), f32.sub(begin, f32.number(of.lowest)));
    return f32.as(f32.clamp(q, f32.number(of.lowest), f32.number(max)), of.type);
  }
  /// Returns sums as 8 bits of another range, in numbers with 16 bits behind the point.
  Name requantize(const Name &x, const Range &from, const Range &to) {
    Name isFlat = f32.equal(f32.sub(to.max, to.min), f32.number(0));
    Name width = f32.select(isFlat, f32.number(1), f32.sub(to.max, to.min)), wide = f64.of(width);
    auto unlessFlat = [&](const Name &value) { return i64.select(isFlat, i64.number(0), value); };
    Name scale = unlessFlat(i64.of(
        f64.div(f64.mul(f64.number(255.0 * 65536), f64.of(f32.sub(from.max, from.min))), wide)));
    Name center = f32.div(f32.add(from.min, from.max), f32.number(2));
    Name before = unlessFlat(
        i64.of(f32.mul(f32.mul(center, f32.div(f32.number(255), width)), f32.number(65536))));
    Name after = unlessFlat(i64.of(
        f64.div(f64.mul(f64.number(65536), f64.mul(f64.of(to.min), f64.number(255))), wide)));
    Name offset = i64.add(i64.sub(before, after), i64.number(32768));
    Name scaled = i64.shiftRight(i64.mul(i64.of(x), scale), 32);
    Name q = i64.shiftRight(i64.add(scaled, offset), 16);
    return i64.as(i64.clamp(q, i64.number(0), i64.number(255)), pb::DT_QUINT8);
  }

  /// Returns the range of the elements of `x`, with 0 at or above its begin.
  Range used(const Name &x, const Range &range, const Integers &of) {
    const int32_t rest = -1;
    Name flat = r.add("Reshape", {x, r.constant(ArrayRef<int32_t>(rest))});
    auto end = [&](const char *op) {
      return numberOf(f64.of(r.add(op, {flat, r.number(0)})), range, of);
    };
    return {f32.min(f32.number(0), end("Min")), end("Max")};
  }
  /// Returns the range of products of integers of two ranges.
  Range product(const Range &a, const Integers &ofA, const Range &b, const Integers &ofB) {
    auto level = [&](const Range &range, const Integers &of) {
      return f32.div(f32.sub(range.max, range.min), f32.number(of.highest - of.lowest));
    };
    Name step = f32.mul(level(a, ofA), level(b, ofB));
    return {f32.mul(step, f32.number(sums().lowest)), f32.mul(step, f32.number(sums().highest))};
  }
  /// Returns the range of sums: symmetric, with `bits` above both summands.
  Range sum(const Range &a, const Range &b, int bits) {
    Name zero = f32.number(0);
    auto size = [&](const Range &x) { return f32.max(x.max, f32.sub(zero, x.min)); };
    Name max = f32.mul(f32.max(size(a), size(b)), f32.number(std::ldexp(1.0, bits)));
    return {f32.sub(zero, max), max};
  }
  /// Returns elements less the integer that stands for 0, in the element type of `type`.
  Name centered(const Name &x, const Range &range, const Integers &of, pb::DataType type) {
    return f32.sub(f32.as(x, type), f32.as(zero(range, of), type));
  }

  void finish(const Name &result, const Range &range, pb::DataType type) {
    r.becomeAll({result, range.min, range.max}, {type, pb::DT_FLOAT, pb::DT_FLOAT});
  }

  GraphRewriter &r;
  Arithmetic f32, f64, i64;

private:
  /// The difference of the ends, rounded to f32, as f64.
  Name width(const Range &range) { return f64.of(f32.sub(range.max, range.min)); }
  /// The width of all steps of the type: one more than lie between the ends.
  Name adjusted(const Range &range, const Integers &of) {
    return f64.mul(width(range), f64.number(of.steps() / (of.steps() - 1)));
  }
};

/// Returns the stated range, widened to hold 0 and to be at least `ensure_minimum_range` of its
/// largest number wide.
Range widened(Quantized &q, const Inputs &in) {
  Arithmetic &f = q.f32;
  const pb::AttrValue *minimum = q.r.attribute("ensure_minimum_range");
  const Range stated = q.range(in[1], in[2]);
  Name zero = f.number(0), size = f.max(f.abs(stated.min), f.abs(stated.max));
  Name gap = f.mul(f.max(f.number(1), size), f.number(minimum ? minimum->f() : 0.01F));
  Name min = f.min(zero, stated.min);
  return {min, f.max(zero, f.max(stated.max, f.add(min, gap)))};
}

/// Inputs: numbers and the ends of their range.
void quantize(GraphRewriter &r, const Inputs &in) {
  const std::optional<Integers> type = integersOf(r, "T");
  const pb::AttrValue *axis = r.attribute("axis"), *narrow = r.attribute("narrow_range");
  const std::string mode = textOf(r, "mode", "MIN_COMBINED"),
                    rounding = textOf(r, "round_mode", "HALF_AWAY_FROM_ZERO");
  const bool isKnown = mode == "MIN_COMBINED" || mode == "MIN_FIRST" || mode == "SCALED";
  if (!type || !isKnown || (axis && axis->i() != -1))
    return;
  Quantized q(r);
  Arithmetic &f = q.f32;
  Range range = widened(q, in);
  if (mode == "MIN_FIRST")
    return q.finish(q.quantize(in[0], range, *type), range, type->type);
  if (mode == "MIN_COMBINED") {
    Name scale = f.div(f.number(type->highest - type->lowest), f.sub(range.max, range.min));
    Name x = f.mul(f.sub(f.clamp(in[0], range.min, range.max), range.min), scale);
    x = type->isSigned() ? f.round(f.sub(x, f.number(type->steps() / 2)))
                         : f.floor(f.add(x, f.number(0.5)));
    return q.finish(f.as(x, type->type), range, type->type);
  }
  const double lowest = type->lowest + (narrow && narrow->b() ? 1 : 0);
  auto scaleOf = [&](double integer, const Name &end) {
    Name largest = f.number(std::numeric_limits<float>::max());
    if (integer == 0)
      return largest;
    Name whole = f.number(integer);
    return f.select(f.greater(f.mul(whole, end), f.number(0)), f.div(whole, end), largest);
  };
  Name scale = f.min(scaleOf(lowest, range.min), scaleOf(type->highest, range.max));
  range = {f.div(f.number(lowest), scale), f.div(f.number(type->highest), scale)};
  Name x = f.mul(f.clamp(in[0], range.min, range.max), scale);
  x = rounding == "HALF_TO_EVEN" ? r.add("Round", {x}) : f.round(x);
  q.finish(f.as(x, type->type), range, type->type);
}

/// Leaves what depends on no input of the model to the importer. Inputs: integers and the ends of
/// their range.
void dequantize(GraphRewriter &r, const Inputs &in) {
  const std::optional<Integers> type = integersOf(r, "T");
  const pb::AttrValue *axis = r.attribute("axis"), *narrow = r.attribute("narrow_range"),
                      *result = r.attribute("dtype");
  if (!type || (axis && axis->i() != -1) || (r.isConstant(in[1]) && r.isConstant(in[2])))
    return;
  const std::string mode = textOf(r, "mode", "MIN_COMBINED");
  Quantized q(r);
  Arithmetic &f = q.f32;
  const Range range = q.range(in[1], in[2]);
  Name value;
  if (mode == "MIN_FIRST") {
    value = q.dequantize(in[0], range, *type);
  } else if (mode == "MIN_COMBINED") {
    Name scale = f.div(f.sub(range.max, range.min), f.number(type->highest - type->lowest));
    Name offset = f.number(type->isSigned() ? type->steps() / 2 : 0);
    value = f.add(f.mul(f.add(f.of(in[0]), offset), scale), range.min);
  } else if (mode == "SCALED") {
    const double lowest = type->lowest + (narrow && narrow->b() ? 1 : 0);
    Name scale = f.div(range.max, f.number(type->highest));
    if (type->isSigned())
      scale = f.max(f.div(range.min, f.number(lowest)), scale);
    value = f.mul(f.of(in[0]), scale);
  } else {
    return;
  }
  pb::AttrValue to;
  to.set_type(result ? result->type() : pb::DT_FLOAT);
  r.set("DstT", to);
  r.become("Cast", {value});
}

void requantize(GraphRewriter &r, const Inputs &in) {
  const std::optional<Integers> from = integersOf(r, "Tinput"), to = integersOf(r, "out_type");
  if (!from || from->type != pb::DT_QINT32 || !to || to->type != pb::DT_QUINT8)
    return;
  Quantized q(r);
  const Range range = q.range(in[1], in[2]), wanted = q.range(in[3], in[4]);
  q.finish(q.requantize(in[0], range, wanted), wanted, to->type);
}

void requantizationRange(GraphRewriter &r, const Inputs &in) {
  const std::optional<Integers> from = integersOf(r, "Tinput");
  if (!from)
    return;
  Quantized q(r);
  const Range used = q.used(in[0], q.range(in[1], in[2]), *from);
  r.becomeAll({used.min, used.max}, {pb::DT_FLOAT, pb::DT_FLOAT});
}

/// Requantize to the range of the elements.
void quantizeDown(GraphRewriter &r, const Inputs &in) {
  const std::optional<Integers> from = integersOf(r, "Tinput"), to = integersOf(r, "out_type");
  if (!from || from->type != pb::DT_QINT32 || !to || to->type != pb::DT_QUINT8)
    return;
  Quantized q(r);
  const Range range = q.range(in[1], in[2]), used = q.used(in[0], range, *from);
  q.finish(q.requantize(in[0], range, used), used, to->type);
}

/// Inputs: the factors, then the ends of their ranges. The integers that stand for 0 are taken off
/// first, so that the result of 0 is 0.
struct Product {
  Product(GraphRewriter &r, const Inputs &in, const char *first, const char *second,
          const char *result)
      : a(integersOf(r, first)), b(integersOf(r, second)), q(r) {
    const std::optional<Integers> type = integersOf(r, result);
    if (!a || !b || !type || type->type != pb::DT_QINT32)
      return;
    isKnown = true;
    rangeA = q.range(in[2], in[3]);
    rangeB = q.range(in[4], in[5]);
  }
  void finish(const Name &value) {
    q.finish(value, q.product(rangeA, *a, rangeB, *b), pb::DT_QINT32);
  }

  std::optional<Integers> a, b;
  Quantized q;
  Range rangeA, rangeB;
  bool isKnown = false;
};

/// The sums are those of f32, in which integers below 2^24 are exact.
void convolve(GraphRewriter &r, const Inputs &in) {
  if (const pb::AttrValue *type = r.attribute("Tfilter"); type && type->type() == pb::DT_QINT8)
    return multiplyFused(r, in);
  Product p(r, in, "Tinput", "Tfilter", "out_type");
  if (!p.isKnown)
    return;
  Name sum = r.add("Conv2D",
                   {p.q.centered(in[0], p.rangeA, *p.a, pb::DT_FLOAT),
                    p.q.centered(in[1], p.rangeB, *p.b, pb::DT_FLOAT)},
                   {{"strides", r.attribute("strides")},
                    {"padding", r.attribute("padding")},
                    {"dilations", r.attribute("dilations")}});
  p.finish(p.q.f32.as(r.add("Round", {sum}), pb::DT_INT32));
}

void multiplyMatrices(GraphRewriter &r, const Inputs &in) {
  Product p(r, in, "T1", "T2", "Toutput");
  if (p.isKnown)
    p.finish(r.add("MatMul",
                   {p.q.centered(in[0], p.rangeA, *p.a, pb::DT_INT32),
                    p.q.centered(in[1], p.rangeB, *p.b, pb::DT_INT32)},
                   {{"transpose_a", r.attribute("transpose_a")},
                    {"transpose_b", r.attribute("transpose_b")}}));
}

void multiply(GraphRewriter &r, const Inputs &in) {
  Product p(r, in, "T1", "T2", "Toutput");
  if (p.isKnown)
    p.finish(p.q.f32.mul(p.q.centered(in[0], p.rangeA, *p.a, pb::DT_INT32),
                         p.q.centered(in[1], p.rangeB, *p.b, pb::DT_INT32)));
}

/// Each summand goes to the range of sums by the integers that 0 and 1 become; one of a single
/// element by the number that it stands for.
void add(GraphRewriter &r, const Inputs &in) {
  Product p(r, in, "T1", "T2", "Toutput");
  if (!p.isKnown || p.a->isSigned() || p.b->isSigned())
    return;
  Quantized &q = p.q;
  const Range total = q.sum(p.rangeA, p.rangeB, /*bits=*/14);
  auto isOne = [&](const Name &x) { return r.add("Equal", {r.add("Size", {x}), r.number(1)}); };
  const Name isOneA = isOne(in[0]),
             isOneB = r.add("LogicalAnd", {isOne(in[1]), r.add("LogicalNot", {isOneA})});
  auto inTotal = [&](const Name &x, const Range &range, const Integers &of, const Name &isSingle) {
    auto integerOf = [&](double number) {
      Name value = q.numberOf(q.f64.number(number), range, of);
      return q.i64.of(q.unclamped(q.f64.of(value), total, sums()));
    };
    Name first = integerOf(0), step = q.i64.sub(integerOf(1), first);
    Name value = q.i64.add(first, q.i64.mul(q.i64.of(x), step));
    Name number = q.f64.of(q.numberOf(q.f64.of(x), range, of));
    value = q.i64.select(isSingle, q.i64.of(q.unclamped(number, total, sums())), value);
    return q.i64.as(q.i64.clamp(value, q.i64.number(sums().lowest), q.i64.number(sums().highest)),
                    pb::DT_INT32);
  };
  q.finish(
      q.f32.add(inTotal(in[0], p.rangeA, *p.a, isOneA), inTotal(in[1], p.rangeB, *p.b, isOneB)),
      total, pb::DT_QINT32);
}

void addBias(GraphRewriter &r, const Inputs &in) {
  Product p(r, in, "T1", "T2", "out_type");
  if (!p.isKnown)
    return;
  Quantized &q = p.q;
  const Range total = q.sum(p.rangeA, p.rangeB, /*bits=*/17);
  auto inTotal = [&](const Name &x, const Range &range, const Integers &of) {
    return q.quantize(q.dequantize(x, range, of), total, sums());
  };
  Name zero = q.f64.as(q.clamped(q.f64.number(0), total, sums()), pb::DT_INT32);
  Name bias = q.f32.add(inTotal(in[1], p.rangeB, *p.b), zero);
  q.finish(q.f32.add(inTotal(in[0], p.rangeA, *p.a), bias), total, pb::DT_QINT32);
}

/// `limit` is 0 where there is none.
template <int limit> void rectify(GraphRewriter &r, const Inputs &in) {
  const std::optional<Integers> type = integersOf(r, "Tinput"), result = integersOf(r, "out_type");
  if (!type || !result || type->type != result->type)
    return;
  Quantized q(r);
  const Range range = q.range(in[1], in[2]);
  auto integerOf = [&](double number) {
    return q.f64.as(q.clamped(q.f64.number(number), range, *type), type->type);
  };
  Name value = q.f32.max(in[0], integerOf(0));
  q.finish(limit == 0 ? value : q.f32.min(value, integerOf(limit)), range, type->type);
}

/// Rounds means toward 0.
template <int isMean> void pool(GraphRewriter &r, const Inputs &in) {
  const std::optional<Integers> type = integersOf(r, "T");
  const pb::AttrValue *kernel = r.attribute("ksize");
  if (!type || !kernel)
    return;
  Quantized q(r);
  Name value = r.add(isMean ? "AvgPool" : "MaxPool", {q.f32.of(in[0])},
                     {{"ksize", kernel},
                      {"strides", r.attribute("strides")},
                      {"padding", r.attribute("padding")}});
  if (isMean) {
    // Sums of integers by their number: half of the smallest step keeps whole ones whole.
    double count = 1;
    for (int64_t size : kernel->list().i())
      count *= static_cast<double>(size);
    Name half = q.f32.number(0.5 / count);
    value = type->isSigned()
                ? q.f32.mul(r.add("Sign", {value}), q.f32.floor(q.f32.add(q.f32.abs(value), half)))
                : q.f32.floor(q.f32.add(value, half));
  }
  q.finish(q.f32.as(value, type->type), q.range(in[1], in[2]), type->type);
}

void reshape(GraphRewriter &r, const Inputs &in) {
  const std::optional<Integers> type = integersOf(r, "T");
  Quantized q(r);
  if (type)
    q.finish(r.add("Reshape", {in[0], in[1]}), q.range(in[2], in[3]), type->type);
}

/// Inputs: the dim, the tensors, the begins and the ends of their ranges. All go to the range that
/// holds them and 0, which is symmetric where integers have a sign.
void concatenate(GraphRewriter &r, const Inputs &in) {
  const std::optional<Integers> type = integersOf(r, "T");
  const size_t count = (in.size() - 1) / 3;
  if (!type || count == 0 || in.size() != 3 * count + 1)
    return;
  Quantized q(r);
  Arithmetic &f = q.f32;
  std::vector<Range> ranges;
  Range all{f.number(0), {}};
  for (size_t i = 0; i < count; ++i) {
    ranges.push_back(q.range(in[1 + count + i], in[1 + 2 * count + i]));
    all.min = f.min(all.min, ranges[i].min);
    all.max = i == 0 ? ranges[i].max : f.max(all.max, ranges[i].max);
  }
  if (type->isSigned()) {
    all.max = f.max(f.sub(f.number(0), all.min), all.max);
    all.min = f.sub(f.number(0), all.max);
  }
  Inputs parts{in[0]};
  for (size_t i = 0; i < count; ++i) {
    Name value = q.f64.of(q.numberOf(q.f64.of(in[1 + i]), ranges[i], *type));
    Name moved = q.f64.as(q.clamped(value, all, *type), type->type);
    Name isSame =
        r.add("LogicalAnd", {f.equal(ranges[i].min, all.min), f.equal(ranges[i].max, all.max)});
    parts.push_back(f.select(isSame, in[1 + i], moved));
  }
  pb::AttrValue number;
  number.set_i(static_cast<int64_t>(count));
  q.finish(r.add("Concat", parts, {{"N", &number}}), all, type->type);
}

} // namespace

ArrayRef<Decomposed> quantizedNodes() {
  static const Decomposed rows[] = {
      {"Dequantize", 3, dequantize, ""},
      {"QuantizeDownAndShrinkRange", 3, quantizeDown, "Min, Max, RightShift; qint32 to quint8"},
      {"QuantizeV2", 3, quantize, "Round, Cast; a range for the whole tensor"},
      {"QuantizedAdd", 6, add, "Cast, Mul, Add; quint8"},
      {"QuantizedAvgPool", 3, pool<1>, "AvgPool, Floor"},
      {"QuantizedBiasAdd", 6, addBias, "Cast, Round, Add"},
      {"QuantizedConcat", 4, concatenate, "Cast, Concat"},
      {"QuantizedConv2D", 6, convolve, "Cast, Conv2D; sums of f32, exact below 2^24"},
      {"QuantizedMatMul", 6, multiplyMatrices, "Cast, MatMul"},
      {"QuantizedMaxPool", 3, pool<0>, "MaxPool"},
      {"QuantizedMul", 6, multiply, "Cast, Mul"},
      {"QuantizedRelu", 3, rectify<0>, "Maximum"},
      {"QuantizedRelu6", 3, rectify<6>, "Maximum, Minimum"},
      {"QuantizedReshape", 4, reshape, "Reshape"},
      {"RequantizationRange", 3, requantizationRange, "Min, Max"},
      {"Requantize", 5, requantize, "RightShift; qint32 to quint8"},
  };
  return rows;
}

} // namespace atc::tf_import
