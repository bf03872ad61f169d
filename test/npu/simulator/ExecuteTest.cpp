//===-- ExecuteTest.cpp - instructions against plain references -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include "npu/isa/Footprint.h"
#include "npu/isa/ProgramBuilder.h"
#include "npu/simulator/Execute.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

using namespace atc::npu;

namespace {

const SocTable &soc() { return *findSoc("Ascend310P3"); }

template <typename T> std::vector<T> randomValues(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T &value : values)
    if constexpr (std::is_integral_v<T>)
      value = T(random());
    else
      value = T(float(int(random() % 4001) - 2000) / 977.f);
  return values;
}

template <typename T> T *in(CoreMemory &memory, Memory where, int64_t offset = 0) {
  return reinterpret_cast<T *>(memory.data(where) + offset);
}

void run(const Program &program, CoreMemory &memory) {
  for (const Instruction &instruction : program.code)
    execute(instruction, Frame(), memory);
}

/// Runs on both paths and requires the same bits in `where`.
template <typename Check>
void onBothPaths(const Program &program, const std::vector<std::vector<uint8_t>> &arguments,
                 Memory where, Check check) {
  std::vector<uint8_t> first;
  for (Path path : {Path::Portable, Path::Best}) {
    choosePath(path);
    auto buffers = arguments;
    CoreMemory memory(soc());
    for (auto &buffer : buffers)
      memory.arguments.push_back(buffer.data());
    run(program, memory);
    std::vector<uint8_t> bits(memory.data(where), memory.data(where) + soc().memoryBytes(where));
    if (path == Path::Portable)
      first = bits;
    REQUIRE(first == bits);
    check(memory);
  }
}

template <typename T> std::vector<uint8_t> bytesOfValues(const std::vector<T> &values) {
  auto *data = reinterpret_cast<const uint8_t *>(values.data());
  return {data, data + values.size() * sizeof(T)};
}

constexpr int64_t F16 = int64_t(DataType::F16);

} // namespace

TEST_CASE("matmul with a transposed right operand") {
  constexpr int64_t m = 35, n = 40, k = 50, kPad = 64, nPad = 48, mPad = 48;
  auto a = randomValues<_Float16>(m * k, 1), b = randomValues<_Float16>(k * n, 2);
  ProgramBuilder builder;
  unsigned left = builder.argument(m * k * 2), right = builder.argument(k * n * 2);
  builder.add(Opcode::MoveNdToNz, {at(Memory::L1, 0), gm(left)}, {range(m), range(k)},
              {F16, k * 2, mPad * 32});
  builder.add(Opcode::MoveNdToNz, {at(Memory::L1, 65536), gm(right)}, {range(k), range(n)},
              {F16, n * 2, kPad * 32});
  // l0a [m1][k1] from nz [k1][m][16]; l0b [k1][n1] from nz [n1][k][16], transposed.
  builder.add(Opcode::Load2D, {at(Memory::L0A, 0), at(Memory::L1, 0)},
              {range(mPad / 16), range(kPad / 16)}, {kPad / 16 * 512, 512, 512, mPad * 32, 0});
  builder.add(Opcode::Load2D, {at(Memory::L0B, 0), at(Memory::L1, 65536)},
              {range(kPad / 16), range(nPad / 16)}, {nPad / 16 * 512, 512, 512, kPad * 32, 1});
  builder.mmad(DataType::F16, at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), m, n, k);
  builder.add(Opcode::MoveL0C, {at(Memory::UB, 0), at(Memory::L0C, 0)}, {range(m), range(n)},
              {1, F16, 1, 0, mPad * 64, nPad * 2, 32});
  onBothPaths(builder.get(), {bytesOfValues(a), bytesOfValues(b)}, Memory::UB,
              [&](CoreMemory &memory) {
                for (int64_t i = 0; i < m; ++i)
                  for (int64_t j = 0; j < n; ++j) {
                    float sum = 0;
                    for (int64_t x = 0; x < k; ++x)
                      sum += float(a[i * k + x]) * float(b[x * n + j]);
                    _Float16 expected = _Float16(sum < 0 ? 0.f : sum);
                    REQUIRE(in<_Float16>(memory, Memory::UB)[i * nPad + j] == expected);
                  }
              });
}

TEST_CASE("requantize: stored bytes, and the numbers that they stand for") {
  constexpr int64_t m = 5, n = 32;
  constexpr float offset = 130, factor = 0.0625f;
  CoreMemory memory(soc());
  auto sums = randomValues<int32_t>(2 * m * 16, 8);
  std::vector<float> scales(n);
  for (int64_t j = 0; j < n; ++j)
    scales[j] = 0x1p-24f * float(j + 1); // from a few steps to far past the ends
  // Halves go to even.
  sums[0] = 5 << 23, sums[1] = 3 << 23;
  scales[0] = scales[1] = 0x1p-24f;
  std::memcpy(memory.data(Memory::L0C), sums.data(), sums.size() * 4);
  std::memcpy(memory.data(Memory::UB), scales.data(), n * 4);
  for (bool relu : {false, true})
    for (DataType to : {DataType::U8, DataType::S8, DataType::F32}) {
      DataType stored = to == DataType::S8 ? to : DataType::U8;
      int64_t row = to == DataType::F32 ? 128 : 32, column = to == DataType::F32 ? 64 : 32;
      ProgramBuilder builder;
      builder.add(Opcode::Requantize, {at(Memory::UB, 4096), at(Memory::L0C, 0), at(Memory::UB, 0)},
                  {range(m), range(n)},
                  {int64_t(DataType::S32), int64_t(to), int64_t(stored), relu, floatBits(offset),
                   floatBits(factor), m * 64, row, column});
      for (Path path : {Path::Portable, Path::Best}) {
        choosePath(path);
        run(builder.get(), memory);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            float value = float(sums[j / 16 * m * 16 + i * 16 + j % 16]) * scales[j];
            value = std::nearbyint(relu ? std::max(value, 0.f) : value) + offset;
            value = stored == DataType::S8 ? std::clamp(value, -128.f, 127.f)
                                           : std::clamp(value, 0.f, 255.f);
            const uint8_t *at = memory.data(Memory::UB) + 4096 + i * row;
            if (to == DataType::F32)
              REQUIRE(reinterpret_cast<const float *>(at)[j] == (value - offset) * factor);
            else
              REQUIRE((stored == DataType::S8 ? int(int8_t(at[j])) : int(at[j])) == int(value));
          }
      }
    }
}

TEST_CASE("requantize_add: a residual of bytes joins the sums") {
  constexpr int64_t m = 7, n = 48;
  constexpr float offset = 12, factor = 0.03125f, addendOffset = 9, addendFactor = 0.0471f;
  constexpr float resultFactor = 21.7f, resultOffset = 3;
  CoreMemory memory(soc());
  auto sums = randomValues<int32_t>(3 * m * 16, 31);
  std::vector<float> scales(n);
  for (int64_t j = 0; j < n; ++j)
    scales[j] = 0x1p-25f * float(j + 1);
  auto addend = randomValues<uint8_t>(2 * m * 32, 32);
  std::memcpy(memory.data(Memory::L0C), sums.data(), sums.size() * 4);
  std::memcpy(memory.data(Memory::UB), scales.data(), n * 4);
  std::memcpy(memory.data(Memory::UB) + 8192, addend.data(), addend.size());
  auto byteOf = [](DataType type, uint8_t bits) {
    return type == DataType::S8 ? float(int8_t(bits)) : float(bits);
  };
  auto keep = [](DataType type, float value) {
    return type == DataType::S8 ? std::clamp(value, -128.f, 127.f) : std::clamp(value, 0.f, 255.f);
  };
  for (DataType stored : {DataType::U8, DataType::S8})
    for (DataType added : {DataType::U8, DataType::S8})
      for (DataType to : {DataType::U8, DataType::S8})
        for (bool relu : {false, true}) {
          ProgramBuilder builder;
          // The first column is cut off.
          builder.add(
              Opcode::RequantizeAdd,
              {at(Memory::UB, 4096), at(Memory::L0C, 0), at(Memory::UB, 0), at(Memory::UB, 8192)},
              {range(m), range(constant(-1), n, n - 1)},
              {int64_t(DataType::S32), int64_t(to), int64_t(stored), relu, floatBits(offset),
               floatBits(factor), int64_t(added), floatBits(addendOffset), floatBits(addendFactor),
               relu, floatBits(resultFactor), floatBits(resultOffset), m * 64, 32, m * 32});
          for (Path path : {Path::Portable, Path::Best}) {
            choosePath(path);
            std::memset(memory.data(Memory::UB) + 4096, 77, 2 * m * 32);
            run(builder.get(), memory);
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n; ++j) {
                int64_t position = j / 32 * m * 32 + i * 32 + j % 32;
                uint8_t bits = memory.data(Memory::UB)[4096 + position];
                if (j == 0) {
                  REQUIRE(bits == 77);
                  continue;
                }
                float value = float(sums[j / 16 * m * 16 + i * 16 + j % 16]) * scales[j];
                value = keep(stored, std::nearbyint(relu ? std::max(value, 0.f) : value) + offset);
                float first = (value - offset) * factor;
                float second = (byteOf(added, addend[position]) - addendOffset) * addendFactor;
                float total = first + second;
                float scaled = (relu ? std::max(total, 0.f) : total) * resultFactor;
                REQUIRE(byteOf(to, bits) == keep(to, std::nearbyint(scaled) + resultOffset));
              }
          }
        }
}

TEST_CASE("load_image normalizes the channels of interleaved pixels") {
  // Three of four channels, the last ones, of a part of each row.
  constexpr int64_t rows = 3, width = 70, stored = 80, channels = 3, pixel = 4;
  const float means[] = {123.f, 0.25f, 255.f}, factors[] = {0.0171247538f, -2.5f, 0.f};
  auto pixels = randomValues<uint8_t>(rows * stored * pixel, 34);
  ProgramBuilder builder;
  unsigned image = builder.argument(pixels.size());
  Address src = gm(image);
  src.offset.base = 5 * pixel + 1;
  builder.add(Opcode::LoadImage, {at(Memory::L1, 0), src}, {range(rows)},
              {int64_t(DataType::U8), channels, width, 4, 1, stored * pixel, width * 8, 0, 0, 0,
               pixel, floatBits(means[0]), floatBits(means[1]), floatBits(means[2]), 0,
               floatBits(factors[0]), floatBits(factors[1]), floatBits(factors[2]), 0});
  onBothPaths(builder.get(), {bytesOfValues(pixels)}, Memory::L1, [&](CoreMemory &memory) {
    for (int64_t y = 0; y < rows; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int64_t c = 0; c < 4; ++c) {
          float value = 0;
          if (c < channels) {
            value = pixels[(y * stored + 5 + x) * pixel + 1 + c];
            // A factor of 0 leaves the channel as it is.
            if (factors[c] != 0)
              value = (value - means[c]) * factors[c];
          }
          REQUIRE(in<_Float16>(memory, Memory::L1)[(y * width + x) * 4 + c] == _Float16(value));
        }
  });
}

TEST_CASE("load_yuv makes colours of luma and chroma") {
  // Rows 1 to 5 of 6; the load begins at row -1, and the window at column 4 of 40.
  constexpr int64_t pitch = 40, left = 4, width = 34, height = 6, first = -1, y0 = 1;
  const int64_t matrix[] = {256, 0, 359, 256, -88, -183, 256, 454, 0};
  const int64_t bias[] = {-45952, 34688, -58112};
  auto pixels = randomValues<uint8_t>(pitch * height * 3 / 2, 35);
  ProgramBuilder builder;
  unsigned image = builder.argument(pixels.size());
  Address luma = gm(image), chroma = gm(image);
  luma.offset.base = left + first * pitch;
  chroma.offset.base = pitch * height + left;
  auto &load =
      builder.add(Opcode::LoadYuv, {at(Memory::L1, 4096), luma, chroma},
                  {range(constant(first), 7, height)}, {3, width, 4, pitch, height / 2, width * 8});
  for (int64_t i = 0; i < 9; ++i)
    load.fields[LoadYuv::y0 + i] = floatBits(double(matrix[i]));
  for (int64_t i = 0; i < 3; ++i)
    load.fields[LoadYuv::bias0 + i] = floatBits(double(bias[i]));
  load.fields[LoadYuv::mean1] = floatBits(116);
  load.fields[LoadYuv::factor1] = floatBits(0.25f);
  onBothPaths(builder.get(), {bytesOfValues(pixels)}, Memory::L1, [&](CoreMemory &memory) {
    for (int64_t y = y0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int64_t c = 0; c < 4; ++c) {
          const uint8_t *pair = &pixels[size_t((height + y / 2) * pitch + left + x / 2 * 2)];
          float value = 0;
          if (c < 3) {
            int64_t sum = matrix[c * 3] * pixels[size_t(y * pitch + left + x)] +
                          matrix[c * 3 + 1] * pair[0] + matrix[c * 3 + 2] * pair[1] + bias[c];
            value = float(std::clamp<int64_t>(sum >> 8, 0, 255));
            value = c == 1 ? (value - 116.f) * 0.25f : value;
          }
          const int64_t position = 2048 + ((y - first) * width + x) * 4 + c;
          REQUIRE(in<_Float16>(memory, Memory::L1)[position] == _Float16(value));
        }
  });
}

TEST_CASE("load_image quantizes on its way") {
  constexpr int64_t rows = 3, width = 70, channels = 3;
  constexpr float scale = 0.0137f;
  auto pixels = randomValues<float>(channels * rows * width, 33);
  for (bool isSigned : {false, true}) {
    const float offset = isSigned ? -5 : 128;
    ProgramBuilder builder;
    unsigned image = builder.argument(pixels.size() * 4);
    builder.add(Opcode::LoadImage, {at(Memory::L1, 0), gm(image)}, {range(rows)},
                {int64_t(DataType::F32), channels, width, 4, rows * width * 4, width * 4, width * 8,
                 floatBits(scale), floatBits(offset), isSigned});
    onBothPaths(builder.get(), {bytesOfValues(pixels)}, Memory::L1, [&](CoreMemory &memory) {
      for (int64_t y = 0; y < rows; ++y)
        for (int64_t x = 0; x < width; ++x)
          for (int64_t c = 0; c < 4; ++c) {
            float value = 0;
            if (c < channels) {
              value = std::nearbyint(pixels[(c * rows + y) * width + x] / scale) + offset;
              value = isSigned ? std::clamp(value, -128.f, 127.f) : std::clamp(value, 0.f, 255.f);
            }
            REQUIRE(float(in<_Float16>(memory, Memory::L1)[(y * width + x) * 4 + c]) == value);
          }
    });
  }
}

TEST_CASE("mmad in s8 with bias and in bf16 with accumulation") {
  constexpr int64_t m = 20, n = 32, k = 64;
  CoreMemory memory(soc());
  auto a = randomValues<int8_t>(32 * k, 3), b = randomValues<int8_t>(k * n, 4);
  auto bias = randomValues<int32_t>(n, 5);
  std::memcpy(memory.data(Memory::L0A), a.data(), a.size());
  std::memcpy(memory.data(Memory::L0B), b.data(), b.size());
  std::memcpy(memory.data(Memory::BT), bias.data(), n * 4);
  auto leftAt = [&](int64_t i, int64_t x, int64_t c0) {
    return (i / 16 * (k / c0) + x / c0) * 16 * c0 + i % 16 * c0 + x % c0;
  };
  auto rightAt = [&](int64_t x, int64_t j, int64_t c0) {
    return (x / c0 * (n / 16) + j / 16) * 16 * c0 + j % 16 * c0 + x % c0;
  };
  ProgramBuilder builder;
  builder.mmad(DataType::S8, at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), m, n, k)
      .fields[Mmad::useBias] = 1;
  for (Path path : {Path::Portable, Path::Best}) {
    choosePath(path);
    run(builder.get(), memory);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        uint32_t sum = uint32_t(bias[j]);
        for (int64_t x = 0; x < k; ++x)
          sum += uint32_t(int32_t(a[leftAt(i, x, 32)]) * b[rightAt(x, j, 32)]);
        REQUIRE(in<uint32_t>(memory, Memory::L0C)[j / 16 * 32 * 16 + i * 16 + j % 16] == sum);
      }
  }
  // The left operand's bytes without a sign.
  ProgramBuilder other;
  other.mmad(DataType::U8, at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), m, n, k);
  run(other.get(), memory);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int64_t x = 0; x < k; ++x)
        sum += int32_t(uint8_t(a[leftAt(i, x, 32)])) * b[rightAt(x, j, 32)];
      REQUIRE(in<int32_t>(memory, Memory::L0C)[j / 16 * 32 * 16 + i * 16 + j % 16] == sum);
    }
  auto wide = randomValues<uint16_t>(4096, 6);
  for (uint16_t &value : wide)
    value = uint16_t((value & 0x80ff) | 0x3f00); // 0.5 .. 2
  std::memcpy(memory.data(Memory::L0A), wide.data(), 32 * k * 2);
  std::memcpy(memory.data(Memory::L0B), wide.data() + 512, k * n * 2);
  std::memset(memory.data(Memory::L0C), 0, 65536);
  ProgramBuilder more;
  more.mmad(DataType::BF16, at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), m, n, k);
  more.mmad(DataType::BF16, at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), m, n, k,
            true);
  auto value = [](uint16_t bits) {
    uint32_t wider = uint32_t(bits) << 16;
    float result;
    std::memcpy(&result, &wider, 4);
    return result;
  };
  for (Path path : {Path::Portable, Path::Best}) {
    choosePath(path);
    run(more.get(), memory);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t x = 0; x < 2 * k; ++x)
          sum += value(wide[leftAt(i, x % k, 16)]) * value(wide[512 + rightAt(x % k, j, 16)]);
        REQUIRE(in<float>(memory, Memory::L0C)[j / 16 * 32 * 16 + i * 16 + j % 16] == sum);
      }
  }
}

TEST_CASE("img2col of padded and strided convolutions") {
  struct Case {
    int64_t c1, h, w, kernel, stride, pad, dilation, c0;
  };
  for (Case c : {Case{2, 7, 9, 3, 2, 1, 1, 16}, Case{3, 5, 5, 1, 1, 0, 1, 16},
                 Case{1, 11, 8, 3, 1, 2, 2, 4}}) {
    CAPTURE(c.kernel, c.stride, c.c0);
    int64_t oh = (c.h + 2 * c.pad - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
    int64_t ow = (c.w + 2 * c.pad - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
    int64_t plane = c.h * c.w * c.c0, images = 2, m = images * oh * ow;
    int64_t depth = c.c1 * c.kernel * c.kernel * c.c0, k = (depth + 15) / 16;
    auto image = randomValues<_Float16>(size_t(images * c.c1 * plane), 7);
    CoreMemory memory(soc());
    std::memcpy(memory.data(Memory::L1), image.data(), image.size() * 2);
    ProgramBuilder builder;
    builder.add(Opcode::Img2Col, {at(Memory::L0A, 0), at(Memory::L1, 0)},
                {range(m), range(k), range(1)},
                {c.c0, 2, c.c1, c.h, c.w, oh, ow, c.kernel, c.kernel, c.stride, c.stride,
                 c.dilation, c.dilation, c.pad, c.pad, c.c1 * plane * 2, plane * 2, k * 512});
    run(builder.get(), memory);
    for (int64_t p = 0; p < (m + 15) / 16 * 16; ++p)
      for (int64_t x = 0; x < k * 16; ++x) {
        int64_t channel = x % c.c0, tap = x / c.c0 % (c.kernel * c.kernel);
        int64_t c1 = x / c.c0 / (c.kernel * c.kernel);
        int64_t iy = p / ow % oh * c.stride - c.pad + tap / c.kernel * c.dilation;
        int64_t ix = p % ow * c.stride - c.pad + tap % c.kernel * c.dilation;
        bool inside = p < m && x < depth && iy >= 0 && iy < c.h && ix >= 0 && ix < c.w;
        _Float16 expected = _Float16(0.f);
        if (inside)
          expected =
              image[size_t((p / (oh * ow) * c.c1 + c1) * plane + (iy * c.w + ix) * c.c0 + channel)];
        REQUIRE(
            in<_Float16>(memory, Memory::L0A)[(p / 16 * k + x / 16) * 256 + p % 16 * 16 + x % 16] ==
            expected);
      }
  }
}

TEST_CASE("softmax of rows by vector instructions") {
  constexpr int64_t rows = 5, lanes = 100, pitch = 224;
  auto x = randomValues<_Float16>(rows * 112, 8);
  ProgramBuilder builder;
  unsigned arg = builder.argument(rows * pitch);
  builder.move(at(Memory::UB, 0), gm(arg), rows * pitch);
  auto add = [&](VectorOp op, int64_t dst, int64_t a, int64_t b, int64_t bStride) {
    Instruction &v = builder.vector(op, DataType::F16, at(Memory::UB, dst), at(Memory::UB, a),
                                    at(Memory::UB, b), lanes);
    v.ranges[Vector::inner] = range(rows);
    v.fields[Vector::dstInner] = op == VectorOp::Broadcast ? 32 : pitch;
    v.fields[Vector::aInner] = pitch;
    v.fields[Vector::bInner] = bStride;
    v.fields[Vector::bBlock] = 0;
  };
  add(VectorOp::ReduceMax, 8192, 0, 0, 0);
  add(VectorOp::Broadcast, 8448, 8192, 0, 0);
  add(VectorOp::Sub, 2048, 0, 8448, 32);
  add(VectorOp::Exp, 2048, 2048, 0, 0);
  add(VectorOp::ReduceSum, 8192, 2048, 0, 0);
  add(VectorOp::Broadcast, 8448, 8192, 0, 0);
  add(VectorOp::Div, 4096, 2048, 8448, 32);
  onBothPaths(builder.get(), {bytesOfValues(x)}, Memory::UB, [&](CoreMemory &memory) {
    for (int64_t r = 0; r < rows; ++r) {
      double largest = -1e9, sum = 0;
      for (int64_t i = 0; i < lanes; ++i)
        largest = std::max(largest, double(float(x[r * 112 + i])));
      for (int64_t i = 0; i < lanes; ++i)
        sum += std::exp(double(float(x[r * 112 + i])) - largest);
      for (int64_t i = 0; i < lanes; ++i) {
        double expected = std::exp(double(float(x[r * 112 + i])) - largest) / sum;
        REQUIRE(double(float(in<_Float16>(memory, Memory::UB, 4096)[r * 112 + i])) ==
                Approx(expected).epsilon(0.004).margin(1e-6));
      }
    }
  });
}

TEST_CASE("every float vector operation against libm, both paths alike") {
  auto a = randomValues<float>(300, 9), b = randomValues<float>(300, 10);
  for (unsigned number = 0; number < unsigned(VectorOp::ReduceSum); ++number) {
    VectorOp op = VectorOp(number);
    CAPTURE(nameOf(op));
    ProgramBuilder builder;
    unsigned left = builder.argument(1200), right = builder.argument(1200);
    builder.move(at(Memory::UB, 0), gm(left), 1200);
    builder.move(at(Memory::UB, 2048), gm(right), 1200);
    Instruction &v = builder.vector(op, DataType::F32, at(Memory::UB, 4096), at(Memory::UB, 0),
                                    at(Memory::UB, 2048), 300, 0.75);
    v.addresses[Vector::mask] = at(Memory::UB, 6144);
    onBothPaths(builder.get(), {bytesOfValues(a), bytesOfValues(b)}, Memory::UB,
                [&](CoreMemory &memory) {
                  const float *got = in<float>(memory, Memory::UB, 4096);
                  for (size_t i = 0; i < 300; ++i) {
                    float x = a[i], y = b[i], want = 0;
                    const float all[] = {x,
                                         0.75f,
                                         x,
                                         x + y,
                                         x - y,
                                         x * y,
                                         x / y,
                                         std::max(x, y),
                                         std::min(x, y),
                                         x * y,
                                         x + 0.75f,
                                         x * 0.75f,
                                         std::max(x, 0.75f),
                                         std::min(x, 0.75f),
                                         x * 0.75f,
                                         std::fabs(x),
                                         -x,
                                         std::max(x, 0.f),
                                         std::exp(x),
                                         std::log(x),
                                         std::sqrt(x),
                                         1 / std::sqrt(x),
                                         1 / x,
                                         std::floor(x),
                                         std::ceil(x),
                                         std::nearbyint(x),
                                         float(x == y),
                                         float(x < y),
                                         float(x <= y),
                                         y};
                    static_assert(sizeof all / 4 == size_t(VectorOp::ReduceSum));
                    want = all[number];
                    bool alike = std::isnan(want) ? std::isnan(got[i])
                                                  : got[i] == want || std::fabs(got[i] - want) <=
                                                                          2e-7f * std::fabs(want);
                    INFO(x << " " << y << ": " << got[i] << ", expected " << want);
                    REQUIRE(alike);
                  }
                });
  }
}

TEST_CASE("f16 is rounded to nearest even, bf16 too, integers saturate") {
  std::vector<float> x = {1.f + 1.f / 2048,
                          1.f + 3.f / 2048,
                          65519.f,
                          65520.f,
                          1e-8f,
                          6e-8f,
                          -1.5f,
                          2.5f,
                          300.f,
                          -300.f,
                          NAN,
                          1.f + 1.f / 256};
  ProgramBuilder builder;
  unsigned arg = builder.argument(x.size() * 4);
  builder.move(at(Memory::UB, 0), gm(arg), int64_t(x.size()) * 4);
  for (auto [type, position] : {std::pair{DataType::F16, 256},
                                {DataType::BF16, 512},
                                {DataType::S8, 768},
                                {DataType::S32, 1024}})
    builder.cast(DataType::F32, type, at(Memory::UB, position), at(Memory::UB, 0),
                 int64_t(x.size()));
  onBothPaths(builder.get(), {bytesOfValues(x)}, Memory::UB, [&](CoreMemory &memory) {
    auto *half = in<uint16_t>(memory, Memory::UB, 256),
         *brain = in<uint16_t>(memory, Memory::UB, 512);
    auto *bytes = in<int8_t>(memory, Memory::UB, 768);
    auto *words = in<int32_t>(memory, Memory::UB, 1024);
    CHECK(half[0] == 0x3c00);
    CHECK(half[1] == 0x3c02);
    CHECK(half[2] == 0x7bff);
    CHECK(half[3] == 0x7c00);
    CHECK(half[4] == 0);
    CHECK(half[5] == 1);
    CHECK((half[10] & 0x7e00) == 0x7e00);
    CHECK(brain[11] == 0x3f80);
    CHECK(bytes[6] == -2);
    CHECK(bytes[7] == 2);
    CHECK(bytes[8] == 127);
    CHECK(bytes[9] == -128);
    CHECK(bytes[10] == 0);
    CHECK(words[8] == 300);
  });
}

TEST_CASE("gather_rows: any index names a row") {
  // Rows of 48 of 64 bytes; negative indices count from the end, others move to the nearest row.
  const auto table = randomValues<uint8_t>(5 * 64, 8);
  const std::vector<int32_t> indices = {3, 0, -1, -5, 4, 9, -77, 3};
  const int64_t wanted[] = {3, 0, 4, 0, 4, 4, 0, 3};
  for (int64_t step : {4, 8}) {
    std::vector<uint8_t> stored(indices.size() * size_t(step), 0xEE);
    for (size_t i = 0; i < indices.size(); ++i)
      std::memcpy(stored.data() + i * size_t(step), &indices[i], 4);
    ProgramBuilder b;
    unsigned source = b.argument(table.size()), list = b.argument(stored.size());
    b.move(at(Memory::UB, 4096), gm(list), int64_t(stored.size()));
    // Of nine rows the last one is clamped away.
    b.add(Opcode::GatherRows, {at(Memory::UB, 0), gm(source), at(Memory::UB, 4096)},
          {range(constant(0), 9, 8), range(48)}, {5, 64, 96, step});
    onBothPaths(b.take(), {table, stored}, Memory::UB, [&](CoreMemory &memory) {
      const uint8_t *found = in<uint8_t>(memory, Memory::UB);
      for (size_t i = 0; i < indices.size(); ++i)
        CHECK(std::memcmp(found + 96 * i, table.data() + 64 * wanted[i], 48) == 0);
      CHECK(std::count(found + 8 * 96, found + 9 * 96, 0) == 96);
    });
  }
}

TEST_CASE("footprints name the bytes that change") {
  ProgramBuilder builder;
  unsigned arg = builder.argument(4096);
  Instruction move =
      builder.add(Opcode::Move, {at(Memory::UB, 64), gm(arg, -10)},
                  {range(1), range(3), range(constant(-10), 40, 25)}, {0, 128, 0, 100});
  std::vector<uint8_t> source(4096, 7);
  CoreMemory memory(soc());
  memory.arguments = {source.data()};
  run(builder.get(), memory);
  std::vector<bool> named(1024);
  footprint(move, Frame(), [&](const Interval &interval) {
    if (interval.written)
      for (int64_t i = interval.begin; i < interval.end; ++i)
        named[size_t(i)] = true;
    else
      CHECK(interval.begin >= 0);
  });
  for (size_t i = 0; i < named.size(); ++i)
    REQUIRE(named[i] == (memory.data(Memory::UB)[i] == 7));
}

TEST_CASE("mmad speed", "[.speed]") {
  choosePath(Path::Best);
  ProgramBuilder builder;
  builder.mmad(DataType::F16, at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), 128, 256,
               128);
  CoreMemory memory(soc());
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 400; ++i)
    run(builder.get(), memory);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  WARN(400. * 128 * 256 * 128 / seconds.count() / 1e9 << " GMAC/s");
}
