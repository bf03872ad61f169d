//===-- NpuOps.cpp - verifiers of instructions and buffers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules that depend on a SoC's sizes are checked on the encoded program, where all addresses are
// known (npu/isa/Verify.h); this file has the rules that hold for all SoCs.

#include "dialects/npu/Npu.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atc::npu::ir;
using atc::npu::kEvents;
using atc::npu::kFlagIds;
using atc::npu::Opcode;

#define GET_OP_CLASSES
#include "dialects/npu/NpuOps.cpp.inc"

std::optional<Opcode> atc::npu::ir::opcodeOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("npu."))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<Opcode>>(name)
#define NPU_INSTRUCTION(Name, mnemonic, ...) .Case(mnemonic, Opcode::Name)
#define R(name)
#define W(name)
#define U(name)
#define N(name)
#define F(name, kind)
#include "npu/isa/Isa.def"
      .Default(std::nullopt);
}

namespace {

/// Bytes at which an access has to start.
int64_t alignmentOf(MemoryKind memory) {
  switch (memory) {
  case MemoryKind::GM:
    return 1;
  case MemoryKind::L0A:
  case MemoryKind::L0B:
    return 512;
  case MemoryKind::L0C:
    return 64;
  case MemoryKind::L1:
  case MemoryKind::UB:
  case MemoryKind::BT:
    return 32;
  }
  return 1;
}

MemoryKind memoryOf(Value buffer) { return cast<BufferType>(buffer.getType()).getMemory(); }

LogicalResult verifyIvs(Operation *op, ValueRange ivs) {
  for (Value iv : ivs) {
    auto argument = dyn_cast<BlockArgument>(iv);
    Operation *owner = argument ? argument.getOwner()->getParentOp() : nullptr;
    if (!isa_and_nonnull<LoopOp, ProgramOp>(owner))
      return op->emitOpError("takes ivs of loops and coordinates of the program only");
  }
  return success();
}

LogicalResult verifyAffine(Operation *op, const Twine &what, AffineAttr affine, size_t ivs) {
  if (!affine.getStrides().empty() && affine.getStrides().size() != ivs)
    return op->emitOpError() << what << " has " << affine.getStrides().size() << " strides for "
                             << ivs << " ivs";
  return success();
}

LogicalResult verifyRanges(Operation *op, size_t ivs) {
  for (NamedAttribute attribute : op->getAttrs())
    if (auto range = dyn_cast<RangeAttr>(attribute.getValue()))
      if (range.getStart() &&
          failed(verifyAffine(op, "the start of '" + attribute.getName().strref() + "'",
                              range.getStart(), ivs)))
        return failure();
  return success();
}

/// Checks the common properties of all instructions.
LogicalResult verifyInstruction(Operation *op, ValueRange ivs, ArrayAttr offsets, GuardAttr guard) {
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands())
    if (isa<BufferType>(operand.getType()))
      buffers.push_back(operand);
  if (buffers.size() != offsets.size())
    return op->emitOpError() << "has " << offsets.size() << " addresses for " << buffers.size()
                             << " buffers";
  if (failed(verifyIvs(op, ivs)) || failed(verifyRanges(op, ivs.size())))
    return failure();
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    auto offset = cast<AffineAttr>(offsets[index]);
    if (failed(verifyAffine(op, "address " + Twine(index), offset, ivs.size())))
      return failure();
    int64_t alignment = alignmentOf(memoryOf(buffer));
    auto isMisaligned = [&](int64_t bytes) { return bytes % alignment != 0; };
    if (isMisaligned(offset.getBase()) || llvm::any_of(offset.getStrides(), isMisaligned))
      return op->emitOpError() << "address " << index << " is not always a multiple of "
                               << alignment << " bytes, as "
                               << stringifyMemoryKind(memoryOf(buffer)) << " needs";
  }
  if (guard && uint64_t(guard.getIv()) >= ivs.size())
    return op->emitOpError() << "is guarded by iv " << guard.getIv() << " of " << ivs.size();
  return success();
}

template <typename OpT> LogicalResult verifyCommon(OpT op) {
  return verifyInstruction(op, op.getIvs(), op.getOffsets(), op.getGuardAttr());
}

using Path = std::pair<MemoryKind, MemoryKind>; ///< from, to

LogicalResult verifyPath(Operation *op, Value src, Value dst, ArrayRef<Path> paths) {
  Path path = {memoryOf(src), memoryOf(dst)};
  if (llvm::is_contained(paths, path))
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << "cannot go from " << stringifyMemoryKind(path.first) << " to "
                             << stringifyMemoryKind(path.second) << "; it goes";
  for (auto [index, other] : llvm::enumerate(paths))
    error << (index ? ", " : " ") << stringifyMemoryKind(other.first) << " to "
          << stringifyMemoryKind(other.second);
  return error;
}

LogicalResult verifyMemory(Operation *op, StringRef name, Value buffer, MemoryKind memory) {
  if (!buffer || memoryOf(buffer) == memory)
    return success();
  return op->emitOpError() << name << " is in " << stringifyMemoryKind(memoryOf(buffer))
                           << ", it must be in " << stringifyMemoryKind(memory);
}

LogicalResult verifyType(Operation *op, StringRef name, Type type,
                         ArrayRef<atc::npu::DataType> allowed) {
  std::optional<atc::npu::DataType> known = dataTypeOf(type);
  if (!known || !llvm::is_contained(allowed, *known))
    return op->emitOpError() << "has the " << name << " " << type << ", which it cannot work on";
  return success();
}

using atc::npu::DataType;
constexpr DataType kAnyType[] = {DataType::F32, DataType::U8,  DataType::S8,
                                 DataType::S32, DataType::F16, DataType::BF16};

} // namespace

LogicalResult AllocOp::verify() {
  BufferType type = getType();
  if (type.getMemory() == MemoryKind::GM)
    return emitOpError("makes local buffers; gm comes with the launch");
  if (int64_t(getBuffers()) < 1)
    return emitOpError() << "has " << getBuffers() << " buffers, one is the least";
  int64_t alignment = alignmentOf(type.getMemory());
  if (getOffset() && (int64_t(*getOffset()) < 0 || int64_t(*getOffset()) % alignment))
    return emitOpError() << "offset " << *getOffset() << " must be a multiple of " << alignment;
  return success();
}

LogicalResult MoveOp::verify() {
  using enum MemoryKind;
  if (failed(verifyCommon(*this)))
    return failure();
  return verifyPath(*this, getSrc(), getDst(),
                    {{GM, L1}, {GM, UB}, {UB, GM}, {UB, L1}, {L1, UB}, {L1, BT}});
}

LogicalResult MoveNdToNzOp::verify() {
  if (failed(verifyCommon(*this)) || failed(verifyType(*this, "type", getType(), kAnyType)))
    return failure();
  return verifyPath(*this, getSrc(), getDst(), {{MemoryKind::GM, MemoryKind::L1}});
}

LogicalResult LoadImageOp::verify() {
  if (failed(verifyCommon(*this)) ||
      failed(verifyType(*this, "type", getType(),
                        {DataType::F32, DataType::F16, DataType::U8, DataType::S8})))
    return failure();
  if (!getScale().isZero() && !isa<FloatType>(getType()))
    return emitOpError() << "quantizes f32 and f16, not " << getType();
  if (getC0() != 4 && getC0() != 16)
    return emitOpError() << "c0 is " << getC0() << ", it must be 4 or 16";
  if (getChannels() < 1 || getChannels() > getC0())
    return emitOpError() << "has " << getChannels() << " channels for c0 " << getC0();
  return verifyPath(*this, getSrc(), getDst(), {{MemoryKind::GM, MemoryKind::L1}});
}

LogicalResult Load2DOp::verify() {
  using enum MemoryKind;
  if (failed(verifyCommon(*this)))
    return failure();
  return verifyPath(*this, getSrc(), getDst(), {{L1, L0A}, {L1, L0B}});
}

LogicalResult Img2ColOp::verify() {
  if (failed(verifyCommon(*this)))
    return failure();
  for (auto [name, value] : {std::pair("stride_h", getStrideH()),
                             {"stride_w", getStrideW()},
                             {"dilation_h", getDilationH()},
                             {"dilation_w", getDilationW()},
                             {"kernel_h", getKernelH()},
                             {"kernel_w", getKernelW()},
                             {"out_width", getOutWidth()},
                             {"out_height", getOutHeight()}})
    if (int64_t(value) < 1)
      return emitOpError() << name << " is " << value << ", 1 is the least";
  int64_t c0 = getC0();
  if (c0 != 4 && c0 * int64_t(getElementBytes()) != 32)
    return emitOpError() << "c0 " << c0 << " of " << getElementBytes()
                         << "-byte elements is not a block of 32 bytes";
  return verifyPath(*this, getSrc(), getDst(), {{MemoryKind::L1, MemoryKind::L0A}});
}

LogicalResult MmadOp::verify() {
  using enum MemoryKind;
  if (failed(verifyCommon(*this)) ||
      failed(
          verifyType(*this, "type", getType(),
                     {DataType::F16, DataType::BF16, DataType::S8, DataType::U8, DataType::F32})) ||
      failed(verifyMemory(*this, "dst", getDst(), L0C)) ||
      failed(verifyMemory(*this, "a", getA(), L0A)) ||
      failed(verifyMemory(*this, "b", getB(), L0B)) ||
      failed(verifyMemory(*this, "bias", getBias(), BT)))
    return failure();
  for (int64_t iv : getFirst())
    if (iv < 0 || uint64_t(iv) >= getIvs().size())
      return emitOpError() << "first names iv " << iv << " of " << getIvs().size();
  return success();
}

LogicalResult MoveL0COp::verify() {
  using enum MemoryKind;
  if (failed(verifyCommon(*this)) ||
      failed(verifyType(*this, "type", getType(), {DataType::F32, DataType::S32})))
    return failure();
  bool isInteger = getType().isInteger();
  if (failed(isInteger ? verifyType(*this, "dst_type", getDstType(),
                                    {DataType::S32, DataType::F16, DataType::S8})
                       : verifyType(*this, "dst_type", getDstType(),
                                    {DataType::F32, DataType::F16, DataType::BF16})))
    return failure();
  return verifyPath(*this, getSrc(), getDst(), {{L0C, UB}, {L0C, GM}, {L0C, L1}});
}

LogicalResult RequantizeOp::verify() {
  using enum MemoryKind;
  if (failed(verifyCommon(*this)) ||
      failed(verifyType(*this, "type", getType(), {DataType::F32, DataType::S32})) ||
      failed(verifyType(*this, "stored", getStored(), {DataType::U8, DataType::S8})) ||
      failed(verifyMemory(*this, "scales", getScales(), UB)))
    return failure();
  if (getDstType() != getStored() && !getDstType().isF32())
    return emitOpError() << "has the dst_type " << getDstType() << ", which is neither "
                         << getStored() << " nor f32";
  return verifyPath(*this, getSrc(), getDst(), {{L0C, UB}});
}

LogicalResult RequantizeAddOp::verify() {
  using enum MemoryKind;
  constexpr DataType kBytes[] = {DataType::U8, DataType::S8};
  if (failed(verifyCommon(*this)) ||
      failed(verifyType(*this, "type", getType(), {DataType::F32, DataType::S32})) ||
      failed(verifyType(*this, "stored", getStored(), kBytes)) ||
      failed(verifyType(*this, "dst_type", getDstType(), kBytes)) ||
      failed(verifyType(*this, "addend_type", getAddendType(), kBytes)) ||
      failed(verifyMemory(*this, "scales", getScales(), UB)) ||
      failed(verifyMemory(*this, "addend", getAddend(), UB)))
    return failure();
  return verifyPath(*this, getSrc(), getDst(), {{L0C, UB}});
}

LogicalResult VectorInstrOp::verify() {
  if (failed(verifyCommon(*this)) || failed(verifyType(*this, "type", getType(), kAnyType)) ||
      failed(verifyType(*this, "dst_type", getDstType(), kAnyType)))
    return failure();
  for (auto [name, buffer] :
       {std::pair("dst", getDst()), {"a", getA()}, {"b", getB()}, {"mask", getMask()}})
    if (failed(verifyMemory(*this, name, buffer, MemoryKind::UB)))
      return failure();
  std::optional<npu::VectorOp> op = npu::findVectorOp(getOp().str());
  if (!op)
    return emitOpError() << "knows no operation \"" << getOp() << '"';
  auto [a, b, mask] = npu::operandsOf(*op);
  if (bool(getA()) != a || bool(getB()) != b || bool(getMask()) != mask)
    return emitOpError() << '"' << getOp() << "\" takes" << (a ? " a" : "") << (b ? " b" : "")
                         << (mask ? " mask" : "") << (a || b || mask ? "" : " no buffers");
  return success();
}

LogicalResult TransposeOp::verify() {
  if (failed(verifyCommon(*this)) || failed(verifyMemory(*this, "dst", getDst(), MemoryKind::UB)))
    return failure();
  return verifyMemory(*this, "src", getSrc(), MemoryKind::UB);
}

//===----------------------------------------------------------------------===//
// Sync
//===----------------------------------------------------------------------===//

template <typename OpT> static LogicalResult verifyFlag(OpT op) {
  if (op.getFrom() == op.getTo() || op.getFrom() == QueueKind::S || op.getTo() == QueueKind::S)
    return op.emitOpError("orders two different queues, not the scalar one");
  int64_t id = op.getId(), slots = op.getSlots(), depth = op.getDepth();
  if (id < 0 || slots < 1 || id + slots > int64_t(kFlagIds))
    return op.emitOpError() << "uses flags " << id << " to " << id + slots - 1 << " of "
                            << kFlagIds;
  int64_t loops = 0;
  for (auto loop = op->template getParentOfType<LoopOp>(); loop;
       loop = loop->template getParentOfType<LoopOp>())
    ++loops;
  if (depth < 0 || depth > loops)
    return op.emitOpError() << "counts " << depth << " loops, there are " << loops;
  return success();
}

LogicalResult SetFlagOp::verify() { return verifyFlag(*this); }
LogicalResult WaitFlagOp::verify() { return verifyFlag(*this); }

static LogicalResult verifyEvent(Operation *op, int64_t event) {
  if (event < 0 || event >= int64_t(kEvents))
    return op->emitOpError() << "uses event " << event << " of " << kEvents;
  return success();
}

LogicalResult SignalOp::verify() { return verifyEvent(*this, getEvent()); }

LogicalResult AwaitOp::verify() {
  if (failed(verifyEvent(*this, getEvent())) || failed(verifyIvs(*this, getIvs())))
    return failure();
  return verifyRanges(*this, getIvs().size());
}
