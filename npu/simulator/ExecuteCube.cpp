//===-- ExecuteCube.cpp - mmad, img2col and results of the cube -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/ExecuteParts.h"
#include "npu/simulator/Numbers.h"

namespace atc::npu {

namespace {

constexpr int64_t kRows = 6; // 6 x 16 accumulators fill the registers

typedef float Sums __attribute__((vector_size(32)));
typedef uint32_t IntSums __attribute__((vector_size(32)));

/// Adds left * right to each element of `sum`, rounded once.
NPU_INLINE void addFused(Sums &sum, float left, const Sums &right) {
#if __has_builtin(__builtin_elementwise_fma)
  sum = __builtin_elementwise_fma(Sums{} + left, right, sum);
#else
  for (int i = 0; i < 8; ++i)
    sum[i] = __builtin_fmaf(left, right[i], sum[i]);
#endif
}

/// Exact: products of f16 are exact in f32, so that multiply and add yield the bits of a fused
/// multiply-add.
template <bool Fast, bool Exact>
NPU_INLINE void addProducts(Sums &sum, float left, const Sums &right) {
  if constexpr (Exact && !Fast)
    sum += left * right;
  else
    addFused(sum, left, right);
}

/// Computes sums[row][16] += left[row][k] * right[k][16] for k in order.
template <bool Fast, bool Exact, int64_t Rows>
NPU_INLINE void floatRows(float *const *sums, const float *left, int64_t leftRow,
                          const float *right, int64_t k) {
  Sums low[Rows], high[Rows];
  for (int64_t r = 0; r < Rows; ++r) {
    std::memcpy(&low[r], sums[r], 32);
    std::memcpy(&high[r], sums[r] + 8, 32);
  }
  for (int64_t i = 0; i < k; ++i) {
    Sums rightLow, rightHigh;
    std::memcpy(&rightLow, right + i * 16, 32);
    std::memcpy(&rightHigh, right + i * 16 + 8, 32);
    for (int64_t r = 0; r < Rows; ++r) {
      addProducts<Fast, Exact>(low[r], left[r * leftRow + i], rightLow);
      addProducts<Fast, Exact>(high[r], left[r * leftRow + i], rightHigh);
    }
  }
  for (int64_t r = 0; r < Rows; ++r) {
    std::memcpy(sums[r], &low[r], 32);
    std::memcpy(sums[r] + 8, &high[r], 32);
  }
}

/// Computes the product in wrapping s32; the operands are integers stored as floats.
template <int64_t Rows>
NPU_INLINE void intRows(float *const *sums, const float *left, int64_t leftRow, const float *right,
                        int64_t k) {
  for (int64_t r = 0; r < Rows; ++r)
    for (int half = 0; half < 2; ++half) {
      IntSums sum;
      std::memcpy(&sum, sums[r] + 8 * half, 32);
      for (int64_t i = 0; i < k; ++i) {
        Sums product;
        std::memcpy(&product, right + i * 16 + 8 * half, 32);
        product *= left[r * leftRow + i];
        typedef int32_t Signed __attribute__((vector_size(32)));
        sum += (IntSums) __builtin_convertvector(product, Signed);
      }
      std::memcpy(sums[r] + 8 * half, &sum, 32);
    }
}

struct Sizes {
  int64_t m, n, k, kStride;
};

template <bool Fast, bool Exact, int64_t Rows>
NPU_INLINE void someRows(bool integer, float *const *sums, const float *left, int64_t leftRow,
                         const float *right, int64_t k) {
  if (integer)
    intRows<Rows>(sums, left, leftRow, right, k);
  else
    floatRows<Fast, Exact, Rows>(sums, left, leftRow, right, k);
}

template <bool Fast, bool Exact> NPU_INLINE void mmadBody(const Iteration &it) {
  using I = Mmad;
  DataType type = it.type(I::type);
  bool integer = type == DataType::S8 || type == DataType::U8;
  const DataType right8 = integer ? DataType::S8 : type;
  const int64_t c0 = c0Of(type);
  int64_t m0 = it.cut[I::m].skip, m = it.cut[I::m].count, k0 = it.cut[I::k].skip;
  int64_t k = it.cut[I::k].count;
  int64_t firstBlock = it.cut[I::n].skip / 16;
  int64_t endBlock = (it.cut[I::n].skip + it.cut[I::n].count + 15) / 16;
  const uint8_t *a = it.address(I::a), *b = it.address(I::b);
  uint8_t *dst = it.address(I::dst);
  bool fresh = !it.field(I::accumulate);
  for (unsigned i = 0; i < kMaxIvs; ++i)
    if (it.field(I::first) >> i & 1 && it.frame.ivs[i] != 0)
      fresh = false;

  // Fractals of left to rows of k.
  int64_t k1First = k0 / c0, k1End = (k0 + k + c0 - 1) / c0, width = (k1End - k1First) * c0;
  int64_t inside = k0 - k1First * c0;
  std::vector<float> &left = it.memory.left, &right = it.memory.right;
  if (left.size() < size_t(m * width))
    left.resize(size_t(m * width));
  if (right.size() < size_t(width * 16))
    right.resize(size_t(width * 16));
  for (int64_t i = 0; i < m; ++i) {
    const uint8_t *row = a + (m0 + i) / 16 * it.field(I::aRow) + (m0 + i) % 16 * 32;
    for (int64_t k1 = k1First; k1 < k1End; ++k1)
      toFloats(type, row + k1 * int64_t(kFractalBytes),
               &left[size_t(i * width + (k1 - k1First) * c0)], c0);
  }

  for (int64_t block = firstBlock; block < endBlock; ++block) {
    for (int64_t k1 = k1First; k1 < k1End; ++k1) {
      const uint8_t *fractal = b + k1 * it.field(I::bRow) + block * int64_t(kFractalBytes);
      float columns[512];
      toFloats(right8, fractal, columns, 16 * c0);
      float *to = &right[size_t((k1 - k1First) * c0 * 16)];
      for (int64_t j = 0; j < c0; ++j)
        for (int64_t n = 0; n < 16; ++n)
          to[j * 16 + n] = columns[n * c0 + j];
    }
    uint8_t *column = dst + block * it.field(I::dstCol) + m0 * 64;
    if (fresh) {
      uint8_t start[64] = {};
      if (it.field(I::useBias))
        std::memcpy(start, it.address(I::bias) + block * 64, 64);
      for (int64_t i = 0; i < m; ++i)
        std::memcpy(column + i * 64, start, 64);
    }
    const float *rightRows = right.data() + inside * 16;
    int64_t i = 0;
    float *sums[kRows];
    for (; i + kRows <= m; i += kRows) {
      for (int64_t r = 0; r < kRows; ++r)
        sums[r] = reinterpret_cast<float *>(column + (i + r) * 64);
      someRows<Fast, Exact, kRows>(integer, sums, &left[size_t(i * width + inside)], width,
                                   rightRows, k);
    }
    for (; i < m; ++i) {
      sums[0] = reinterpret_cast<float *>(column + i * 64);
      someRows<Fast, Exact, 1>(integer, sums, &left[size_t(i * width + inside)], width, rightRows,
                               k);
    }
  }
}

NPU_FAST void mmadFast(const Iteration &it) { mmadBody<NPU_HAS_FAST, true>(it); }
void mmadPortable(const Iteration &it) {
  if (it.type(Mmad::type) == DataType::F16 || it.type(Mmad::type) == DataType::S8 ||
      it.type(Mmad::type) == DataType::U8)
    mmadBody<false, true>(it);
  else
    mmadBody<false, false>(it);
}

NPU_INLINE void moveL0CBody(const Iteration &it) {
  using I = MoveL0C;
  DataType type = it.type(I::type), dstType = it.type(I::dstType);
  int64_t bytes = bytesOf(dstType), wide = bytes == 1 ? 32 : 16;
  float scale = float(floatOf(it.field(I::scale)));
  bool integer = type == DataType::S32, relu = it.field(I::relu);
  const uint8_t *src = it.address(I::src);
  uint8_t *dst = it.address(I::dst);
  Range::Cut m = it.cut[I::m], n = it.cut[I::n];
  for (int64_t i = m.skip; i < m.skip + m.count; ++i)
    for (int64_t j = n.skip, next; j < n.skip + n.count; j = next) {
      next = std::min((j / 16 + 1) * 16, n.skip + n.count);
      const uint8_t *from = src + j / 16 * it.field(I::srcCol) + i * 64 + j % 16 * 4;
      uint8_t *to =
          dst + i * it.field(I::dstRow) + j / wide * it.field(I::dstCol) + j % wide * bytes;
      if (integer && dstType == DataType::S32) {
        for (int64_t e = 0; e < next - j; ++e) {
          int32_t value;
          std::memcpy(&value, from + 4 * e, 4);
          value = relu && value < 0 ? 0 : value;
          std::memcpy(to + 4 * e, &value, 4);
        }
        continue;
      }
      float values[16];
      toFloats(type, from, values, next - j);
      if (integer)
        for (int64_t e = 0; e < next - j; ++e)
          values[e] *= scale;
      if (relu)
        for (int64_t e = 0; e < next - j; ++e)
          values[e] = values[e] < 0 ? 0 : values[e];
      fromFloats(dstType, values, to, next - j);
    }
}
NPU_FAST void moveL0CFast(const Iteration &it) { moveL0CBody(it); }

/// Calls `finish` for the work after the stored value: for up to 16 columns, with their f32 values
/// and their address in dst.
template <typename I, typename Finish>
NPU_INLINE void eachStored(const Iteration &it, const Finish &finish) {
  DataType type = it.type(I::type);
  const Bounds stored(it.type(I::stored));
  bool relu = it.field(I::relu);
  float offset = float(floatOf(it.field(I::offset)));
  int64_t bytes = bytesOf(it.type(I::dstType)), wide = bytes == 1 ? 32 : 16;
  const uint8_t *src = it.address(I::src), *scales = it.address(I::scales);
  Range::Cut m = it.cut[I::m], n = it.cut[I::n];
  for (int64_t i = m.skip; i < m.skip + m.count; ++i)
    for (int64_t j = n.skip, next; j < n.skip + n.count; j = next) {
      next = std::min((j / 16 + 1) * 16, n.skip + n.count);
      float values[16], factors[16];
      toFloats(type, src + j / 16 * it.field(I::srcCol) + i * 64 + j % 16 * 4, values, next - j);
      toFloats(DataType::F32, scales + j * 4, factors, next - j);
      for (int64_t e = 0; e < next - j; ++e) {
        float value = values[e] * factors[e];
        value = relu && !(value > 0) ? 0 : value;
        values[e] = stored.keep(__builtin_rintf(value) + offset);
      }
      finish(values, next - j,
             i * it.field(I::dstRow) + j / wide * it.field(I::dstCol) + j % wide * bytes);
    }
}

NPU_INLINE void requantizeBody(const Iteration &it) {
  using I = Requantize;
  DataType dstType = it.type(I::dstType);
  float offset = float(floatOf(it.field(I::offset))), factor = float(floatOf(it.field(I::factor)));
  uint8_t *dst = it.address(I::dst);
  eachStored<I>(it,
                [&](float *values, int64_t count, int64_t position) __attribute__((always_inline)) {
                  if (dstType == DataType::F32)
                    for (int64_t e = 0; e < count; ++e)
                      values[e] = (values[e] - offset) * factor;
                  fromFloats(dstType, values, dst + position, count);
                });
}
NPU_FAST void requantizeFast(const Iteration &it) { requantizeBody(it); }

NPU_INLINE void requantizeAddBody(const Iteration &it) {
  using I = RequantizeAdd;
  auto number = [&](unsigned field) { return float(floatOf(it.field(field))); };
  DataType dstType = it.type(I::dstType), addendType = it.type(I::addendType);
  const Bounds bounds(dstType);
  float offset = number(I::offset), factor = number(I::factor);
  float addendOffset = number(I::addendOffset), addendFactor = number(I::addendFactor);
  float resultFactor = number(I::resultFactor), resultOffset = number(I::resultOffset);
  bool relu = it.field(I::addRelu);
  uint8_t *dst = it.address(I::dst);
  const uint8_t *addend = it.address(I::addend);
  eachStored<I>(it,
                [&](float *values, int64_t count, int64_t position) __attribute__((always_inline)) {
                  float added[16];
                  toFloats(addendType, addend + position, added, count);
                  for (int64_t e = 0; e < count; ++e) {
                    float value = (values[e] - offset) * factor;
                    value = value + (added[e] - addendOffset) * addendFactor;
                    value = relu && !(value > 0) ? 0 : value;
                    values[e] = bounds.keep(__builtin_rintf(value * resultFactor) + resultOffset);
                  }
                  fromFloats(dstType, values, dst + position, count);
                });
}
NPU_FAST void requantizeAddFast(const Iteration &it) { requantizeAddBody(it); }

} // namespace

void executeAs(Mmad, const Iteration &it) { useFastPath() ? mmadFast(it) : mmadPortable(it); }

void executeAs(MoveL0C, const Iteration &it) { useFastPath() ? moveL0CFast(it) : moveL0CBody(it); }

void executeAs(Requantize, const Iteration &it) {
  useFastPath() ? requantizeFast(it) : requantizeBody(it);
}

void executeAs(RequantizeAdd, const Iteration &it) {
  useFastPath() ? requantizeAddFast(it) : requantizeAddBody(it);
}

void executeAs(Img2Col, const Iteration &it) {
  using I = Img2Col;
  const int64_t elementBytes = it.field(I::elementBytes), c0 = it.field(I::c0);
  const int64_t columns = 32 / elementBytes, pixel = c0 * elementBytes;
  const int64_t width = it.field(I::width), height = it.field(I::height);
  const int64_t area = it.field(I::outHeight) * it.field(I::outWidth);
  const int64_t taps = it.field(I::kernelH) * it.field(I::kernelW);
  Range::Cut m = it.cut[I::m], k = it.cut[I::k];
  const int64_t mStart = it.in.ranges[I::m].start.at(it.frame.ivs);
  const int64_t kStart = it.in.ranges[I::k].start.at(it.frame.ivs);
  const int64_t row0 = it.in.ranges[I::row0].start.at(it.frame.ivs);
  const uint8_t *src = it.address(I::src);
  uint8_t *dst = it.address(I::dst);
  const int64_t step = std::min(c0, columns);
  // Little-endian: the first bytes of an element are its lowest.
  const uint32_t pad = uint32_t(it.field(I::pad));
  for (int64_t group = m.skip / 16; group * 16 < m.skip + m.count; ++group) {
    // The origin of the window of each of 16 output positions.
    int64_t image[16], y0[16], x0[16];
    bool counts[16];
    for (int64_t r = 0; r < 16; ++r) {
      int64_t j = group * 16 + r, p = mStart + j;
      counts[r] = j >= m.skip && j < m.skip + m.count;
      image[r] = p / area;
      y0[r] = p % area / it.field(I::outWidth) * it.field(I::strideH) - it.field(I::padTop);
      x0[r] = p % it.field(I::outWidth) * it.field(I::strideW) - it.field(I::padLeft);
    }
    for (int64_t f = k.skip; f < k.skip + k.count; ++f) {
      uint8_t *fractal = dst + group * it.field(I::dstRow) + f * int64_t(kFractalBytes);
      for (int64_t column = 0; column < columns; column += step) {
        int64_t flat = (kStart + f) * columns + column, tap = flat / c0, c1 = tap / taps;
        int64_t dy = tap % taps / it.field(I::kernelW) * it.field(I::dilationH);
        int64_t dx = tap % it.field(I::kernelW) * it.field(I::dilationW);
        for (int64_t r = 0; r < 16; ++r) {
          int64_t y = y0[r] + dy, x = x0[r] + dx;
          uint8_t *to = fractal + r * 32 + column * elementBytes;
          if (!counts[r] || c1 >= it.field(I::channels1) || y < 0 || y >= height || x < 0 ||
              x >= width) {
            std::memset(to, 0, size_t(step * elementBytes));
            if (pad && counts[r] && c1 < it.field(I::channels1))
              for (int64_t e = 0; e < step; ++e)
                std::memcpy(to + e * elementBytes, &pad, size_t(elementBytes));
            continue;
          }
          const uint8_t *from = src + image[r] * it.field(I::srcImage) +
                                c1 * it.field(I::srcChannel) + ((y - row0) * width + x) * pixel +
                                flat % c0 * elementBytes;
          if (step * elementBytes == 32)
            std::memcpy(to, from, 32);
          else
            std::memcpy(to, from, size_t(step * elementBytes));
        }
      }
    }
  }
}

} // namespace atc::npu
