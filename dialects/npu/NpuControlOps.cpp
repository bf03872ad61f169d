//===-- NpuControlOps.cpp - programs and loops ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/npu/Npu.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace atc::npu::ir;

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

ArrayRef<BlockArgument> ProgramOp::getBuffers() {
  return getBody()->getArguments().drop_back(getGrid().size());
}
ArrayRef<BlockArgument> ProgramOp::getCoordinates() {
  return getBody()->getArguments().take_back(getGrid().size());
}

ProgramOp ProgramOp::findVectorPart() {
  return getVectorPart()
             ? SymbolTable::lookupNearestSymbolFrom<ProgramOp>(*this, getVectorPartAttr())
             : ProgramOp();
}

size_t ProgramOp::countLayers() {
  const auto layers = getBody()->getOps<LayerOp>();
  size_t count = size_t(std::distance(layers.begin(), layers.end()));
  if (ProgramOp part = findVectorPart())
    count += part.countLayers();
  return std::max<size_t>(count, 1);
}

/// @name(%a: type, ...) grid(%x = 8, ...) soc "name" [vector_core] [with @other]
/// [attributes {...}] { ... }
ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments, coordinates;
  SmallVector<int64_t> grid;
  Type index = parser.getBuilder().getIndexType();
  auto parseCoordinate = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = coordinates.emplace_back();
    argument.type = index;
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseInteger(grid.emplace_back()));
  };
  std::string soc;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseKeyword("grid") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseCoordinate) ||
      parser.parseKeyword("soc") || parser.parseString(&soc))
    return failure();
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("vector_core")))
    result.addAttribute(getVectorCoreAttrName(result.name), builder.getUnitAttr());
  if (succeeded(parser.parseOptionalKeyword("with"))) {
    StringAttr part;
    if (parser.parseSymbolName(part))
      return failure();
    result.addAttribute(getVectorPartAttrName(result.name), FlatSymbolRefAttr::get(part));
  }
  result.addAttribute(getGridAttrName(result.name), builder.getDenseI64ArrayAttr(grid));
  result.addAttribute(getSocAttrName(result.name), builder.getStringAttr(soc));
  llvm::append_range(arguments, coordinates);
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  return success();
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(getBuffers(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") grid(";
  llvm::interleaveComma(llvm::zip(getCoordinates(), getGrid()), printer, [&](auto coordinate) {
    printer.printOperand(std::get<0>(coordinate));
    printer << " = " << std::get<1>(coordinate);
  });
  printer << ") soc " << getSocAttr() << (getVectorCore() ? " vector_core" : "");
  if (getVectorPart()) {
    printer << " with ";
    printer.printSymbolName(*getVectorPart());
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getGridAttrName(), getSocAttrName(),
                            getVectorCoreAttrName(), getVectorPartAttrName()});
  printer << ' ';
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false);
}

LogicalResult ProgramOp::verify() {
  ArrayRef<int64_t> grid = getGrid();
  if (grid.empty() || grid.size() > kGridDims)
    return emitOpError() << "has a grid of " << grid.size() << " dims, 1 to " << kGridDims
                         << " are possible";
  if (llvm::any_of(grid, [](int64_t size) { return size < 1; }))
    return emitOpError("has a grid without cores");
  if (getBody()->getNumArguments() < grid.size())
    return emitOpError("has not a coordinate for each dim of its grid");
  for (BlockArgument argument : getBuffers()) {
    auto type = dyn_cast<BufferType>(argument.getType());
    if (!type || type.getMemory() != MemoryKind::GM)
      return emitOpError() << "argument " << argument.getArgNumber()
                           << " must be a buffer in gm, not " << argument.getType();
  }
  return success();
}

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getVectorPart())
    return success();
  auto part = symbols.lookupNearestSymbolFrom<ProgramOp>(*this, getVectorPartAttr());
  if (!part || !part.getVectorCore() || getVectorCore())
    return emitOpError() << "runs on cube cores with " << getVectorPartAttr()
                         << ", which must be a program with vector_core";
  if (part.getSoc() != getSoc() ||
      TypeRange(ValueRange(part.getBuffers())) != TypeRange(ValueRange(getBuffers())))
    return emitOpError() << "and its part " << getVectorPartAttr()
                         << " must have the same buffers and the same SoC";
  return success();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// %i = 7 { ... }
ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument iv;
  iv.type = parser.getBuilder().getIndexType();
  int64_t trips;
  if (parser.parseArgument(iv) || parser.parseEqual() || parser.parseInteger(trips))
    return failure();
  result.addAttribute(getTripsAttrName(result.name), parser.getBuilder().getI64IntegerAttr(trips));
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), iv))
    return failure();
  return success();
}

void LoopOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printOperand(getIv());
  printer << " = " << getTrips();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getTripsAttrName()});
  printer << ' ';
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false);
}

LogicalResult LoopOp::verify() {
  if (int64_t(getTrips()) < 1)
    return emitOpError() << "runs " << int64_t(getTrips()) << " times, once is the least";
  if (getBody()->getNumArguments() != 1 || !getIv().getType().isIndex())
    return emitOpError("needs one iv");
  unsigned depth = 1;
  for (auto loop = (*this)->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>())
    ++depth;
  if (depth > kMaxLoops)
    return emitOpError() << "is " << depth << " loops deep, " << kMaxLoops << " are possible";
  if (!(*this)->getParentOfType<ProgramOp>())
    return emitOpError("stands in no npu.program");
  return success();
}
