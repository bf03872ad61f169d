//===-- Schedule.h - who touches which memory when ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_OM_SCHEDULE_H
#define OPENATC_PASSES_OM_SCHEDULE_H

#include "dialects/om/Om.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace atc::om {

/// Unit attribute of the arguments of @main that are outputs.
inline constexpr llvm::StringLiteral kOutputAttr = "om.output";
/// Name of an input or output, on the arguments of @main.
inline constexpr llvm::StringLiteral kNameAttr = "om.name";
/// Unit attributes of kernel functions: code for the CPU, and what is to become
/// a program of the NPU.
inline constexpr llvm::StringLiteral kCpuKernelAttr = "cpu.kernel";
inline constexpr llvm::StringLiteral kNpuKernelAttr = "npu.kernel";
/// Discardable unit attribute of kernel ops in @main: the NPU runs it.
inline constexpr llvm::StringLiteral kNpuDeviceAttr = "npu.device";
/// Name of the SoC's table, on the module and on kernel functions of the NPU.
inline constexpr llvm::StringLiteral kNpuSocAttr = "npu.soc";
/// On the module: the text of the NPU's table where it is not a built-in one.
inline constexpr llvm::StringLiteral kSocTableAttr = "npu.soc_table";
/// Unit attribute of weights that code computes addresses from.
inline constexpr llvm::StringLiteral kAddressesAttr = "om.addresses";
/// Bytes of the arena, on the module.
inline constexpr llvm::StringLiteral kArenaSizeAttr = "om.arena_size";
inline constexpr llvm::StringLiteral kArenaLowerBoundAttr = "om.arena_lower_bound";
/// Bytes that all launches together write to the arena, on the module.
inline constexpr llvm::StringLiteral kIntermediateBytesAttr = "om.intermediate_bytes";

inline constexpr int64_t kBufferAlignment = 64;

/// The function that holds the schedule, or null.
mlir::func::FuncOp findMain(mlir::ModuleOp module);

/// A part of a buffer: what a chain of views comes from, and how far in.
struct BufferPart {
  mlir::Value root;
  int64_t offset = 0; ///< bytes
};
BufferPart resolveViews(mlir::Value buffer);

bool isOutput(mlir::Value root);

/// Whether a symbol is a program of the NPU or is to become one.
bool isNpuKernel(mlir::Operation *symbol);

/// Removes a launch; where it began a task, the launch chained to it begins one.
void eraseLaunch(LaunchOp launch);

/// Bytes a buffer takes in the arena.
int64_t arenaBytes(AllocOp alloc);

/// The launches of @main in order and, for every arena buffer, the first and
/// the last one that touches it.
class Schedule {
public:
  struct Lifetime {
    unsigned first, last;
    bool overlaps(const Lifetime &other) const {
      return first <= other.last && other.first <= last;
    }
  };

  explicit Schedule(mlir::func::FuncOp main);

  llvm::ArrayRef<LaunchOp> launches() const { return order; }
  /// Buffers that no launch touches are not in it.
  const llvm::MapVector<AllocOp, Lifetime> &lifetimes() const { return lives; }

private:
  llvm::SmallVector<LaunchOp> order;
  llvm::MapVector<AllocOp, Lifetime> lives;
};

/// What a launch reads and what it writes. Its prefetch is neither: later launches
/// read that.
inline mlir::OperandRange readsOf(LaunchOp launch) { return launch.getOperands_().drop_back(); }
inline mlir::Value writtenBy(LaunchOp launch) { return launch.getOperands_().back(); }

} // namespace atc::om

#endif // OPENATC_PASSES_OM_SCHEDULE_H
