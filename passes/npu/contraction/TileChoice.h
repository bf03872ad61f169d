//===-- TileChoice.h - tiles that somebody has set --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_TILECHOICE_H
#define OPENATC_PASSES_NPU_CONTRACTION_TILECHOICE_H

#include "passes/npu/contraction/Contraction.h"

namespace atc::npu {

/// Returns a tile as the table of choices spells it: "m,n,k,l1M,l1N,l1K,coresM,coresN,order".
std::string textOf(const Tile &tile);
/// Returns the tile that `text` spells; nothing where it is not of that form.
std::optional<Tile> parseTile(llvm::StringRef text);

/// The entry of the table of choices for the tile of one kernel.
class TileChoice {
public:
  /// `op` is the contraction of `function`, for the SoC `soc`; `pass` is the pass's name, a
  /// literal.
  TileChoice(mlir::func::FuncOp function, mlir::Operation *op, const SocTable &soc,
             llvm::StringRef pass);
  /// Returns the plan for the tile that the table has; nothing where it has none or where that is
  /// not possible, which is a warning.
  std::optional<Plan> given(const Contraction &contraction) const;
  /// Returns the maximum number of copies of each buffer that the kernel will have: what the table
  /// has for npu-select-buffers, else that pass's own. The best tile depends on it.
  int64_t copies() const;
  /// Notes the tile that was selected, and the cost model's next ones where they are wanted.
  void note(const Contraction &contraction, const Plan &plan) const;

private:
  mlir::func::FuncOp function;
  mlir::Operation *op;
  const SocTable &soc;
  llvm::StringRef pass;
  std::string identity, key; ///< empty: nobody uses choices
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_TILECHOICE_H
