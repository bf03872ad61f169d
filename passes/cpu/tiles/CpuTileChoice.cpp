//===-- CpuTileChoice.cpp - tiles that somebody has set -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/CpuTileChoice.h"

#include "passes/Choices.h"
#include "passes/cpu/tiles/KernelBuilder.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// The bounds of a tile that a kernel's expansion can follow.
struct TileLimits {
  int64_t pixels;      ///< in a row, of tiles that end with it
  int64_t allPixels;   ///< of tiles across row ends
  int64_t rows;        ///< per task
  int64_t blocks;      ///< of channels
  int64_t inputBlocks; ///< of the contracted dim; its elements for a matrix product
  int64_t width;       ///< channels per block
  bool even;           ///< register tiles and tasks divide the channel blocks
  bool evenTasks;
  ArrayRef<int64_t> tileBlocks; ///< channel blocks that a register tile may have
};

std::optional<TileAttr> parse(MLIRContext *context, StringRef text) {
  constexpr int64_t kMaxSize = 1 << 20;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  int64_t sizes[6];
  if (parts.size() != std::size(sizes))
    return std::nullopt;
  for (auto [part, size] : llvm::zip_equal(parts, sizes))
    if (part.getAsInteger(10, size) || size < 0 || size > kMaxSize)
      return std::nullopt;
  if (sizes[5] > 1 || llvm::is_contained(ArrayRef(sizes).take_front(5), 0))
    return std::nullopt;
  return TileAttr::get(context, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5] == 1);
}

/// Returns the reason why a tile is not possible; empty: it is.
StringRef whyUnfit(TileAttr tile, const TileLimits &limits, LevelAttr level) {
  const int64_t vectors = std::max<int64_t>(1, limits.width / level.getLanes());
  const int64_t held = tile.getBlocks() * vectors * (tile.getPixels() + (tile.getPixels() > 1));
  if (held + 1 > level.getRegisters())
    return "the register tile needs more registers than the CPU level has";
  if (tile.getPixels() > (tile.getFlatten() ? limits.allPixels : limits.pixels))
    return "the register tile has more pixels than the output";
  if (tile.getRows() > limits.rows || (tile.getFlatten() && tile.getRows() != limits.rows))
    return "the tasks have more rows than the output, or not all of them for tiles across rows";
  if (!llvm::is_contained(limits.tileBlocks, tile.getBlocks()) ||
      tile.getBlocks() > limits.blocks || (limits.even && limits.blocks % tile.getBlocks()))
    return "the register tile's channel blocks do not divide those of the output";
  if (tile.getGroups() % tile.getBlocks() ||
      tile.getGroups() > int64_t(llvm::alignTo(limits.blocks, tile.getBlocks())) ||
      (limits.evenTasks && limits.blocks % tile.getGroups()))
    return "the tasks' channel blocks are no multiple of the register tile's";
  if (limits.inputBlocks % tile.getDepth())
    return "the depth does not divide the channel blocks of the input";
  return "";
}

TileAttr choose(Operation *op, TileAttr own, LevelAttr level, StringRef pass,
                const TileLimits &limits) {
  if (!usesChoices(op))
    return own;
  std::string properties;
  llvm::raw_string_ostream(properties) << level;
  const std::string key = choiceKey(pass, level.getName(), identify(op, properties));
  TileAttr tile = own;
  if (std::optional<StringRef> given = givenChoice(op, key)) {
    std::optional<TileAttr> parsed = parse(op->getContext(), *given);
    const StringRef why =
        parsed ? whyUnfit(*parsed, limits, level)
               : "it must have the form pixels,blocks,rows,groups,depth,flatten with positive "
                 "sizes and 0 or 1 for the last";
    if (why.empty())
      tile = *parsed;
    else
      reportUnfit(op, key, *given, why);
  }
  remarkChoice(pass, op->getLoc(), key, textOf(tile));
  return tile;
}

} // namespace

std::string textOf(TileAttr tile) {
  std::string text;
  for (int64_t size :
       {tile.getPixels(), tile.getBlocks(), tile.getRows(), tile.getGroups(), tile.getDepth()})
    text += std::to_string(size) + ",";
  return text + (tile.getFlatten() ? "1" : "0");
}

void copyChoiceTable(ModuleOp from, ModuleOp to) {
  if (Attribute choices = from->getAttr(kChoicesAttr))
    to->setAttr(kChoicesAttr, choices);
}

TileAttr chosenTile(Conv2DOp op, TileAttr own, LevelAttr level, StringRef pass) {
  ArrayRef<int64_t> out = shapeOf(op.getOutput()), filter = shapeOf(op.getFilter());
  static constexpr int64_t tileBlocks[] = {1, 2, 4};
  return choose(op, own, level, pass,
                {out[3], out[2] * out[3], out[2], int64_t(out[1] / op.getGroups()),
                 int64_t(op.getChannels() / filter[4]), filter[5], /*even=*/true,
                 /*evenTasks=*/op.getGroups() > 1, tileBlocks});
}

TileAttr chosenTile(MatMulOp op, TileAttr own, LevelAttr level, StringRef pass) {
  ArrayRef<int64_t> out = shapeOf(op.getOutput());
  static constexpr int64_t tileBlocks[] = {1, 2, 3, 4, 6};
  const int64_t width = op.getPacked() ? shapeOf(op.getRhs())[2] : 16;
  return choose(op, own, level, pass,
                {out[1], 0, 1, std::max<int64_t>(1, out[2] / width), shapeOf(op.getLhs())[2], width,
                 /*even=*/false,
                 /*evenTasks=*/false, tileBlocks});
}

} // namespace atc::cpu
