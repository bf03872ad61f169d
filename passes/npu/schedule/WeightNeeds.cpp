//===-- WeightNeeds.cpp - weights that L2 has to get from DDR -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/schedule/WeightNeeds.h"

#include "passes/Choices.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/schedule/BatchParts.h"
#include "passes/npu/vector/TileNest.h"

using namespace mlir;

namespace atc::npu {

/// Returns the weight of which a launch reads only the rows that its indices name; null for other
/// launches.
static Value tableOf(om::LaunchOp launch, const SymbolTable &symbols) {
  Operation *kernel = symbols.lookup(launch.getKernel());
  BlockArgument table;
  if (auto function = dyn_cast_or_null<func::FuncOp>(kernel)) {
    if (auto gather = kernelOpOf<kernel::GatherOp>(function))
      table = dyn_cast<BlockArgument>(gather.getInput());
  } else if (auto program = dyn_cast_or_null<ir::ProgramOp>(kernel)) {
    program.walk([&](ir::GatherRowsOp op) { table = dyn_cast<BlockArgument>(op->getOperand(1)); });
  }
  return table ? om::resolveViews(launch.getOperands_()[table.getArgNumber()]).root : Value();
}

/// If the launches [begin, end) touch more than L2 holds: the one from which on
/// what is brought will not be lost again until `end`.
static std::optional<unsigned> lostBefore(MutableArrayRef<om::LaunchOp> launches, unsigned begin,
                                          unsigned end, int64_t l2Bytes) {
  llvm::DenseSet<std::pair<Value, int64_t>> touched;
  int64_t bytes = 0;
  unsigned after = end - 1;
  for (unsigned index = end; index-- > begin;) {
    for (Value operand : launches[index].getOperands_()) {
      om::BufferPart part = om::resolveViews(operand);
      if (touched.insert({part.root, part.offset}).second)
        bytes += om::spanInBytes(cast<MemRefType>(operand.getType()));
    }
    if (bytes > l2Bytes)
      return after;
    if (bytes < l2Bytes / 2)
      after = index;
  }
  return std::nullopt;
}

SmallVector<WeightNeed> weightNeeds(MutableArrayRef<om::LaunchOp> launches, ArrayRef<bool> onNpu,
                                    const SymbolTable &symbols, int64_t l2Bytes) {
  SmallVector<WeightNeed> needs;
  llvm::DenseMap<Value, unsigned> lastUse;
  for (auto [index, launch] : llvm::enumerate(launches)) {
    const Value table = tableOf(launch, symbols);
    for (Value operand : launch.getOperands_()) {
      Value root = om::resolveViews(operand).root;
      if (!onNpu[index] || !root.getDefiningOp<om::WeightOp>() || root == table)
        continue;
      auto [last, isNew] = lastUse.try_emplace(root, index);
      if (isNew)
        needs.push_back({root, unsigned(index), 0, bytesOf(root)});
      else if (std::optional<unsigned> after =
                   lostBefore(launches, last->second + 1, index, l2Bytes))
        needs.push_back({root, unsigned(index), *after, bytesOf(root)});
      last->second = index;
    }
  }
  return needs;
}

bool weightsStayInL2(MutableArrayRef<om::LaunchOp> launches, int64_t l2Bytes) {
  llvm::DenseSet<Value> seen;
  int64_t weights = 0, others = 0;
  for (size_t i = 0; i < launches.size(); ++i) {
    others = std::max(others, bytesOfActivations(launches.drop_front(i).take_front(3)));
    for (Value operand : launches[i].getOperands_())
      if (Value root = om::resolveViews(operand).root;
          root.getDefiningOp<om::WeightOp>() && seen.insert(root).second)
        weights += bytesOf(root);
  }
  return double(weights + others) <= 0.9 * double(l2Bytes);
}

int64_t bytesOfActivations(MutableArrayRef<om::LaunchOp> launches) {
  llvm::DenseSet<std::pair<Value, int64_t>> touched;
  int64_t bytes = 0;
  for (om::LaunchOp launch : launches)
    for (Value operand : launch.getOperands_()) {
      om::BufferPart part = om::resolveViews(operand);
      if (!part.root.getDefiningOp<om::WeightOp>() &&
          touched.insert({part.root, part.offset}).second)
        bytes += om::spanInBytes(cast<MemRefType>(operand.getType()));
    }
  return bytes;
}

void defineWeightsFirst(Block &block) {
  // Asking for the order of two operations between moves would number all of them each time.
  const auto front = llvm::find_if_not(block, llvm::IsaPred<om::WeightOp>);
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(front, block.end())))
    if (isa<om::WeightOp>(op))
      op.moveBefore(&block, front);
}

Value takePiece(om::LaunchOp launch, WeightNeed &need, int64_t &bytes) {
  const int64_t from = need.named, element = elementBytes(need.weight);
  if (bytes != need.bytes)
    bytes = bytes / element * element;
  need.named += bytes;
  if (bytes == need.bytes)
    return need.weight;
  auto type = cast<MemRefType>(need.weight.getType());
  OpBuilder builder(launch);
  return om::ViewOp::create(builder, launch.getLoc(),
                            MemRefType::get({bytes / element}, type.getElementType()), need.weight,
                            from);
}

std::string keyOfWeights(func::FuncOp main, StringRef pass) {
  const SocTable table = socOf(main);
  std::string text = writeSoc(table);
  llvm::raw_string_ostream os(text);
  llvm::DenseSet<Value> weights;
  for (auto launch : main.getOps<om::LaunchOp>())
    for (Value operand : launch->getOperands())
      if (Value root = om::resolveViews(operand).root;
          root.getDefiningOp<om::WeightOp>() && weights.insert(root).second)
        os << root.getType();
  SmallVector<Type> types(main.getArgumentTypes());
  return choiceKey(pass, table.name, identify("main", types, text));
}

} // namespace atc::npu
