//===-- InsertAipp.h - inputs of a model become images --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_AIPP_INSERTAIPP_H
#define OPENATC_FRONTENDS_AIPP_INSERTAIPP_H

#include "mlir/IR/BuiltinOps.h"
#include "support/Diagnostics.h"

namespace atc {

/// The order of dims of the model's images: [n, c, h, w] or [n, h, w, c].
enum class ImageLayout { ChannelsFirst, ChannelsLast };

/// Inserts the preprocessing that an AIPP file (--insert_op_conf) states in front of inputs
/// of @main, which holds graph ops: they become uint8 images, and what read them reads
/// float values computed from those. Inputs that the file does not name stay as they are.
/// A dynamic aipp_op adds an input of parameters behind all others.
/// `halfInputs` are those of --input_fp16_nodes, which cannot be images.
/// Returns false after an error (E10034: such an input; E10052: the file; E70014: sizes that do not
/// fit the model; E10055: what is not supported); the module is then of no more use.
bool insertAipp(mlir::ModuleOp module, llvm::StringRef path, ImageLayout layout,
                llvm::ArrayRef<std::string> halfInputs, Diagnostics &diagnostics);

} // namespace atc

#endif // OPENATC_FRONTENDS_AIPP_INSERTAIPP_H
