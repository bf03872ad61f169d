//===-- ProgramEncoder.cpp - encodes npu.program as instructions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges and fields of an instruction are the op's attributes of the same names, so nothing here
// has to be kept in step with Isa.def.

#include "backends/npu/ProgramEncoder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::npu {

std::string attributeName(StringRef part) {
  std::string result;
  for (char c : part) {
    if (llvm::isUpper(c))
      result += '_';
    result += llvm::toLower(c);
  }
  return result;
}

namespace {

/// The op's buffers in the order of the instruction's addresses; null where an
/// optional one is missing.
SmallVector<Value> buffersOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([](ir::MmadOp op) {
        return SmallVector<Value>{op.getDst(), op.getA(), op.getB(), op.getBias()};
      })
      .Case([](ir::VectorInstrOp op) {
        return SmallVector<Value>{op.getDst(), op.getA(), op.getB(), op.getMask()};
      })
      .Default([](Operation *op) {
        SmallVector<Value> buffers;
        for (Value operand : op->getOperands())
          if (isa<ir::BufferType>(operand.getType()))
            buffers.push_back(operand);
        return buffers;
      });
}

class Encoder {
public:
  explicit Encoder(ir::ProgramOp program) : source(program) {}

  FailureOr<Program> encode() {
    program.vectorCore = source.getVectorCore();
    for (auto [index, size] : llvm::enumerate(source.getGrid())) {
      program.grid[index] = size;
      ivNumbers[source.getCoordinates()[index]] = index;
    }
    for (BlockArgument buffer : source.getBuffers())
      program.arguments.push_back(cast<ir::BufferType>(buffer.getType()).getBytes());
    if (failed(encodeBlock(*source.getBody())))
      return failure();
    return std::move(program);
  }

private:
  LogicalResult encodeBlock(Block &block) {
    for (Operation &op : block) {
      if (isa<ir::AllocOp>(op))
        continue;
      if (auto loop = dyn_cast<ir::LoopOp>(op)) {
        append(Opcode::LoopBegin).fields[LoopBegin::trips] = loop.getTrips();
        ivNumbers[loop.getIv()] = kGridDims + depth++;
        if (failed(encodeBlock(*loop.getBody())))
          return failure();
        --depth;
        append(Opcode::LoopEnd);
      } else if (failed(encodeInstruction(&op))) {
        return failure();
      }
    }
    return success();
  }

  Instruction &append(Opcode opcode) {
    Instruction &instruction = program.code.emplace_back();
    instruction.opcode = opcode;
    instruction.line = program.code.size() - 1;
    return instruction;
  }

  LogicalResult encodeInstruction(Operation *op) {
    std::optional<Opcode> opcode = ir::opcodeOf(op);
    if (!opcode)
      return op->emitError("has no encoding: only npu instructions can stand in a program");
    SmallVector<unsigned> ivs;
    for (Value operand : op->getOperands())
      if (operand.getType().isIndex())
        ivs.push_back(ivNumbers.lookup(operand));

    Instruction instruction;
    instruction.opcode = *opcode;
    if (auto guard = op->getAttrOfType<ir::GuardAttr>("guard"))
      instruction.guard = {Guard::Kind(guard.getKind()), uint8_t(ivs[guard.getIv()])};
    auto offsets = op->getAttrOfType<ArrayAttr>("offsets");
    unsigned next = 0;
    for (auto [index, buffer] : llvm::enumerate(buffersOf(op)))
      if (buffer && failed(encodeAddress(op, buffer, cast<ir::AffineAttr>(offsets[next++]), ivs,
                                         instruction.addresses[index])))
        return failure();
    const OpcodeInfo &info = infoOf(*opcode);
    for (unsigned i = 0; i < info.rangeCount; ++i) {
      FailureOr<Attribute> range = findAttribute(op, info.ranges[i]);
      if (failed(range))
        return failure();
      if (auto given = dyn_cast_or_null<ir::RangeAttr>(*range))
        instruction.ranges[i] = encodeRange(given, ivs);
    }
    for (unsigned i = 0; i < info.fieldCount; ++i) {
      if (auto mmad = dyn_cast<ir::MmadOp>(op); mmad && i == unsigned(Mmad::useBias)) {
        instruction.fields[i] = bool(mmad.getBias());
        continue;
      }
      FailureOr<Attribute> field = findAttribute(op, info.fields[i].name);
      if (failed(field) || failed(encodeField(op, *field, ivs, instruction.fields[i])))
        return failure();
    }
    append(*opcode) = instruction;
    program.code.back().line = program.code.size() - 1;
    return success();
  }

  /// Returns the attribute of a part, null for one that the op may leave out. An op that is
  /// defined without it is an error: the part would be 0 whatever the program means.
  static FailureOr<Attribute> findAttribute(Operation *op, StringRef part) {
    const std::string name = attributeName(part);
    if (llvm::is_contained(op->getName().getAttributeNames(), StringRef(name)))
      return op->getAttr(name);
    return op->emitError("is defined without the attribute '")
           << name << "', which '" << part << "' of its instruction is encoded from";
  }

  static Affine encodeAffine(ir::AffineAttr affine, ArrayRef<unsigned> ivs) {
    Affine result;
    if (!affine)
      return result;
    result.base = affine.getBase();
    for (auto [index, stride] : llvm::enumerate(affine.getStrides()))
      result.strides[ivs[index]] += stride;
    return result;
  }

  static Range encodeRange(ir::RangeAttr range, ArrayRef<unsigned> ivs) {
    return {encodeAffine(range.getStart(), ivs), range.getLength(), range.getLimit()};
  }

  LogicalResult encodeAddress(Operation *op, Value buffer, ir::AffineAttr offset,
                              ArrayRef<unsigned> ivs, Address &address) {
    auto type = cast<ir::BufferType>(buffer.getType());
    address.memory = Memory(type.getMemory());
    address.offset = encodeAffine(offset, ivs);
    if (auto argument = dyn_cast<BlockArgument>(buffer)) {
      address.argument = argument.getArgNumber();
      return success();
    }
    auto alloc = buffer.getDefiningOp<ir::AllocOp>();
    if (!alloc || !alloc.getOffset())
      return op->emitError(
          "uses a buffer that has no place: npu-allocate-local-memory has not run");
    address.offset.base += *alloc.getOffset();
    address.slots = alloc.getBuffers();
    if (address.slots == 1)
      return success();
    for (auto loop = alloc->getParentOfType<ir::LoopOp>(); loop;
         loop = loop->getParentOfType<ir::LoopOp>())
      ++address.depth;
    address.slotBytes = llvm::alignTo(type.getBytes(), kFractalBytes);
    return success();
  }

  static LogicalResult encodeField(Operation *op, Attribute value, ArrayRef<unsigned> ivs,
                                   int64_t &field) {
    if (!value)
      return success(); // a flag that is not set
    return llvm::TypeSwitch<Attribute, LogicalResult>(value)
        .Case([&](IntegerAttr number) {
          field = number.getInt();
          return success();
        })
        .Case([&](UnitAttr) {
          field = 1;
          return success();
        })
        .Case([&](FloatAttr number) {
          field = floatBits(number.getValueAsDouble());
          return success();
        })
        .Case([&](TypeAttr type) {
          std::optional<DataType> known = ir::dataTypeOf(type.getValue());
          field = known ? int64_t(*known) : 0;
          return success(known.has_value());
        })
        .Case([&](StringAttr name) {
          std::optional<VectorOp> known = findVectorOp(name.str());
          field = known ? int64_t(*known) : 0;
          return success(known.has_value());
        })
        .Case([&](ir::QueueKindAttr queue) {
          field = int64_t(queue.getValue());
          return success();
        })
        .Case([&](DenseI64ArrayAttr set) {
          for (int64_t iv : set.asArrayRef())
            field |= int64_t(1) << ivs[iv];
          return success();
        })
        .Default([&](Attribute) { return op->emitError("has an attribute without encoding"); });
  }

  ir::ProgramOp source;
  Program program;
  DenseMap<Value, unsigned> ivNumbers;
  unsigned depth = 0;
};

} // namespace

FailureOr<Program> encodeProgram(ir::ProgramOp program) { return Encoder(program).encode(); }

} // namespace atc::npu
