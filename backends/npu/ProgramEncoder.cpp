//===-- ProgramEncoder.cpp - encodes npu.program as instructions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers and attributes come from InstructionOpInterface in the order of the instruction's parts,
// so nothing here depends on single instructions.

#include "backends/npu/ProgramEncoder.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;

namespace atc::npu {

namespace {

class Encoder {
public:
  /// The layers of a program by their positions.
  using Layers = std::map<int64_t, Layer>;

  /// Adds the program's layers to `layers`.
  Encoder(ir::ProgramOp program, Layers &layers) : source(program), layers(layers) {}

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
      if (auto layer = dyn_cast<ir::LayerOp>(op)) {
        layers[layer.getPosition()] = {
            uint32_t(program.code.size()), layer.getName().take_front(kMaxNameBytes).str(),
            layer.getKernel().take_front(kMaxNameBytes).str(), uint64_t(layer.getMacs())};
        continue;
      }
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
    auto source = dyn_cast<ir::InstructionOpInterface>(op);
    if (!source)
      return op->emitError("has no encoding: only npu instructions can stand in a program");
    const ir::InstructionParts parts = source.getParts();
    const OpcodeInfo &info = infoOf(source.getOpcode());
    SmallVector<unsigned> ivs;
    for (Value iv : parts.ivs)
      ivs.push_back(ivNumbers.lookup(iv));

    Instruction instruction;
    instruction.opcode = source.getOpcode();
    if (parts.guard)
      instruction.guard = {Guard::Kind(parts.guard.getKind()), uint8_t(ivs[parts.guard.getIv()])};
    unsigned next = 0;
    for (auto [index, buffer] : llvm::enumerate(parts.buffers))
      if (buffer && failed(encodeAddress(op, buffer, cast<ir::AffineAttr>(parts.offsets[next++]),
                                         ivs, instruction.addresses[index])))
        return failure();
    for (auto [index, range] : llvm::enumerate(parts.ranges))
      instruction.ranges[index] = encodeRange(range, ivs);
    for (auto [index, field] : llvm::enumerate(parts.fields))
      instruction.fields[index] = encodeField(info.fields[index], field.second, ivs);
    append(instruction.opcode) = instruction;
    program.code.back().line = program.code.size() - 1;
    return success();
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

  /// Returns the bits of a field. The verifier has passed the op, so the attribute has the type
  /// that ODS states for this kind, and only those that may be left out are null.
  static int64_t encodeField(const FieldInfo &info, Attribute value, ArrayRef<unsigned> ivs) {
    if (!value) {
      assert(info.kind == FieldKind::Flag || info.mayLack);
      return info.kind == FieldKind::Float ? floatBits(info.initial) : int64_t(info.initial);
    }
    switch (info.kind) {
    case FieldKind::Bytes:
    case FieldKind::Count:
      return cast<IntegerAttr>(value).getInt();
    case FieldKind::Flag:
      return 1;
    case FieldKind::Float:
      return floatBits(cast<FloatAttr>(value).getValueAsDouble());
    case FieldKind::Type:
      return int64_t(*ir::dataTypeOf(cast<TypeAttr>(value).getValue()));
    case FieldKind::Op:
      return int64_t(*findVectorOp(cast<StringAttr>(value).getValue()));
    case FieldKind::Unit:
      return int64_t(cast<ir::QueueKindAttr>(value).getValue());
    case FieldKind::Mask: {
      int64_t set = 0;
      for (int64_t iv : cast<DenseI64ArrayAttr>(value).asArrayRef())
        set |= int64_t(1) << ivs[iv];
      return set;
    }
    }
    llvm_unreachable("all kinds of fields are encoded");
  }

  ir::ProgramOp source;
  Layers &layers;
  Program program;
  DenseMap<Value, unsigned> ivNumbers;
  unsigned depth = 0;
};

} // namespace

/// Appends the section on vector cores to the program of that on cube cores.
static LogicalResult appendVectorPart(ir::ProgramOp part, Program &program,
                                      Encoder::Layers &layers) {
  FailureOr<Program> vector = Encoder(part, layers).encode();
  if (failed(vector))
    return failure();
  program.vectorBegin = uint32_t(program.code.size());
  llvm::copy(vector->grid, program.vectorGrid);
  for (Instruction &instruction : vector->code) {
    instruction.line += program.vectorBegin;
    program.code.push_back(instruction);
  }
  return success();
}

FailureOr<Program> encodeProgram(ir::ProgramOp program) {
  Encoder::Layers layers, vectorLayers;
  FailureOr<Program> encoded = Encoder(program, layers).encode();
  if (failed(encoded))
    return failure();
  if (ir::ProgramOp part = program.findVectorPart())
    if (failed(appendVectorPart(part, *encoded, vectorLayers)))
      return failure();
  for (auto &[position, layer] : vectorLayers) {
    layer.begin += encoded->vectorBegin;
    layers.emplace(position, std::move(layer));
  }
  for (auto &[position, layer] : layers)
    encoded->layers.push_back(std::move(layer));
  return encoded;
}

llvm::DenseSet<StringRef> vectorPartsIn(ModuleOp module) {
  llvm::DenseSet<StringRef> names;
  for (auto program : module.getOps<ir::ProgramOp>())
    if (program.getVectorPart())
      names.insert(*program.getVectorPart());
  return names;
}

} // namespace atc::npu
