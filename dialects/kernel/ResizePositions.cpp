//===-- ResizePositions.cpp - which element a resize repeats --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/kernel/ResizePositions.h"

#include <cmath>

namespace atc::kernel {

using graph::CoordinateMode;
using graph::NearestMode;

static int64_t sizeOf(mlir::Value buffer, unsigned dim) {
  return llvm::cast<mlir::MemRefType>(buffer.getType()).getDimSize(dim);
}

int64_t nearestPosition(ResizeOp op, unsigned dim, int64_t i) {
  int64_t in = sizeOf(op.getInput(), dim), out = sizeOf(op.getOutput(), dim);
  float x = float(i), scale = float(op.getScales()[dim]);
  CoordinateMode mode = op.getCoordinates();
  if (mode == CoordinateMode::AlignCorners)
    x = out == 1 ? 0 : x * float(in - 1) / float(out - 1);
  else if (mode == CoordinateMode::Asymmetric)
    x = x / scale;
  else if (mode == CoordinateMode::PytorchHalfPixel && out == 1)
    x = 0;
  else
    x = (x + 0.5f) / scale - 0.5f;
  float low = std::floor(x), fraction = x - low;
  bool up = false;
  switch (op.getNearest()) {
  case NearestMode::Floor:
    break;
  case NearestMode::Ceil:
    up = fraction > 0;
    break;
  case NearestMode::RoundPreferFloor:
    up = fraction > 0.5f;
    break;
  case NearestMode::RoundPreferCeil:
    up = fraction >= 0.5f;
    break;
  }
  return std::clamp<int64_t>(int64_t(low) + up, 0, in - 1);
}

int64_t repetitionOf(ResizeOp op, unsigned dim) {
  int64_t in = sizeOf(op.getInput(), dim), out = sizeOf(op.getOutput(), dim);
  if (op.getMode() != graph::ResizeMode::Nearest || in == 0 || out % in != 0)
    return 0;
  for (int64_t i = 0; i < out; ++i)
    if (nearestPosition(op, dim, i) != i / (out / in))
      return 0;
  return out / in;
}

} // namespace atc::kernel
