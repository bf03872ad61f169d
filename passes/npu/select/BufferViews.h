//===-- BufferViews.h - buffers of @main as storages ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_BUFFERVIEWS_H
#define OPENATC_PASSES_NPU_SELECT_BUFFERVIEWS_H

#include "passes/kernel/BufferViews.h"

namespace atc::npu {
using kernel::broadcast;
using kernel::bufferOf;
using kernel::isWhole;
using kernel::isWrittenBetween;
using kernel::storageOf;
using kernel::usesOf;
} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_BUFFERVIEWS_H
