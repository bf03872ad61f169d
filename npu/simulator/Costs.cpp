//===-- Costs.cpp - cycles of one instruction on its own ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/Costs.h"

#include <algorithm>

using namespace atc::npu;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static uint64_t bytesIn(const Box &box) {
  return uint64_t(box.count[0] * box.count[1] * box.count[2] * box.bytes);
}

/// Consecutive bytes of a box: runs that touch are one.
static int64_t runOf(const Box &box) {
  int64_t run = box.bytes;
  for (int i = 2; i >= 0; --i) {
    if (box.count[i] == 1)
      continue;
    if (box.stride[i] != run)
      break;
    run *= box.count[i];
  }
  return run;
}

static double vectorCycles(const SocTable &soc, const Instruction &instruction,
                           const int64_t *counts, const Box *boxes, unsigned boxCount) {
  const int64_t *fields = instruction.fields;
  DataType type = DataType(fields[Vector::type]), dstType = DataType(fields[Vector::dstType]);
  VectorOp op = VectorOp(fields[Vector::op]);
  int64_t element = bytesOf(type);
  if (isCast(op))
    element = std::max<int64_t>(element, bytesOf(dstType));
  double runs = double(counts[Vector::outer] * counts[Vector::inner]);
  // Instructions work on whole repeats: the unused part of a repeat is lost.
  double repeats = double(ceilDiv(counts[Vector::lanes] * element, 256)) * 256 / soc.vectorBytes;
  switch (op) {
  case VectorOp::Exp:
  case VectorOp::Ln:
  case VectorOp::Sqrt:
  case VectorOp::Div:
    return runs * repeats * 2;
  case VectorOp::ReduceSum:
  case VectorOp::ReduceMax:
  case VectorOp::ReduceMin:
    return runs * double(counts[Vector::lanes]) / (soc.reduceElements * 2 / double(element));
  case VectorOp::Broadcast:
    return runs * 32 / soc.vectorBytes;
  default:
    break;
  }
  double cycles = runs * repeats;
  // Two operands in the same banks are read one after the other.
  if (soc.bankConflict > 1 && operandsOf(op).b && boxCount >= 3) {
    int64_t a = boxes[1].base, b = boxes[2].base, groups = ((a - b) / 32) & 15;
    if (a != b && a >> 16 == b >> 16 && groups != 8)
      cycles *= soc.bankConflict;
  }
  return cycles;
}

Box atc::npu::transferredBy(const Instruction &instruction, const Frame &frame, const Box &box) {
  using I = GatherRows;
  if (instruction.opcode != Opcode::GatherRows)
    return box;
  const int64_t rows = instruction.ranges[I::rows].at(frame.ivs).count,
                tableRows = instruction.fields[I::tableRows];
  Box result = box;
  result.bytes = instruction.ranges[I::bytes].at(frame.ivs).count;
  std::fill_n(result.count, 3, 1);
  result.count[0] = rows;
  result.stride[0] = std::max<int64_t>(1, tableRows / rows) * instruction.fields[I::srcRow];
  // With more indices than rows some rows are read again and again.
  if (rows > tableRows) {
    result.count[0] = (rows + tableRows - 1) / tableRows;
    result.count[1] = tableRows;
    result.stride[1] = result.stride[0];
    result.stride[0] = 0;
  }
  return result;
}

/// Returns the bytes per element that the vector unit would work on for the arithmetic of a
/// load_image: those of a difference and a product for factors, of a quotient for a scale.
static double imageArithmetic(const int64_t *fields) {
  using I = LoadImage;
  bool multiplies = false;
  for (unsigned channel = 0; channel < 4; ++channel)
    multiplies |= floatOf(fields[I::factor0 + channel]) != 0;
  return (multiplies ? 8 : 0) + (floatOf(fields[I::scale]) != 0 ? 8 : 0);
}

/// Adds to `cost` what a move between `box` in GM and a local memory takes.
static void addTransfer(Cost &cost, const SocTable &soc, const Instruction &instruction,
                        const int64_t *counts, const Box &box) {
  Memory src = instruction.addresses[1].memory, dst = instruction.addresses[0].memory;
  const int64_t *fields = instruction.fields;
  double rate = src == Memory::L0C  ? soc.l0cToGm
                : box.written       ? soc.ubToGm
                : dst == Memory::UB ? soc.gmToUb
                                    : soc.gmToL1;
  double part = std::min(1.0, double(runOf(box)) / double(soc.shortRun));
  double share = soc.shortRunFloor + (1 - soc.shortRunFloor) * part;
  double bytes = double(bytesIn(box));
  if (instruction.opcode == Opcode::GatherRows)
    cost.data = double(counts[GatherRows::rows] - 1) * double(soc.gmStart);
  if (instruction.opcode == Opcode::Move) {
    bytes = double(cost.bytes);
    cost.again = cost.bytes - bytesIn(box);
  }
  if (instruction.opcode == Opcode::MoveNdToNz) {
    int64_t row = counts[MoveNdToNz::rows] > 1 ? fields[MoveNdToNz::srcRow] : 0;
    if ((box.base | row) % 32)
      rate = std::min(rate, soc.ndToNzUnaligned / share);
  } else if (src == Memory::L0C) {
    cost.data = std::max(cost.data, bytes / double(box.bytes) * double(soc.l0cToGmRun));
  }
  cost.data = std::max(cost.data, bytes / (rate * share));
  if (instruction.opcode == Opcode::LoadImage)
    cost.data =
        std::max(cost.data, double(bytesIn(box)) / bytesOf(DataType(fields[LoadImage::type])) *
                                imageArithmetic(fields) / soc.vectorBytes);
  // Half as many bytes of chroma, in rows as long.
  if (instruction.opcode == Opcode::LoadYuv)
    cost.data =
        std::max(cost.data * 1.5, bytes * double(fields[LoadYuv::channels]) * 20 / soc.vectorBytes);
  cost.start = double(soc.gmStart);
  cost.latency = double(box.written ? soc.writeLatency : soc.readLatency);
}

static void setTimes(Cost &cost, int64_t start, int64_t latency) {
  cost.start = double(start);
  cost.latency = double(latency);
}

/// Charges Load2D or Img2Col, which load operands of the cube from L1.
static void addOperands(Cost &cost, const SocTable &soc, const Instruction &instruction,
                        const int64_t *counts) {
  int64_t fractals = counts[0] * counts[1];
  double rate = instruction.addresses[0].memory == Memory::L0A ? soc.l1ToL0a : soc.l1ToL0b;
  if (instruction.opcode == Opcode::Img2Col) {
    const int64_t stride = std::max<int64_t>(1, instruction.fields[Img2Col::strideW]);
    fractals = ceilDiv(counts[Img2Col::m], 16) * counts[Img2Col::k];
    rate = stride == 1 ? soc.img2col : std::max(32.0, soc.img2col / double(stride));
  }
  cost.bytes = uint64_t(fractals) * kFractalBytes;
  cost.data = double(cost.bytes) / rate;
  setTimes(cost, soc.mte1Start, soc.mte1Latency);
}

/// Charges MoveL0C, Requantize or RequantizeAdd, which move results of the cube out of L0C. A
/// transfer to gm is added by addTransfer.
static void addResults(Cost &cost, const SocTable &soc, const Instruction &instruction,
                       const int64_t *counts) {
  using R = Requantize;
  static_assert(int(R::m) == int(MoveL0C::m) && int(R::n) == int(MoveL0C::n) &&
                int(R::m) == int(RequantizeAdd::m) && int(R::n) == int(RequantizeAdd::n) &&
                int(R::dstType) == int(RequantizeAdd::dstType));
  const bool isMove = instruction.opcode == Opcode::MoveL0C;
  const Memory dst = instruction.addresses[0].memory;
  const DataType type =
      DataType(instruction.fields[isMove ? int(MoveL0C::dstType) : int(R::dstType)]);
  const int64_t n = counts[R::n], padded = ceilDiv(n, 16) * 16 * counts[R::m];
  cost.bytes = uint64_t(n * counts[R::m]) * bytesOf(type);
  if (isMove ? dst != Memory::UB : dst == Memory::GM) {
    // The scales of the columns come from L1.
    cost.data = double(padded) / soc.fixElements + (isMove ? 0 : double(n * 4) / soc.l1ToUb);
    setTimes(cost, soc.gmStart, soc.mte1Latency);
    return;
  }
  cost.data = double(padded * 4) / soc.l0cToUb;
  // The residual is added at the vector unit's rate for f32.
  if (instruction.opcode == Opcode::RequantizeAdd)
    cost.data += double(padded * 4) / soc.vectorBytes;
  setTimes(cost, soc.vectorStart, soc.vectorLatency);
}

Cost atc::npu::costOf(const SocTable &soc, const Instruction &instruction, const Frame &frame,
                      const Box *boxes, unsigned count) {
  Cost cost;
  int64_t counts[3];
  for (unsigned i = 0; i < 3; ++i)
    counts[i] = instruction.ranges[i].at(frame.ivs).count;
  for (unsigned i = 0; i < count; ++i)
    // The chroma of an image is charged with its luma.
    if (boxes[i].memory == Memory::GM && !(instruction.opcode == Opcode::LoadYuv && i == 2))
      cost.gm = int(i);
  switch (instruction.opcode) {
  case Opcode::Mmad: {
    const DataType type = DataType(instruction.fields[Mmad::type]);
    const int64_t m = counts[Mmad::m], n = counts[Mmad::n], k = counts[Mmad::k];
    cost.macs = uint64_t(m * n * k);
    cost.data = double(ceilDiv(m, 16) * ceilDiv(n, 16) * ceilDiv(k, SocTable::cubeDepth(type))) /
                soc.cubeFractals;
    setTimes(cost, soc.mmadStart, soc.mmadLatency);
    return cost;
  }
  case Opcode::Vector:
    cost.bytes = count ? bytesIn(boxes[0]) : 0;
    cost.data = vectorCycles(soc, instruction, counts, boxes, count);
    setTimes(cost, soc.vectorStart, soc.vectorLatency);
    return cost;
  case Opcode::Transpose:
    cost.bytes = uint64_t(counts[0] * counts[1]) * kFractalBytes;
    cost.data = double(cost.bytes) / soc.vectorBytes;
    setTimes(cost, soc.vectorStart, soc.vectorLatency);
    return cost;
  case Opcode::Load2D:
  case Opcode::Img2Col:
    addOperands(cost, soc, instruction, counts);
    return cost;
  case Opcode::MoveL0C:
  case Opcode::Requantize:
  case Opcode::RequantizeAdd:
    addResults(cost, soc, instruction, counts);
    break;
  case Opcode::SetFlag:
  case Opcode::WaitFlag:
  case Opcode::PipeBarrier:
  case Opcode::Signal:
  case Opcode::Await:
  case Opcode::LoopBegin:
  case Opcode::LoopEnd:
    return cost; // the simulator knows what these wait for
  case Opcode::GatherRows:
    cost.bytes = uint64_t(counts[GatherRows::rows] * counts[GatherRows::bytes]);
    break;
  case Opcode::Move:
  case Opcode::MoveNdToNz:
  case Opcode::LoadImage:
  case Opcode::LoadYuv:
    cost.bytes = count ? bytesIn(boxes[count > 1]) : 0;
    // Bytes that are read more than once pass the ports as often.
    if (instruction.opcode == Opcode::Move)
      cost.bytes = std::max(cost.bytes, uint64_t(counts[0] * counts[1] * counts[2]));
    setTimes(cost, soc.mte1Start, soc.mte1Latency);
    if (cost.gm < 0)
      cost.data = double(cost.bytes) /
                  (instruction.addresses[1].memory == Memory::UB ? soc.ubToL1 : soc.l1ToUb);
    break;
  }
  if (cost.gm >= 0)
    addTransfer(cost, soc, instruction, counts, transferredBy(instruction, frame, boxes[cost.gm]));
  return cost;
}
