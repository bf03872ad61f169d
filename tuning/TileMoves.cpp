//===-- TileMoves.cpp - random changes of tiles ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/TileMoves.h"

#include "passes/npu/contraction/TileChoice.h"

namespace atc::tuning {

std::string moveTile(llvm::StringRef text, const Draw &draw) {
  std::optional<npu::Tile> tile = npu::parseTile(text);
  if (!tile)
    return "";
  /// Returns a size twice or half as large, or next to it; multiples of 16.
  auto other = [&](int64_t size) -> int64_t {
    switch (draw(4)) {
    case 0:
      return size * 2;
    case 1:
      return llvm::alignTo(std::max<int64_t>(size / 2, 16), 16);
    case 2:
      return size + 16;
    default:
      return std::max<int64_t>(size - 16, 16);
    }
  };
  switch (draw(6)) {
  case 0: // rows of a tile, and of its chunk where that is the same
    if (tile->m == tile->l1M)
      tile->l1M = other(tile->m);
    tile->m = std::min(other(tile->m), tile->l1M);
    break;
  case 1: {
    const int64_t tiles = std::max<int64_t>(tile->l1N / tile->n, 1);
    tile->n = other(tile->n);
    tile->l1N = tile->n * tiles;
    break;
  }
  case 2:
    tile->k = std::min(other(tile->k), tile->l1K);
    break;
  case 3:
    tile->l1N = draw(2) ? tile->l1N + tile->n : std::max(tile->l1N - tile->n, tile->n);
    break;
  case 4:
    if (draw(2) && tile->coresM % 2 == 0) {
      tile->coresM /= 2;
      tile->coresN *= 2;
    } else if (tile->coresN % 2 == 0) {
      tile->coresN /= 2;
      tile->coresM *= 2;
    }
    break;
  default:
    tile->l1M = draw(2) ? tile->l1M * 2 : std::max(tile->l1M / 2, tile->m);
    break;
  }
  return npu::textOf(*tile);
}

std::string moveBox(llvm::StringRef text, const Draw &draw) {
  constexpr int64_t kMinPercent = 10, kMaxPercent = 1600;
  constexpr int64_t factors[] = {60, 75, 85, 95, 105, 115, 130, 170};
  int64_t percent = 0;
  if (text.getAsInteger(10, percent))
    return "";
  percent = percent * factors[draw(std::size(factors))] / 100;
  return std::to_string(std::clamp(percent, kMinPercent, kMaxPercent));
}

} // namespace atc::tuning
