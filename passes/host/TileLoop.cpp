//===-- TileLoop.cpp - the function that stands for a loop over tiles -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/TileLoop.h"

#include "passes/host/Passes.h"

using namespace mlir;

namespace atc::host {

SmallVector<int64_t> orderTileSizes(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> ordered(sizes);
  llvm::sort(ordered, std::greater<int64_t>());
  if (ordered.empty() || ordered.back() != 1)
    ordered.push_back(1);
  return ordered;
}

func::FuncOp makeTileLoop(ModuleOp module, Location loc, StringRef name, FunctionType type,
                          ArrayRef<func::FuncOp> tiles, ArrayRef<int64_t> sizes,
                          ArrayRef<int64_t> inputDims, ArrayRef<int64_t> outputDims) {
  assert(tiles.size() == sizes.size() && "every tile has a size");
  Builder builder(module.getContext());
  auto loop = func::FuncOp::create(loc, name, type);
  loop.setPrivate();
  module.push_back(loop);
  SmallVector<Attribute> names = llvm::map_to_vector(tiles, [](func::FuncOp tile) {
    return Attribute(FlatSymbolRefAttr::get(tile.getSymNameAttr()));
  });
  loop->setAttr(kTilesAttr, builder.getArrayAttr(names));
  loop->setAttr(kTileSizesAttr, builder.getDenseI64ArrayAttr(sizes));
  loop->setAttr(kInputDimsAttr, builder.getDenseI64ArrayAttr(inputDims));
  loop->setAttr(kOutputDimsAttr, builder.getDenseI64ArrayAttr(outputDims));
  return loop;
}

} // namespace atc::host
