//===-- Execute.cpp - memories of a core, moves and dispatch --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/Execute.h"

#include "npu/simulator/ExecuteParts.h"
#include "npu/simulator/Numbers.h"

namespace atc::npu {

CoreMemory::CoreMemory(const SocTable &soc) {
  for (unsigned i = 0; i < kMemories; ++i)
    if (Memory(i) != Memory::GM) {
      owned[i].resize(size_t(soc.memoryBytes(Memory(i))));
      local[i] = owned[i].data();
    }
}

namespace {

bool detectFast() {
#if NPU_HAS_FAST
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
#else
  return false;
#endif
}
bool fastPath = detectFast();

/// Converts rows of planes of an image, [channels][rows][width], to f16 with `c0` channels per
/// pixel, [rows][width][c0]. Channels beyond the image's are zeros, which weights may multiply.
NPU_INLINE void loadImageBody(const Iteration &it) {
  using I = LoadImage;
  DataType type = it.type(I::type);
  const uint8_t *src = it.address(I::src);
  uint8_t *dst = it.address(I::dst);
  int64_t c0 = it.field(I::c0), width = it.field(I::width);
  Range::Cut rows = it.cut[I::rows];
  const int64_t pixel = it.field(I::srcPixel) ? it.field(I::srcPixel) : bytesOf(type);
  const float scale = float(floatOf(it.field(I::scale))),
              offset = float(floatOf(it.field(I::offset)));
  const Bounds bounds(it.field(I::isSigned) ? DataType::S8 : DataType::U8);
  for (int64_t r = rows.skip; r < rows.skip + rows.count; ++r) {
    uint8_t *row = dst + r * it.field(I::dstRow);
    std::memset(row, 0, size_t(width * c0 * 2));
    for (int64_t c = 0; c < it.field(I::channels); ++c) {
      const uint8_t *from = src + c * it.field(I::srcPlane) + r * it.field(I::srcRow);
      // An instruction has means and factors of four channels; a factor of 0 stands for none.
      const float mean = c < 4 ? float(floatOf(it.field(I::mean0 + c))) : 0;
      const float factor = c < 4 ? float(floatOf(it.field(I::factor0 + c))) : 0;
      for (int64_t x = 0; x < width; x += 64) {
        int64_t count = std::min<int64_t>(64, width - x);
        float values[64];
        uint16_t pixels[64];
        if (pixel == bytesOf(type))
          toFloats(type, from + x * pixel, values, count);
        else
          for (int64_t i = 0; i < count; ++i)
            toFloats(type, from + (x + i) * pixel, values + i, 1);
        if (factor != 0)
          for (int64_t i = 0; i < count; ++i)
            values[i] = (values[i] - mean) * factor;
        if (scale != 0)
          for (int64_t i = 0; i < count; ++i)
            values[i] = bounds.keep(__builtin_rintf(values[i] / scale) + offset);
        fromFloats(DataType::F16, values, reinterpret_cast<uint8_t *>(pixels), count);
        for (int64_t i = 0; i < count; ++i)
          std::memcpy(row + ((x + i) * c0 + c) * 2, &pixels[i], 2);
      }
    }
  }
}
NPU_FAST void loadImageFast(const Iteration &it) { loadImageBody(it); }
void loadImagePortable(const Iteration &it) { loadImageBody(it); }

/// Makes one row of channel `channel` of the colours of an image, as f16 `c0` elements apart.
NPU_INLINE void colourRow(const Iteration &it, const uint8_t *luma, const uint8_t *chroma,
                          int64_t channel, uint8_t *to) {
  using I = LoadYuv;
  const double y = floatOf(it.field(I::y0 + channel * 3)),
               u = floatOf(it.field(I::u0 + channel * 3)),
               v = floatOf(it.field(I::v0 + channel * 3)),
               bias = floatOf(it.field(I::bias0 + channel));
  const float mean = float(floatOf(it.field(I::mean0 + channel)));
  const float factor = float(floatOf(it.field(I::factor0 + channel)));
  const Bounds bounds(DataType::U8);
  const int64_t c0 = it.field(I::c0), width = it.field(I::width);
  for (int64_t x = 0; x < width; ++x) {
    const uint8_t *pair = chroma + x / 2 * 2;
    float value =
        bounds.keep(float(__builtin_floor((y * luma[x] + u * pair[0] + v * pair[1] + bias) / 256)));
    if (factor != 0)
      value = (value - mean) * factor;
    fromFloats(DataType::F16, &value, to + x * c0 * 2, 1);
  }
}

/// Converts rows of a semi-planar image, whose pairs of rows share a row of chroma, as
/// loadImageBody does.
NPU_INLINE void loadYuvBody(const Iteration &it) {
  using I = LoadYuv;
  const uint8_t *src = it.address(I::src), *chroma = it.address(I::chroma);
  uint8_t *dst = it.address(I::dst);
  const int64_t start = it.in.ranges[I::rows].start.at(it.frame.ivs), pitch = it.field(I::srcRow);
  Range::Cut rows = it.cut[I::rows];
  for (int64_t r = rows.skip; r < rows.skip + rows.count; ++r) {
    uint8_t *row = dst + r * it.field(I::dstRow);
    // `src` is the first of these rows; only the number of a row in the image tells its pair.
    std::memset(row, 0, size_t(it.field(I::width) * it.field(I::c0) * 2));
    for (int64_t c = 0; c < it.field(I::channels); ++c)
      colourRow(it, src + r * pitch, chroma + (start + r) / 2 * pitch, c, row + c * 2);
  }
}
NPU_FAST void loadYuvFast(const Iteration &it) { loadYuvBody(it); }
void loadYuvPortable(const Iteration &it) { loadYuvBody(it); }

/// Swaps rows and columns of 16 x 16 elements of two bytes. `fromRow` and `toRow` are bytes; source
/// and destination may be the same memory.
void transposeBlock(const uint8_t *from, int64_t fromRow, uint8_t *to, int64_t toRow) {
  uint16_t block[16][16];
  for (int r = 0; r < 16; ++r)
    std::memcpy(block[r], from + r * fromRow, 32);
  for (int c = 0; c < 16; ++c) {
    uint16_t row[16];
    for (int r = 0; r < 16; ++r)
      row[r] = block[r][c];
    std::memcpy(to + c * toRow, row, 32);
  }
}

} // namespace

void executeAs(Move, const Iteration &it) {
  using I = Move;
  const uint8_t *src = it.address(I::src) + it.cut[I::bytes].skip;
  uint8_t *dst = it.address(I::dst) + it.cut[I::bytes].skip;
  Range::Cut outer = it.cut[I::outer], inner = it.cut[I::inner];
  for (int64_t o = outer.skip; o < outer.skip + outer.count; ++o)
    for (int64_t i = inner.skip; i < inner.skip + inner.count; ++i)
      std::memmove(dst + o * it.field(I::dstOuter) + i * it.field(I::dstInner),
                   src + o * it.field(I::srcOuter) + i * it.field(I::srcInner),
                   size_t(it.cut[I::bytes].count));
}

void executeAs(MoveNdToNz, const Iteration &it) {
  using I = MoveNdToNz;
  int64_t bytes = bytesOf(it.type(I::type)), c0 = 32 / bytes;
  const uint8_t *src = it.address(I::src);
  uint8_t *dst = it.address(I::dst);
  Range::Cut rows = it.cut[I::rows], cols = it.cut[I::cols];
  int64_t rowEnd = rows.skip + rows.count, colEnd = cols.skip + cols.count;
  for (int64_t c1 = cols.skip / c0; c1 * c0 < colEnd; ++c1) {
    int64_t from = std::max(cols.skip, c1 * c0), to = std::min(colEnd, (c1 + 1) * c0);
    // The cube reads whole fractals of 16 rows: those beyond the matrix must not hold NaNs.
    for (int64_t r = rows.skip; r < (rowEnd + 15) / 16 * 16; ++r) {
      uint8_t *block = dst + c1 * it.field(I::dstCol) + r * 32;
      if (r >= rowEnd || to - from < c0)
        std::memset(block, 0, 32);
      if (r < rowEnd)
        std::memcpy(block + (from - c1 * c0) * bytes, src + r * it.field(I::srcRow) + from * bytes,
                    size_t((to - from) * bytes));
    }
  }
}

void executeAs(LoadImage, const Iteration &it) {
  fastPath ? loadImageFast(it) : loadImagePortable(it);
}

void executeAs(LoadYuv, const Iteration &it) { fastPath ? loadYuvFast(it) : loadYuvPortable(it); }

void executeAs(Load2D, const Iteration &it) {
  using I = Load2D;
  const uint8_t *src = it.address(I::src);
  uint8_t *dst = it.address(I::dst);
  Range::Cut outer = it.cut[I::outer], inner = it.cut[I::inner];
  for (int64_t o = outer.skip; o < outer.skip + outer.count; ++o)
    for (int64_t i = inner.skip; i < inner.skip + inner.count; ++i) {
      uint8_t *to = dst + o * it.field(I::dstOuter) + i * it.field(I::dstInner);
      const uint8_t *from = src + o * it.field(I::srcOuter) + i * it.field(I::srcInner);
      if (it.field(I::transpose))
        transposeBlock(from, 32, to, 32);
      else
        std::memcpy(to, from, kFractalBytes);
    }
}

void executeAs(Transpose, const Iteration &it) {
  using I = Transpose;
  const uint8_t *src = it.address(I::src);
  uint8_t *dst = it.address(I::dst);
  Range::Cut outer = it.cut[I::outer], inner = it.cut[I::inner];
  for (int64_t o = outer.skip; o < outer.skip + outer.count; ++o)
    for (int64_t i = inner.skip; i < inner.skip + inner.count; ++i)
      transposeBlock(
          src + o * it.field(I::srcOuter) + i * it.field(I::srcInner), it.field(I::srcRow),
          dst + o * it.field(I::dstOuter) + i * it.field(I::dstInner), it.field(I::dstRow));
}

void executeAs(GatherRows, const Iteration &it) {
  using I = GatherRows;
  const int64_t tableRows = it.field(I::tableRows);
  const uint8_t *src = it.address(I::src) + it.cut[I::bytes].skip;
  const uint8_t *indices = it.address(I::indices);
  uint8_t *dst = it.address(I::dst) + it.cut[I::bytes].skip;
  const Range::Cut rows = it.cut[I::rows];
  for (int64_t i = rows.skip; i < rows.skip + rows.count; ++i) {
    int32_t index;
    std::memcpy(&index, indices + i * it.field(I::indexStep), sizeof index);
    // Negative indices count from the end, as in ONNX. Indices out of range would read memory of
    // other tensors.
    const int64_t row =
        std::clamp<int64_t>(index < 0 ? index + tableRows : index, 0, tableRows - 1);
    std::memcpy(dst + i * it.field(I::dstRow), src + row * it.field(I::srcRow),
                size_t(it.cut[I::bytes].count));
  }
}

bool useFastPath() { return fastPath; }

void choosePath(Path path) { fastPath = path == Path::Best && detectFast(); }

void execute(const Instruction &instruction, const Frame &frame, CoreMemory &memory) {
  Iteration it{instruction, frame, memory, {}};
  for (unsigned i = 0; i < infoOf(instruction.opcode).rangeCount; ++i) {
    it.cut[i] = instruction.ranges[i].at(frame.ivs);
    // The rows of Img2Col begin at row0, which may lie in the padding: its count means nothing.
    bool isPosition = instruction.opcode == Opcode::Img2Col && i == Img2Col::row0;
    if (it.cut[i].count <= 0 && !isPosition)
      return;
  }
  switch (instruction.opcode) {
#define NPU_INSTRUCTION(Name, ...)                                                                 \
  case Opcode::Name:                                                                               \
    if constexpr (Name::addressCount > 0)                                                          \
      executeAs(Name(), it);                                                                       \
    return;
#include "npu/isa/Isa.def"
  }
}

} // namespace atc::npu
