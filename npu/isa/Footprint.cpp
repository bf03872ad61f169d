//===-- Footprint.cpp - which bytes an instruction touches ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/Footprint.h"

namespace atc::npu {

namespace {

bool isReduction(VectorOp op) {
  return op == VectorOp::ReduceSum || op == VectorOp::ReduceMax || op == VectorOp::ReduceMin;
}

/// Collects the operands of one instruction.
template <typename Number> struct Collector {
  using Term = TermOf<Number>;
  using Terms = std::initializer_list<Term>;

  const Instruction &in;
  OperandOf<Number> (&out)[4];
  unsigned count = 0;

  void add(unsigned address, Number bytes, Terms terms, bool read, bool written) {
    OperandOf<Number> &operand = out[count++];
    operand = OperandOf<Number>();
    operand.address = address;
    operand.bytes = bytes;
    operand.read = read;
    operand.written = written;
    for (const Term &term : terms)
      operand.terms[operand.termCount++] = term;
  }
  void reads(unsigned address, Number bytes, Terms terms) {
    add(address, bytes, terms, true, false);
  }
  void writes(unsigned address, Number bytes, Terms terms) {
    add(address, bytes, terms, false, true);
  }
  Number field(unsigned index) const { return Number(in.fields[index]); }
  int bytesOf(unsigned index) const { return int(npu::bytesOf(DataType(in.fields[index]))); }

  static Term along(int range, Number stride, int group = 1, int pad = 1) {
    return {range, Number(1), group, pad, stride, false};
  }
  /// Makes a term whose stride is a field.
  Term by(int range, unsigned field, int group = 1) const {
    return {range, Number(1), group, 1, this->field(field), true};
  }
  Term times(Number count, unsigned field) const {
    return {-1, count, 1, 1, this->field(field), true};
  }
  bool is(unsigned field, int value) const { return in.fields[field] == value; }

  void collect();

  /// Each collects the operands of the instruction that the argument names. All instructions with
  /// addresses have one; an instruction without its function does not link.
#define NPU_INSTRUCTION(Name, ...) void collectAs(Name);
#include "npu/isa/Isa.def"
  template <typename I> void resultOperands();
};

template <typename Number> void Collector<Number>::collectAs(Vector) {
  using V = Vector;
  VectorOp op = VectorOp(in.fields[V::op]);
  VectorOperands has = operandsOf(op);
  int bytes = bytesOf(V::type), dstBytes = isCast(op) ? bytesOf(V::dstType) : bytes;
  if (op == VectorOp::Broadcast) {
    writes(V::dst, 32, {by(V::outer, V::dstOuter), by(V::inner, V::dstInner)});
    reads(V::a, bytes, {along(V::outer, field(V::aOuter)), along(V::inner, bytes)});
    return;
  }
  auto run = [&](unsigned address, unsigned outer, unsigned inner, int block, int element,
                 bool written) {
    // Runs without gaps are described by element, others by block.
    bool dense = block < 0 || is(unsigned(block), 32);
    Term lanes = dense ? along(V::lanes, element) : by(V::lanes, unsigned(block), 32 / element);
    bool update = written && (op == VectorOp::Madd || op == VectorOp::Axpy);
    add(address, dense ? element : 32, {by(V::outer, outer), by(V::inner, inner), lanes},
        !written || update, written);
  };
  if (isReduction(op))
    writes(V::dst, bytes, {along(V::outer, field(V::dstOuter)), along(V::inner, bytes)});
  else
    run(V::dst, V::dstOuter, V::dstInner, V::dstBlock, dstBytes, true);
  if (has.a)
    run(V::a, V::aOuter, V::aInner, V::aBlock, bytes, false);
  if (has.b)
    run(V::b, V::bOuter, V::bInner, V::bBlock, bytes, false);
  if (has.mask) // always dense
    run(V::mask, V::maskOuter, V::maskInner, -1, bytes, false);
}

/// Collects the operands of move_l0c and the requantizing instructions.
template <typename Number> template <typename I> void Collector<Number>::resultOperands() {
  int bytes = bytesOf(I::dstType), block = bytes == 1 ? 32 : 16;
  auto inUb = [&](unsigned address, bool written) {
    // A run of columns without gaps is described by element, others by whole blocks.
    if (is(I::dstCol, block * bytes))
      add(address, bytes, {by(I::m, I::dstRow), along(I::n, bytes)}, !written, written);
    else
      add(address, block * bytes, {by(I::n, I::dstCol, block), by(I::m, I::dstRow)}, !written,
          written);
  };
  inUb(I::dst, true);
  if constexpr (std::is_same_v<I, RequantizeAdd>)
    inUb(I::addend, false);
  reads(I::src, 64, {by(I::n, I::srcCol, 16), along(I::m, 64)});
}

template <typename Number> void Collector<Number>::collectAs(Move) {
  using I = Move;
  writes(I::dst, 1, {by(I::outer, I::dstOuter), by(I::inner, I::dstInner), along(I::bytes, 1)});
  reads(I::src, 1, {by(I::outer, I::srcOuter), by(I::inner, I::srcInner), along(I::bytes, 1)});
}

template <typename Number> void Collector<Number>::collectAs(MoveNdToNz) {
  using I = MoveNdToNz;
  int bytes = bytesOf(I::type);
  writes(I::dst, 32, {by(I::cols, I::dstCol, 32 / bytes), along(I::rows, 32, 1, 16)});
  reads(I::src, bytes, {by(I::rows, I::srcRow), along(I::cols, bytes)});
}

template <typename Number> void Collector<Number>::collectAs(LoadImage) {
  using I = LoadImage;
  writes(I::dst, field(I::width) * field(I::c0) * 2, {along(I::rows, field(I::dstRow))});
  // Adjacent parts come last, where they join: the pixels of a plane, or the channels of a pixel.
  if (is(I::srcPixel, 0))
    reads(I::src, field(I::width) * bytesOf(I::type),
          {times(field(I::channels), I::srcPlane), by(I::rows, I::srcRow)});
  else
    reads(I::src, bytesOf(I::type),
          {by(I::rows, I::srcRow), times(field(I::width), I::srcPixel),
           times(field(I::channels), I::srcPlane)});
}

template <typename Number> void Collector<Number>::collectAs(LoadYuv) {
  using I = LoadYuv;
  writes(I::dst, field(I::width) * field(I::c0) * 2, {along(I::rows, field(I::dstRow))});
  reads(I::src, field(I::width), {by(I::rows, I::srcRow)});
  // All rows; boxesOf narrows them to those of one iteration.
  reads(I::chroma, field(I::width), {times(field(I::chromaRows), I::srcRow)});
}

template <typename Number> void Collector<Number>::collectAs(Load2D) {
  using I = Load2D;
  int fractal = kFractalBytes;
  writes(I::dst, fractal, {by(I::outer, I::dstOuter), by(I::inner, I::dstInner)});
  reads(I::src, fractal, {by(I::outer, I::srcOuter), by(I::inner, I::srcInner)});
}

template <typename Number> void Collector<Number>::collectAs(Img2Col) {
  using I = Img2Col;
  int fractal = kFractalBytes;
  writes(I::dst, fractal, {by(I::m, I::dstRow, 16), along(I::k, fractal)});
  reads(I::src, 0, {});
}

template <typename Number> void Collector<Number>::collectAs(Mmad) {
  using I = Mmad;
  int c0 = 32 / bytesOf(I::type), fractal = kFractalBytes;
  // Whether it overwrites depends on the ivs; assuming a read is conservative.
  add(I::dst, 64, {by(I::n, I::dstCol, 16), along(I::m, 64)},
      in.fields[I::accumulate] || in.fields[I::first], true);
  reads(I::a, fractal, {by(I::m, I::aRow, 16), along(I::k, fractal, c0)});
  reads(I::b, fractal, {by(I::k, I::bRow, c0), along(I::n, fractal, 16)});
  if (in.fields[I::useBias])
    reads(I::bias, 64, {along(I::n, 64, 16)});
}

template <typename Number> void Collector<Number>::collectAs(MoveL0C) { resultOperands<MoveL0C>(); }

template <typename Number> void Collector<Number>::collectAs(Requantize) {
  resultOperands<Requantize>();
  reads(Requantize::scales, 4, {along(Requantize::n, 4)});
}

template <typename Number> void Collector<Number>::collectAs(RequantizeAdd) {
  resultOperands<RequantizeAdd>();
  reads(RequantizeAdd::scales, 4, {along(RequantizeAdd::n, 4)});
}

template <typename Number> void Collector<Number>::collectAs(GatherRows) {
  using I = GatherRows;
  writes(I::dst, 1, {by(I::rows, I::dstRow), along(I::bytes, 1)});
  reads(I::src, 1, {times(field(I::tableRows), I::srcRow), along(I::bytes, 1)});
  reads(I::indices, 4, {along(I::rows, field(I::indexStep))});
}

template <typename Number> void Collector<Number>::collectAs(Transpose) {
  using I = Transpose;
  writes(I::dst, 32, {by(I::outer, I::dstOuter), by(I::inner, I::dstInner), times(16, I::dstRow)});
  reads(I::src, 32, {by(I::outer, I::srcOuter), by(I::inner, I::srcInner), times(16, I::srcRow)});
}

template <typename Number> void Collector<Number>::collect() {
  switch (in.opcode) {
#define NPU_INSTRUCTION(Name, ...)                                                                 \
  case Opcode::Name:                                                                               \
    if constexpr (Name::addressCount > 0)                                                          \
      collectAs(Name());                                                                           \
    return;
#include "npu/isa/Isa.def"
  }
}

template <typename Number>
unsigned collected(const Instruction &instruction, OperandOf<Number> (&operands)[4]) {
  Collector<Number> collector{instruction, operands};
  collector.collect();
  return collector.count;
}

/// The image rows that an img2col reads.
bool imageBox(const Instruction &in, const Frame &frame, Box &box) {
  using I = Img2Col;
  const int64_t *f = in.fields;
  Range::Cut m = in.ranges[I::m].at(frame.ivs), k = in.ranges[I::k].at(frame.ivs);
  int64_t m0 = in.ranges[I::m].start.at(frame.ivs) + m.skip, m1 = m0 + m.count - 1;
  int64_t columns = 32 / f[I::elementBytes], taps = f[I::kernelH] * f[I::kernelW] * f[I::c0];
  int64_t k0 = in.ranges[I::k].start.at(frame.ivs) + k.skip, k1 = k0 + k.count;
  int64_t c0 = k0 * columns / taps, c1 = (k1 * columns - 1) / taps;
  c1 = std::min(c1, f[I::channels1] - 1);
  int64_t area = f[I::outHeight] * f[I::outWidth], image0 = m0 / area, image1 = m1 / area;
  int64_t y0 = 0, y1 = f[I::outHeight] - 1;
  if (image0 == image1) {
    y0 = m0 % area / f[I::outWidth];
    y1 = m1 % area / f[I::outWidth];
  }
  y0 = std::max<int64_t>(0, y0 * f[I::strideH] - f[I::padTop]);
  y1 = std::min(f[I::height] - 1,
                y1 * f[I::strideH] - f[I::padTop] + (f[I::kernelH] - 1) * f[I::dilationH]);
  if (c1 < c0 || y1 < y0)
    return false;
  int64_t row = f[I::width] * f[I::c0] * f[I::elementBytes];
  box.base += image0 * f[I::srcImage] + c0 * f[I::srcChannel] +
              (y0 - in.ranges[I::row0].start.at(frame.ivs)) * row;
  box.count[0] = image1 - image0 + 1;
  box.stride[0] = f[I::srcImage];
  box.count[1] = c1 - c0 + 1;
  box.stride[1] = f[I::srcChannel];
  box.bytes = (y1 - y0 + 1) * row;
  return true;
}

/// Narrows the chroma of a load_yuv to the rows that this iteration reads.
void narrowChroma(const Instruction &in, const Frame &frame, const Range::Cut &rows, Box &box) {
  const int64_t first = in.ranges[LoadYuv::rows].start.at(frame.ivs) + rows.skip;
  const int64_t low = first / 2, high = (first + rows.count - 1) / 2;
  box.base += low * in.fields[LoadYuv::srcRow];
  box.count[0] = high - low + 1;
}

/// Returns whether this mmad accumulates onto l0c in this iteration.
bool accumulates(const Instruction &in, const Frame &frame) {
  bool adds = in.fields[Mmad::accumulate];
  for (unsigned i = 0; i < kMaxIvs; ++i)
    adds |= (in.fields[Mmad::first] >> i & 1) && frame.ivs[i] != 0;
  return adds;
}

int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

/// Takes up dimensions that have no gaps into `bytes`.
void simplify(Box &box) {
  for (int i = 2; i >= 0; --i) {
    if (box.count[i] == 1 || box.stride[i] == 0) {
      box.count[i] = 1;
      box.stride[i] = 0;
    } else if (box.stride[i] > 0 && box.stride[i] <= box.bytes) {
      box.bytes += box.stride[i] * (box.count[i] - 1);
      box.count[i] = 1;
      box.stride[i] = 0;
    }
  }
}

} // namespace

unsigned operandsOf(const Instruction &instruction, Operand (&operands)[4]) {
  return collected(instruction, operands);
}

unsigned operandsOf(const Instruction &instruction, CheckedOperand (&operands)[4]) {
  return collected(instruction, operands);
}

unsigned boxesOf(const Instruction &instruction, const Frame &frame, Box (&boxes)[4]) {
  const OpcodeInfo &info = infoOf(instruction.opcode);
  if (!info.addressCount)
    return 0;
  Range::Cut cuts[3];
  for (unsigned i = 0; i < info.rangeCount; ++i) {
    cuts[i] = instruction.ranges[i].at(frame.ivs);
    bool position = instruction.opcode == Opcode::Img2Col && i == Img2Col::row0;
    if (cuts[i].count <= 0 && !position)
      return 0;
  }
  Operand operands[4];
  unsigned count = operandsOf(instruction, operands), kept = 0;
  for (unsigned i = 0; i < count; ++i) {
    const Operand &operand = operands[i];
    const Address &address = instruction.addresses[operand.address];
    Box &box = boxes[kept];
    box = Box();
    box.memory = address.memory;
    box.argument = address.argument;
    box.address = uint8_t(operand.address);
    box.read = operand.read;
    if (instruction.opcode == Opcode::Mmad && operand.address == Mmad::dst)
      box.read = accumulates(instruction, frame);
    box.written = operand.written;
    box.base = frame.offset(address);
    box.bytes = operand.bytes;
    if (instruction.opcode == Opcode::Img2Col && operand.address == Img2Col::src) {
      if (!imageBox(instruction, frame, box))
        continue;
    } else {
      for (unsigned t = 0; t < operand.termCount; ++t) {
        const TermOf<int64_t> &term = operand.terms[t];
        box.stride[t] = term.stride;
        box.count[t] = term.count;
        if (term.range < 0)
          continue;
        Range::Cut cut = cuts[term.range];
        int64_t first = cut.skip / term.group;
        int64_t last = (cut.skip + cut.count + term.group - 1) / term.group;
        box.base += first * term.stride;
        box.count[t] = roundUp(last, term.pad) - first;
      }
    }
    if (instruction.opcode == Opcode::LoadYuv && operand.address == LoadYuv::chroma)
      narrowChroma(instruction, frame, cuts[LoadYuv::rows], box);
    simplify(box);
    ++kept;
  }
  return kept;
}

void footprint(const Instruction &instruction, const Frame &frame,
               const std::function<void(const Interval &)> &callback) {
  Box boxes[4];
  unsigned count = boxesOf(instruction, frame, boxes);
  for (unsigned b = 0; b < count; ++b) {
    const Box &box = boxes[b];
    Interval interval{box.memory, box.argument, box.read, box.written, 0, 0};
    for (int64_t i = 0; i < box.count[0]; ++i)
      for (int64_t j = 0; j < box.count[1]; ++j)
        for (int64_t k = 0; k < box.count[2]; ++k) {
          interval.begin = box.base + i * box.stride[0] + j * box.stride[1] + k * box.stride[2];
          interval.end = interval.begin + box.bytes;
          callback(interval);
        }
  }
}

} // namespace atc::npu
