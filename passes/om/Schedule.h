//===-- Schedule.h - launches and lifetimes of buffers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_OM_SCHEDULE_H
#define OPENATC_PASSES_OM_SCHEDULE_H

#include "dialects/om/Om.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace atc::om {

/// Marks the arguments of @main that are outputs (unit attribute).
inline constexpr llvm::StringLiteral kOutputAttr = "om.output";
/// The name of an input or output, on the arguments of @main.
inline constexpr llvm::StringLiteral kNameAttr = "om.name";
/// The model's names of the dims of an input or output, "" for a dim without one: an array of
/// strings, on the arguments and results of @main.
inline constexpr llvm::StringLiteral kDimNamesAttr = "om.dim_names";
/// The facts that the author of a model has stated about it: a dictionary of strings, on the
/// module.
inline constexpr llvm::StringLiteral kMetadataAttr = "om.metadata";
/// Unit attributes of kernel functions: code for the CPU, and those that become programs of the
/// NPU.
inline constexpr llvm::StringLiteral kCpuKernelAttr = "cpu.kernel";
inline constexpr llvm::StringLiteral kNpuKernelAttr = "npu.kernel";
/// Discardable unit attribute of kernel ops in @main that the NPU runs.
inline constexpr llvm::StringLiteral kNpuDeviceAttr = "npu.device";
/// The name of the SoC's table, on the module and on kernel functions of the NPU.
inline constexpr llvm::StringLiteral kNpuSocAttr = "npu.soc";
/// The text of the NPU's table where it is not a built-in one, on the module.
inline constexpr llvm::StringLiteral kSocTableAttr = "npu.soc_table";
/// Marks weights from which code computes addresses (unit attribute).
inline constexpr llvm::StringLiteral kAddressesAttr = "om.addresses";
/// The tensors, besides that of its last buffer, that a launch leaves in memory if it was joined
/// from several: an array in the order in which they are written. Each is a dictionary of the
/// `operand`, an integer, of the `location` that names the tensor, and of its logical type
/// `tensor`, which may be absent as on any launch.
inline constexpr llvm::StringLiteral kLeftTensorsAttr = "om.left_tensors";
/// The size of the arena in bytes, on the module.
inline constexpr llvm::StringLiteral kArenaSizeAttr = "om.arena_size";
inline constexpr llvm::StringLiteral kArenaLowerBoundAttr = "om.arena_lower_bound";
/// The bytes that all launches together write to the arena, on the module.
inline constexpr llvm::StringLiteral kIntermediateBytesAttr = "om.intermediate_bytes";

/// The alignment of buffers in bytes.
inline constexpr int64_t kBufferAlignment = 64;

/// Returns the function that holds the schedule, or null.
mlir::func::FuncOp findMain(mlir::ModuleOp module);

/// A part of a buffer: the origin of a chain of views, and the offset in it.
struct BufferPart {
  mlir::Value root;
  int64_t offset = 0; ///< bytes
};
/// Returns the buffer behind a chain of views.
BufferPart resolveViews(mlir::Value buffer);

/// Returns whether a buffer is an output of @main.
bool isOutput(mlir::Value root);

/// Returns whether a symbol is a program of the NPU or will become one.
bool isNpuKernel(mlir::Operation *symbol);

/// Removes a launch; where it began a task, the launch chained to it begins one.
void eraseLaunch(LaunchOp launch);

/// Returns the bytes of a buffer in the arena.
int64_t arenaBytes(AllocOp alloc);

/// The launches of @main in order and, for every arena buffer, the first and the last launch that
/// uses it.
class Schedule {
public:
  struct Lifetime {
    unsigned first, last;
    /// Returns whether both live during a common launch.
    bool overlaps(const Lifetime &other) const {
      return first <= other.last && other.first <= last;
    }
  };

  /// Reads the schedule of @main, which must not change while this object is used.
  explicit Schedule(mlir::func::FuncOp main);

  llvm::ArrayRef<LaunchOp> launches() const { return order; }
  /// Returns the lifetimes; buffers that no launch uses are not among them.
  const llvm::MapVector<AllocOp, Lifetime> &lifetimes() const { return lives; }

private:
  llvm::SmallVector<LaunchOp> order;
  llvm::MapVector<AllocOp, Lifetime> lives;
};

/// Return the buffers that a launch reads and writes. Its prefetches are not among them: later
/// launches read those.
inline mlir::OperandRange readsOf(LaunchOp launch) { return launch.getOperands_().drop_back(); }
inline mlir::Value writtenBy(LaunchOp launch) { return launch.getOperands_().back(); }

} // namespace atc::om

#endif // OPENATC_PASSES_OM_SCHEDULE_H
