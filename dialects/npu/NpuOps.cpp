//===-- NpuOps.cpp - verifiers of instructions and buffers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules that depend on a SoC's sizes are checked on the encoded program, where all addresses are
// known (npu/isa/Verify.h); this file has the rules that hold for all SoCs. The memories and
// element types of an instruction are those of npu/isa/Isa.def.

#include "dialects/npu/Npu.h"

#include "npu/isa/SetText.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atc::npu::ir;
namespace npu = atc::npu;
using atc::npu::AddressInfo;
using atc::npu::DataType;
using atc::npu::FieldKind;
using atc::npu::kEvents;
using atc::npu::kFlagIds;
using atc::npu::Memory;
using atc::npu::MemoryPath;
using atc::npu::OpcodeInfo;

#include "dialects/npu/NpuInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/npu/NpuOps.cpp.inc"

namespace {

/// Returns the alignment of accesses in bytes, on any SoC.
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

LogicalResult verifyRanges(Operation *op, const InstructionParts &parts) {
  const OpcodeInfo &info = npu::infoOf(cast<InstructionOpInterface>(op).getOpcode());
  for (auto [index, range] : llvm::enumerate(parts.ranges))
    if (range.getStart() &&
        failed(verifyAffine(op, "the start of '" + Twine(info.ranges[index]) + "'",
                            range.getStart(), parts.ivs.size())))
      return failure();
  return success();
}

/// Checks that there is an address per buffer, and its alignment.
LogicalResult verifyAddresses(Operation *op, const InstructionParts &parts) {
  SmallVector<Value> buffers;
  llvm::copy_if(parts.buffers, std::back_inserter(buffers), [](Value buffer) { return buffer; });
  size_t count = parts.offsets ? parts.offsets.size() : 0;
  if (buffers.size() != count)
    return op->emitOpError() << "has " << count << " addresses for " << buffers.size()
                             << " buffers";
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    auto offset = cast<AffineAttr>(parts.offsets[index]);
    if (failed(verifyAffine(op, "address " + Twine(index), offset, parts.ivs.size())))
      return failure();
    int64_t alignment = alignmentOf(memoryOf(buffer));
    auto isMisaligned = [&](int64_t bytes) { return bytes % alignment != 0; };
    if (isMisaligned(offset.getBase()) || llvm::any_of(offset.getStrides(), isMisaligned))
      return op->emitOpError() << "address " << index << " is not always a multiple of "
                               << alignment << " bytes, as "
                               << stringifyMemoryKind(memoryOf(buffer)) << " needs";
  }
  return success();
}

/// Checks that there are no attributes beside those of Isa.def: a misspelt one would pass for one
/// that is left out.
LogicalResult verifyNames(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!attribute.getName().strref().contains('.'))
      return op->emitOpError() << "has the attribute '" << attribute.getName().strref()
                               << "', which is no part of the instruction";
  return success();
}

/// Checks that the element types are among those of Isa.def.
LogicalResult verifyTypes(Operation *op, const OpcodeInfo &info, const InstructionParts &parts) {
  for (auto [index, field] : llvm::enumerate(parts.fields)) {
    if (info.fields[index].kind != FieldKind::Type)
      continue;
    Type type = cast<TypeAttr>(field.second).getValue();
    std::optional<DataType> known = dataTypeOf(type);
    if (!known || !(npu::setOf(*known) & info.fields[index].types))
      return op->emitOpError() << "has the " << field.first << " " << type
                               << ", which it cannot work on";
  }
  return success();
}

/// Checks that the buffers are in memories of Isa.def.
LogicalResult verifyMemories(Operation *op, npu::Opcode opcode, const OpcodeInfo &info,
                             const InstructionParts &parts) {
  ArrayRef<MemoryPath> paths(npu::pathsOf(opcode));
  if (!paths.empty()) {
    MemoryPath path = {Memory(memoryOf(parts.buffers[1])), Memory(memoryOf(parts.buffers[0]))};
    if (!llvm::is_contained(paths, path)) {
      InFlightDiagnostic error = op->emitOpError() << "cannot go from " << nameOf(path.from)
                                                   << " to " << nameOf(path.to) << "; it goes";
      for (auto [index, other] : llvm::enumerate(paths))
        error << (index ? ", " : " ") << nameOf(other.from) << " to " << nameOf(other.to);
      return error;
    }
  }
  for (auto [index, buffer] : llvm::enumerate(parts.buffers)) {
    const AddressInfo &address = info.addresses[index];
    if (!buffer || (npu::setOf(Memory(memoryOf(buffer))) & address.memories))
      continue;
    return op->emitOpError() << address.name << " is in " << stringifyMemoryKind(memoryOf(buffer))
                             << ", it must be in " << npu::textOf<Memory>(address.memories);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rules that relate several parts of an instruction
//===----------------------------------------------------------------------===//

LogicalResult verifyRules(LoadImageOp op) {
  if (!op.getScale().isZero() && !isa<FloatType>(op.getType()))
    return op.emitOpError() << "quantizes f32 and f16, not " << op.getType();
  if (op.getC0() != 4 && op.getC0() != 16)
    return op.emitOpError() << "c0 is " << op.getC0() << ", it must be 4 or 16";
  if (op.getChannels() < 1 || op.getChannels() > op.getC0())
    return op.emitOpError() << "has " << op.getChannels() << " channels for c0 " << op.getC0();
  return success();
}

LogicalResult verifyRules(LoadYuvOp op) {
  if (op.getC0() != 4 && op.getC0() != 16)
    return op.emitOpError() << "c0 is " << op.getC0() << ", it must be 4 or 16";
  if (op.getChannels() < 1 || op.getChannels() > 3)
    return op.emitOpError() << "makes " << op.getChannels() << " channels of 3";
  if (op.getWidth() < 2 || op.getWidth() % 2 != 0)
    return op.emitOpError() << "has rows of " << op.getWidth() << " pixels, which are no pairs";
  return success();
}

LogicalResult verifyRules(Img2ColOp op) {
  for (auto [name, value] : {std::pair("stride_h", op.getStrideH()),
                             {"stride_w", op.getStrideW()},
                             {"dilation_h", op.getDilationH()},
                             {"dilation_w", op.getDilationW()},
                             {"kernel_h", op.getKernelH()},
                             {"kernel_w", op.getKernelW()},
                             {"out_width", op.getOutWidth()},
                             {"out_height", op.getOutHeight()}})
    if (int64_t(value) < 1)
      return op.emitOpError() << name << " is " << value << ", 1 is the least";
  int64_t c0 = op.getC0();
  if (c0 != 4 && c0 * int64_t(op.getElementBytes()) != 32)
    return op.emitOpError() << "c0 " << c0 << " of " << op.getElementBytes()
                            << "-byte elements is not a block of 32 bytes";
  return success();
}

LogicalResult verifyRules(MmadOp op) {
  for (int64_t iv : op.getFirst())
    if (iv < 0 || uint64_t(iv) >= op.getIvs().size())
      return op.emitOpError() << "first names iv " << iv << " of " << op.getIvs().size();
  return success();
}

LogicalResult verifyRules(MoveL0COp op) {
  DataType type = *dataTypeOf(op.getDstType());
  bool isPossible = op.getType().isInteger()
                        ? llvm::is_contained({DataType::S32, DataType::F16, DataType::S8}, type)
                        : llvm::is_contained({DataType::F32, DataType::F16, DataType::BF16}, type);
  if (isPossible)
    return success();
  return op.emitOpError() << "has the dst_type " << op.getDstType() << ", which it cannot work on";
}

LogicalResult verifyRules(RequantizeOp op) {
  if (op.getDstType() != op.getStored() && !op.getDstType().isF32())
    return op.emitOpError() << "has the dst_type " << op.getDstType() << ", which is neither "
                            << op.getStored() << " nor f32";
  const bool toUb = memoryOf(op.getDst()) == MemoryKind::UB,
             fromUb = memoryOf(op.getScales()) == MemoryKind::UB;
  if (toUb != fromUb)
    return op.emitOpError() << "has scales in " << stringifyMemoryKind(memoryOf(op.getScales()))
                            << ", they must be in "
                            << (toUb ? "ub: it writes to ub" : "l1: it writes to gm");
  return success();
}

LogicalResult verifyRules(GatherRowsOp op) {
  if (int64_t(op.getTableRows()) < 1 || int64_t(op.getTableRows()) > INT32_MAX)
    return op.emitOpError() << "has a table of " << op.getTableRows()
                            << " rows, it must have 1 to 2147483647";
  if (int64_t(op.getSrcRow()) < 0)
    return op.emitOpError() << "src_row is " << int64_t(op.getSrcRow()) << ", 0 is the least";
  if (op.getIndexStep() != 4 && op.getIndexStep() != 8)
    return op.emitOpError() << "index_step is " << op.getIndexStep() << ", it must be 4 or 8";
  return success();
}

LogicalResult verifyRules(npu::ir::VectorOp op) {
  std::optional<npu::VectorOp> operation = npu::findVectorOp(op.getOp().str());
  if (!operation)
    return op.emitOpError() << "knows no operation \"" << op.getOp() << '"';
  const bool isSource = npu::isCast(*operation) || *operation == npu::VectorOp::Broadcast;
  if (dataTypeOf(op.getType()) == DataType::S64 && !isSource)
    return op.emitOpError() << "can only broadcast and cast integers of 64 bits";
  auto [a, b, mask] = npu::operandsOf(*operation);
  if (bool(op.getA()) != a || bool(op.getB()) != b || bool(op.getMask()) != mask)
    return op.emitOpError() << '"' << op.getOp() << "\" takes" << (a ? " a" : "") << (b ? " b" : "")
                            << (mask ? " mask" : "") << (a || b || mask ? "" : " no buffers");
  return success();
}

template <typename OpT> LogicalResult verifyFlag(OpT op) {
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

LogicalResult verifyRules(SetFlagOp op) { return verifyFlag(op); }
LogicalResult verifyRules(WaitFlagOp op) { return verifyFlag(op); }

LogicalResult verifyEvent(Operation *op, int64_t event) {
  if (event < 0 || event >= int64_t(kEvents))
    return op->emitOpError() << "uses event " << event << " of " << kEvents;
  return success();
}

LogicalResult verifyRules(SignalOp op) { return verifyEvent(op, op.getEvent()); }
LogicalResult verifyRules(AwaitOp op) { return verifyEvent(op, op.getEvent()); }

} // namespace

LogicalResult atc::npu::ir::verifyInstruction(Operation *op) {
  auto instruction = cast<InstructionOpInterface>(op);
  InstructionParts parts = instruction.getParts();
  const OpcodeInfo &info = infoOf(instruction.getOpcode());
  if (failed(verifyNames(op)) || failed(verifyIvs(op, parts.ivs)) ||
      failed(verifyRanges(op, parts)) || failed(verifyAddresses(op, parts)))
    return failure();
  if (parts.guard && uint64_t(parts.guard.getIv()) >= parts.ivs.size())
    return op->emitOpError() << "is guarded by iv " << parts.guard.getIv() << " of "
                             << parts.ivs.size();
  if (failed(verifyTypes(op, info, parts)) ||
      failed(verifyMemories(op, instruction.getOpcode(), info, parts)))
    return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LoadImageOp, LoadYuvOp, Img2ColOp, MmadOp, MoveL0COp, RequantizeOp, npu::ir::VectorOp,
            GatherRowsOp, SetFlagOp, WaitFlagOp, SignalOp, AwaitOp>(
          [](auto op) { return verifyRules(op); })
      .Default(success());
}

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
