//===-- ExecuteVector.cpp - the vector queue's operations -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats are computed in f32 and rounded once to their type. exp and ln have their own code, in
// double, so that they yield the same bits on every machine.

#include "npu/simulator/ExecuteParts.h"
#include "npu/simulator/Numbers.h"

namespace atc::npu {

namespace {

constexpr int64_t kChunk = 256;

NPU_INLINE float exponential(float value) {
  double x = value < -200.f ? -200. : value > 200.f ? 200. : double(value);
  x = value != value ? 0 : x;
  double k = __builtin_rint(x * 1.4426950408889634);
  double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
  double p = 1. / 479001600;
  constexpr double factors[] = {1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
                                1. / 5040,     1. / 720,     1. / 120,    1. / 24,
                                1. / 6,        0.5,          1,           1};
  for (double factor : factors)
    p = p * r + factor;
  uint64_t bits = uint64_t(int64_t(k) + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, 8);
  return value != value ? value : float(p * power);
}

NPU_INLINE float logarithm(float value) {
  double x = value;
  uint64_t bits;
  std::memcpy(&bits, &x, 8);
  int64_t exponent = int64_t(bits >> 52 & 0x7ff) - 1023;
  bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
  double m;
  std::memcpy(&m, &bits, 8);
  bool large = m > 1.4142135623730951;
  m = large ? m * 0.5 : m;
  double e = double(exponent + large), s = (m - 1) / (m + 1), s2 = s * s, p = 1. / 19;
  constexpr double factors[] = {1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9,
                                1. / 7,  1. / 5,  1. / 3,  1};
  for (double factor : factors)
    p = p * s2 + factor;
  float result = float(e * 0.6931471805599453 + 2 * s * p);
  if (value == 0)
    return -std::numeric_limits<float>::infinity();
  if (value < 0)
    return std::numeric_limits<float>::quiet_NaN();
  return value == std::numeric_limits<float>::infinity() || value != value ? value : result;
}

/// Elements of one operand: a run is blocks of 32 bytes, `block` apart.
struct Run {
  uint8_t *base;
  int64_t block;
  DataType type;
};

template <typename Part>
NPU_INLINE void eachPiece(const Run &run, int64_t lane, int64_t count, Part part) {
  int64_t bytes = bytesOf(run.type), lanes = 32 / bytes;
  if (run.block == 32)
    return part(run.base + lane * bytes, 0, count);
  for (int64_t done = 0; done < count;) {
    int64_t position = lane + done, piece = std::min(count - done, lanes - position % lanes);
    part(run.base + position / lanes * run.block + position % lanes * bytes, done, piece);
    done += piece;
  }
}

template <typename T> NPU_INLINE void load(const Run &run, int64_t lane, int64_t count, T *values) {
  eachPiece(run, lane, count,
            [&](const uint8_t *from, int64_t at, int64_t n) __attribute__((always_inline)) {
              if constexpr (std::is_same_v<T, float>)
                toFloats(run.type, from, values + at, n);
              else
                std::memcpy(values + at, from, size_t(n) * sizeof(T));
            });
}

template <typename T>
NPU_INLINE void store(const Run &run, int64_t lane, int64_t count, const T *values) {
  eachPiece(run, lane, count,
            [&](uint8_t *to, int64_t at, int64_t n) __attribute__((always_inline)) {
              if constexpr (std::is_same_v<T, float>)
                fromFloats(run.type, values + at, to, n);
              else
                std::memcpy(to, values + at, size_t(n) * sizeof(T));
            });
}

NPU_INLINE int32_t wrap(int64_t value) { return int32_t(uint32_t(uint64_t(value))); }

// Computes `expression` for each lane of a chunk, in the case of an operation: integers in 64 bits,
// of which the low 32 are stored.
#define EACH(expression)                                                                           \
  for (int64_t i = 0; i < n; ++i) {                                                                \
    if constexpr (std::is_same_v<T, float>)                                                        \
      d[i] = expression;                                                                           \
    else                                                                                           \
      d[i] = wrap(int64_t(expression));                                                            \
  }                                                                                                \
  break

/// Executes a chunk of an operation with one operand and nothing else.
template <typename T> NPU_INLINE void computeUnary(VectorOp op, T *d, const T *a, int64_t n) {
  using Wide = std::conditional_t<std::is_same_v<T, float>, float, int64_t>;
  auto x = [&](int64_t i) __attribute__((always_inline)) { return Wide(a[i]); };
  switch (op) {
  case VectorOp::Cast:
  case VectorOp::Copy:
    EACH(x(i));
  case VectorOp::Abs:
    if constexpr (std::is_same_v<T, float>) {
      EACH(__builtin_fabsf(a[i]));
    } else {
      EACH(a[i] < 0 ? -x(i) : x(i));
    }
  case VectorOp::Neg:
    EACH(-x(i));
  case VectorOp::Relu:
    EACH(a[i] > 0 ? a[i] : T(0));
  case VectorOp::Exp:
    EACH(exponential(float(a[i])));
  case VectorOp::Ln:
    EACH(logarithm(float(a[i])));
  case VectorOp::Sqrt:
    EACH(__builtin_sqrtf(float(a[i])));
  case VectorOp::Rsqrt:
    EACH(float(1. / __builtin_sqrt(double(a[i]))));
  case VectorOp::Reciprocal:
    if constexpr (std::is_same_v<T, float>) {
      EACH(1.f / a[i]);
    } else {
      EACH(a[i] ? 1 / x(i) : 0);
    }
  case VectorOp::Floor:
    EACH(__builtin_floorf(float(a[i])));
  case VectorOp::Ceil:
    EACH(__builtin_ceilf(float(a[i])));
  case VectorOp::Round:
    EACH(__builtin_rintf(float(a[i])));
  default:
    break;
  }
}

/// Executes one chunk; `d` holds dst before and after. T is float or int32_t.
template <typename T>
NPU_INLINE void compute(VectorOp op, T *d, const T *a, const T *b, const T *mask, T s, int64_t n) {
  using Wide = std::conditional_t<std::is_same_v<T, float>, float, int64_t>;
  auto x = [&](int64_t i) __attribute__((always_inline)) { return Wide(a[i]); };
  auto y = [&](int64_t i) __attribute__((always_inline)) { return Wide(b[i]); };
  auto z = [&](int64_t i) __attribute__((always_inline)) { return Wide(d[i]); };
  switch (op) {
  case VectorOp::Fill:
    EACH(s);
  case VectorOp::CastScaled:
  case VectorOp::MulScalar:
    EACH(x(i) * s);
  case VectorOp::Add:
    EACH(x(i) + y(i));
  case VectorOp::Sub:
    EACH(x(i) - y(i));
  case VectorOp::Mul:
    EACH(x(i) * y(i));
  case VectorOp::Div:
    if constexpr (std::is_same_v<T, float>) {
      EACH(a[i] / b[i]);
    } else {
      EACH(b[i] ? x(i) / y(i) : 0);
    }
  case VectorOp::Max:
    EACH(a[i] > b[i] ? a[i] : b[i]);
  case VectorOp::Min:
    EACH(a[i] < b[i] ? a[i] : b[i]);
  case VectorOp::Madd:
    EACH(z(i) + x(i) * y(i));
  case VectorOp::AddScalar:
    EACH(x(i) + s);
  case VectorOp::MaxScalar:
    EACH(a[i] > s ? a[i] : s);
  case VectorOp::MinScalar:
    EACH(a[i] < s ? a[i] : s);
  case VectorOp::Axpy:
    EACH(z(i) + x(i) * s);
  case VectorOp::Equal:
    EACH(a[i] == b[i] ? 1 : 0);
  case VectorOp::Less:
    EACH(a[i] < b[i] ? 1 : 0);
  case VectorOp::LessEqual:
    EACH(a[i] <= b[i] ? 1 : 0);
  case VectorOp::Select:
    EACH(mask[i] != 0 ? a[i] : b[i]);
  default:
    computeUnary(op, d, a, n);
  }
}
#undef EACH

/// Sixteen partial results by lane modulo 16, then lane 0 with 8, 4, 2, 1 apart.
template <typename T>
NPU_INLINE T reduce(VectorOp op, const Run &run, int64_t lane, int64_t count) {
  T start = op == VectorOp::ReduceSum ? T(0)
            : op == VectorOp::ReduceMax
                ? (std::is_same_v<T, float> ? T(-std::numeric_limits<float>::infinity())
                                            : std::numeric_limits<T>::lowest())
                : (std::is_same_v<T, float> ? T(std::numeric_limits<float>::infinity())
                                            : std::numeric_limits<T>::max());
  T partial[16], values[kChunk];
  auto join = [&](T x, T y) __attribute__((always_inline)) -> T {
    if (op == VectorOp::ReduceMax)
      return x > y ? x : y;
    if (op == VectorOp::ReduceMin)
      return x < y ? x : y;
    if constexpr (std::is_same_v<T, float>)
      return x + y;
    else
      return wrap(int64_t(x) + y);
  };
  for (T &value : partial)
    value = start;
  for (int64_t done = 0; done < count; done += kChunk) {
    int64_t n = std::min(kChunk, count - done), full = (n + 15) / 16 * 16;
    load(run, lane + done, n, values);
    for (int64_t i = n; i < full; ++i)
      values[i] = start;
    for (int64_t i = 0; i < full; i += 16)
      for (int64_t j = 0; j < 16; ++j)
        partial[j] = join(partial[j], values[i + j]);
  }
  for (int width = 8; width; width /= 2)
    for (int j = 0; j < width; ++j)
      partial[j] = join(partial[j], partial[j + width]);
  return partial[0];
}

template <typename T> NPU_INLINE void vectorBody(const Iteration &it) {
  using I = Vector;
  VectorOp op = VectorOp(it.field(I::op));
  DataType type = it.type(I::type), dstType = isCast(op) ? it.type(I::dstType) : type;
  VectorOperands has = operandsOf(op);
  double scalar = floatOf(it.field(I::scalar));
  T s;
  if constexpr (std::is_same_v<T, float>)
    s = T(scalar);
  else
    s = T(scalar >= 2147483647. ? 2147483647. : scalar > -2147483648. ? scalar : -2147483648.);
  uint8_t *dst = it.address(I::dst), *a = has.a ? it.address(I::a) : nullptr;
  uint8_t *b = has.b ? it.address(I::b) : nullptr, *mask = has.mask ? it.address(I::mask) : nullptr;
  bool update = op == VectorOp::Madd || op == VectorOp::Axpy;
  Range::Cut outer = it.cut[I::outer], inner = it.cut[I::inner], lanes = it.cut[I::lanes];
  int64_t bytes = bytesOf(type);
  T d[kChunk], x[kChunk], y[kChunk], z[kChunk];
  // An operand that the operation does not have stays null, whatever its steps are.
  auto from = [](uint8_t *base, int64_t offset) { return base ? base + offset : nullptr; };
  for (int64_t o = outer.skip; o < outer.skip + outer.count; ++o)
    for (int64_t i = inner.skip; i < inner.skip + inner.count; ++i) {
      Run to{dst + o * it.field(I::dstOuter) + i * it.field(I::dstInner), it.field(I::dstBlock),
             dstType};
      if (op == VectorOp::Broadcast) {
        const uint8_t *source = a + o * it.field(I::aOuter) + i * bytes;
        uint8_t block[32];
        for (int64_t at = 0; at < 32; at += bytes)
          std::memcpy(block + at, source, size_t(bytes));
        std::memcpy(to.base, block, 32);
        continue;
      }
      Run left{from(a, o * it.field(I::aOuter) + i * it.field(I::aInner)), it.field(I::aBlock),
               type};
      if (op == VectorOp::ReduceSum || op == VectorOp::ReduceMax || op == VectorOp::ReduceMin) {
        T value = reduce<T>(op, left, lanes.skip, lanes.count);
        store(Run{dst + o * it.field(I::dstOuter) + i * bytes, 32, type}, 0, 1, &value);
        continue;
      }
      Run right{from(b, o * it.field(I::bOuter) + i * it.field(I::bInner)), it.field(I::bBlock),
                type};
      Run where{from(mask, o * it.field(I::maskOuter) + i * it.field(I::maskInner)), 32, type};
      for (int64_t lane = lanes.skip, end = lane + lanes.count; lane < end; lane += kChunk) {
        int64_t n = std::min(kChunk, end - lane);
        if (has.a)
          load(left, lane, n, x);
        if (has.b)
          load(right, lane, n, y);
        if (has.mask)
          load(where, lane, n, z);
        if (update)
          load(to, lane, n, d);
        compute(op, d, x, y, z, s, n);
        store(to, lane, n, d);
      }
    }
}

NPU_FAST void floatsFast(const Iteration &it) { vectorBody<float>(it); }
void floatsPortable(const Iteration &it) { vectorBody<float>(it); }
void integers(const Iteration &it) { vectorBody<int32_t>(it); }

} // namespace

void executeAs(Vector, const Iteration &it) {
  DataType type = it.type(Vector::type);
  bool cast = isCast(VectorOp(it.field(Vector::op)));
  if (type == DataType::S32 && !cast)
    return integers(it);
  useFastPath() ? floatsFast(it) : floatsPortable(it);
}

} // namespace atc::npu
