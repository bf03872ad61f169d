//===-- SplitBatch.cpp - splits groups of kernels along the batch ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Choices.h"
#include "passes/Remarks.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/CubeSupport.h"
#include "passes/npu/contraction/TileCosts.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/schedule/BatchParts.h"
#include "passes/npu/schedule/GroupChoice.h"
#include "passes/npu/vector/TileNest.h"
#include "passes/om/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSPLITBATCH
#include "passes/npu/Passes.h.inc"

namespace {

/// A buffer and the kernels that use it, by their index in the schedule.
struct Buffer {
  int64_t bytes = 0;
  unsigned first = 0, last = 0;
  bool weight = false, argument = false;
  SmallVector<unsigned> writers; ///< ascending
};

/// An operand of a kernel.
struct Use {
  unsigned buffer = 0;  ///< by its index
  double bytes = 0;     ///< that the kernel reads or writes, in f16
  bool isFirst = false; ///< nothing before it in the schedule uses the buffer
};

class Splitter {
public:
  Splitter(func::FuncOp main, int64_t wantedParts, double share)
      : main(main), table(socOf(main)), wantedParts(wantedParts) {
    assumed.share = share;
    main.walk([&](kernel::KernelOpInterface op) { kernels.push_back(op); });
    for (auto [index, op] : llvm::enumerate(kernels))
      for (Value operand : op->getOperands())
        note(om::resolveViews(operand).root, index, operand == op.output());
    findUses();
    counts = partCounts();
    dims.resize(kernels.size());
    work.resize(kernels.size());
    for (auto [index, op] : llvm::enumerate(kernels))
      for (int64_t parts : counts)
        if (std::optional<OperandDims> known = batchDimsOf(op, parts))
          dims[index][parts] = *known;
  }

  /// Returns the groups that are fastest under the assumptions of the pass, or none where the model
  /// promises less than it errs.
  SmallVector<Group> choose() {
    SmallVector<Group> groups = choose(assumed), whole = wholes(kernels.size());
    const bool isGain = wantedParts || timeOf(groups) < (1 - kMinGain) * timeOf(whole);
    return isGain ? groups : whole;
  }

  /// Returns each of `count` kernels as a group of its own, on the whole batch.
  static SmallVector<Group> wholes(unsigned count) {
    SmallVector<Group> single;
    for (unsigned i = 0; i < count; ++i)
      single.push_back({i, i + 1, 1});
    return single;
  }

  /// Returns up to `max` other choices: that without any group, that of the pass whatever it
  /// promises, and those from other assumptions.
  SmallVector<std::string> propose(size_t max) {
    const GroupAssumptions own = assumed;
    SmallVector<std::string> texts = {std::to_string(kernels.size()) + "/1"};
    if (table.split && table.crossLatency)
      for (int64_t parts : counts)
        if (std::string text = textOf(interleaved(parts));
            parts <= kMaxInterleaved && texts.size() < max && !llvm::is_contained(texts, text))
          texts.push_back(text);
    SmallVector<GroupAssumptions> all = {own};
    llvm::append_range(all, otherAssumptions());
    for (const GroupAssumptions &other : all)
      if (std::string text = textOf(choose(other));
          texts.size() < max && !llvm::is_contained(texts, text))
        texts.push_back(text);
    assumed = own;
    return texts;
  }

  /// Returns the groups that a choice spells; nothing, with `why`, where they are not possible.
  std::optional<SmallVector<Group>> follow(StringRef text, std::string &why) {
    std::optional<SmallVector<Group>> groups = parseGroups(text, kernels.size());
    if (!groups) {
      why = "it must list runs of kernels/parts, such as 12/4 3/1, for " +
            std::to_string(kernels.size()) + " kernels";
      return std::nullopt;
    }
    for (const Group &group : *groups)
      if (group.parts > 1 && (!llvm::is_contained(counts, group.parts) ||
                              !isIndependent(group.begin, group.end, group.parts))) {
        why = "the kernels " + std::to_string(group.begin) + " to " +
              std::to_string(group.end - 1) + " cannot run on " + std::to_string(group.parts) +
              " parts of the batch";
        return std::nullopt;
      }
    return groups;
  }

  /// Lets the launches of each kernel say which one they are of.
  void numberKernels() {
    for (auto [index, op] : llvm::enumerate(kernels))
      op->setAttr(kKernelNumberAttr, Builder(op->getContext()).getI64IntegerAttr(int64_t(index)));
  }

  /// Returns the key of the choice: of all kernels and of what connects them.
  std::string key(StringRef pass) {
    std::string text = writeSoc(table);
    SmallVector<Type> types(main.getArgumentTypes());
    for (kernel::KernelOpInterface op : kernels) {
      text += identify(op);
      for (Value operand : op->getOperands())
        text +=
            " " + std::to_string(buffers.find(om::resolveViews(operand).root) - buffers.begin());
    }
    return choiceKey(pass, table.name, identify("main", types, text));
  }

  /// Returns the cycles of groups by the model, under the assumptions of the pass.
  double timeOf(ArrayRef<Group> groups) {
    double sum = 0;
    for (const Group &group : groups)
      sum += time(group.begin, group.end, group.parts);
    return sum;
  }

private:
  /// Returns the longest groups whose parts do not need each other, interleaved: while cube cores
  /// compute one part, vector cores can work on another one.
  SmallVector<Group> interleaved(int64_t parts) {
    SmallVector<Group> groups;
    for (unsigned begin = 0, end; begin < kernels.size(); begin = end) {
      for (end = begin; end < kernels.size() && isIndependent(begin, end + 1, parts);)
        ++end;
      const bool isGroup = end > begin + 1;
      end = std::max(end, begin + 1);
      groups.push_back({begin, end, isGroup ? parts : 1, isGroup});
    }
    return groups;
  }

  SmallVector<Group> choose(const GroupAssumptions &assumptions) {
    assumed = assumptions;
    unsigned count = kernels.size();
    std::vector<double> best(count + 1, 0);
    std::vector<Group> chosen(count + 1, Group{0, 0, 1});
    for (unsigned end = 1; end <= count; ++end) {
      best[end] = best[end - 1] + time(end - 1, end, 1);
      chosen[end] = {end - 1, end, 1};
      for (int64_t parts : counts)
        for (unsigned begin = end; begin-- > 0 && end - begin <= kLongestGroup;) {
          if (!dims[begin].contains(parts))
            break;
          if (!isIndependent(begin, end, parts))
            break; // nor are longer groups
          double total = best[begin] + (wantedParts ? -1.0 * (end - begin) * (end - begin)
                                                    : time(begin, end, parts));
          if (total < best[end]) {
            best[end] = total;
            chosen[end] = {begin, end, parts};
          }
        }
    }
    SmallVector<Group> groups;
    for (unsigned end = count; end > 0; end = chosen[end].begin)
      groups.push_back(chosen[end]);
    std::reverse(groups.begin(), groups.end());
    return groups;
  }

public:
  /// Returns whether the batch has divisors at all.
  bool isDivisible() { return !counts.empty(); }
  /// Returns the location of a group's first kernel.
  Location locationOf(const Group &group) { return kernels[group.begin].getLoc(); }

  /// Splits a group; returns the number of buffers that became smaller.
  unsigned apply(const Group &group) {
    OpBuilder builder(kernels[group.end - 1]->getContext());
    builder.setInsertionPointAfter(kernels[group.end - 1]);
    SmallVector<Value> inner;
    for (auto &[root, buffer] : buffers)
      if (isInner(buffer, group.begin, group.end))
        inner.push_back(root);
    std::vector<PartWriter> writers;
    auto write = [&](unsigned index, int64_t part) {
      writers[size_t(part)].write(kernels[index], dims[index][group.parts], part);
    };
    for (int64_t part = 0; part < group.parts; ++part) {
      PartWriter &writer = writers.emplace_back(builder, group.parts);
      for (auto &[root, buffer] : buffers)
        writer.memory[root] = {root, false};
      // Each part has memory of its own: offsets again follow from lifetimes.
      for (Value root : inner)
        writer.memory[root] = {allocatePart(builder, root, group.parts), true};
      for (unsigned index = group.begin; index < group.end && !group.isInterleaved; ++index)
        write(index, part);
    }
    for (unsigned index = group.begin; index < group.end && group.isInterleaved; ++index)
      for (int64_t part = 0; part < group.parts; ++part)
        write(index, part);
    for (unsigned index = group.begin; index < group.end; ++index)
      kernels[index]->erase();
    for (Value root : inner)
      eraseUnused(root);
    return inner.size();
  }

private:
  static constexpr unsigned kLongestGroup = 96;
  static constexpr int64_t kMaxInterleaved = 4; ///< parts of what is proposed
  /// The time of groups is known to a few percent only.
  static constexpr double kMinGain = 0.03;

  void note(Value root, unsigned index, bool written) {
    auto [entry, isNew] = buffers.try_emplace(root);
    Buffer &buffer = entry->second;
    if (isNew) {
      buffer.bytes = bytesOf(root);
      buffer.first = index;
      buffer.weight = root.getDefiningOp<om::WeightOp>() != nullptr;
      buffer.argument = isa<BlockArgument>(root);
    }
    buffer.last = index;
    if (written)
      buffer.writers.push_back(index);
  }

  /// The divisors of the batch: of the first input's outermost dim.
  SmallVector<int64_t> partCounts() {
    if (wantedParts > 1)
      return {wantedParts};
    int64_t batch = 1;
    for (auto &[root, buffer] : buffers)
      if (buffer.argument && !om::isOutput(root)) {
        ArrayRef<int64_t> shape = cast<MemRefType>(root.getType()).getShape();
        batch = shape.empty() ? 1 : shape[0];
        break;
      }
    SmallVector<int64_t> counts;
    for (int64_t parts = 2; parts <= std::min<int64_t>(batch, 256); ++parts)
      if (batch % parts == 0)
        counts.push_back(parts);
    return counts;
  }

  /// Finds the operands of kernels once: groups are looked at many times.
  void findUses() {
    llvm::DenseSet<Value> seen;
    for (kernel::KernelOpInterface op : kernels) {
      SmallVector<Use> &list = uses.emplace_back();
      for (Value operand : op->getOperands()) {
        const Value root = om::resolveViews(operand).root;
        list.push_back({unsigned(buffers.find(root) - buffers.begin()),
                        cast<MemRefType>(operand.getType()).getNumElements() * 2.0,
                        seen.insert(root).second});
      }
    }
  }

  const Buffer &bufferOf(const Use &use) const { return buffers.begin()[use.buffer].second; }

  static bool isInner(const Buffer &buffer, unsigned begin, unsigned end) {
    return !buffer.weight && !buffer.argument && buffer.first >= begin && buffer.last < end;
  }

  /// Returns whether no part needs the whole result of another one.
  bool isIndependent(unsigned begin, unsigned end, int64_t parts) {
    for (unsigned index = begin; index < end; ++index) {
      auto known = dims[index].find(parts);
      if (known == dims[index].end())
        return false;
      for (const auto &[use, dim] : llvm::zip_equal(uses[index], known->second)) {
        if (dim >= 0)
          continue;
        const SmallVector<unsigned> &writers = bufferOf(use).writers;
        const unsigned *next = llvm::lower_bound(writers, begin);
        if (next != writers.end() && *next < end)
          return false;
      }
    }
    return true;
  }

  /// Cycles of a group by a simple model.
  double time(unsigned begin, unsigned end, int64_t parts) {
    double cores = table.cores(false), ddr = table.ddrRate() * cores;
    double capacity = assumed.share * double(table.l2Bytes);
    double work = 0, weights = 0, crossing = 0;
    std::vector<double> live(end - begin + 1, 0), activations(end - begin, 0);
    std::vector<double> weightsOf(end - begin, 0);
    for (unsigned index = begin; index < end; ++index) {
      work += workOf(index, parts);
      for (const Use &use : uses[index]) {
        const Buffer &buffer = bufferOf(use);
        const double bytes = use.bytes;
        if (buffer.weight) {
          weights += bytes;
          weightsOf[index - begin] += bytes;
          continue;
        }
        if (isInner(buffer, begin, end)) {
          activations[index - begin] += bytes;
          if (use.isFirst)
            for (unsigned at = buffer.first; at <= buffer.last; ++at)
              live[at - begin] += double(buffer.bytes) / parts;
        } else {
          live[index - begin] += bytes / parts;
          if (buffer.bytes > capacity / 2)
            crossing += bytes;
        }
      }
    }
    double peak = *llvm::max_element(live);
    double spilt = 0;
    for (unsigned index = begin; index < end; ++index)
      if (double held = live[index - begin]; held > capacity)
        spilt += 2 * activations[index - begin] * (held - capacity) / held;
    bool weightsStay = weights + peak <= capacity;
    double readings = weightsStay ? 1 : double(parts);
    // Weights that are prefetched arrive while other kernels of the group run; others are read by
    // their own kernel.
    double busy = std::max(work, weights * readings / ddr);
    if (!table.l2Prefetch) {
      busy = 0;
      for (unsigned index = begin; index < end; ++index)
        busy += std::max(workOf(index, parts), weightsOf[index - begin] * readings / ddr);
    }
    double apart = work + weights * readings / ddr;
    return busy + assumed.exposed * (apart - busy) + (spilt + crossing) / ddr;
  }

  /// Returns the cycles of one kernel on all parts if its data come from L2, with their launches.
  double workOf(unsigned index, int64_t parts) {
    auto [entry, isNew] = work[index].try_emplace(parts, 0.0);
    if (isNew)
      entry->second = partOf(index, parts);
    return double(parts) * (assumed.launchCost * double(table.chainCycles) + entry->second);
  }

  double partOf(unsigned index, int64_t parts) {
    kernel::KernelOpInterface op = kernels[index];
    std::optional<double> contraction;
    if (auto conv = dyn_cast<ir::Conv2DOp>(op.getOperation()))
      contraction = contractionOf(conv, parts);
    else if (auto matmul = dyn_cast<ir::MatMulOp>(op.getOperation()))
      contraction = contractionOf(matmul, parts);
    if (contraction)
      return *contraction;
    double bytes = 0;
    for (Value operand : op->getOperands())
      if (!om::resolveViews(operand).root.getDefiningOp<om::WeightOp>())
        bytes += cast<MemRefType>(operand.getType()).getNumElements() * 2.0;
    return 2 * bytes / (table.l2Read * double(table.cores(false) * parts)) +
           2 * double(table.readLatency + table.writeLatency);
  }

  /// Returns the estimate of the cost model of tiles, cached because networks repeat their layers.
  template <typename OpT> std::optional<double> contractionOf(OpT op, int64_t parts) {
    std::string errorText;
    Contraction c = describe(op, table, errorText);
    if (!errorText.empty())
      return std::nullopt;
    int64_t &shared = c.outers % parts == 0 ? c.outers : c.others % parts == 0 ? c.others : c.rows;
    shared = llvm::divideCeil(shared, parts);
    c.joinsOuters &= c.outers > 1;
    std::string key;
    llvm::raw_string_ostream text(key);
    for (int64_t number : {int64_t(c.lhsForm),
                           int64_t(c.isInteger) + 2 * bool(c.body) + 4 * bool(c.addition),
                           int64_t(c.rhsForm),
                           c.outers,
                           c.others,
                           c.groups,
                           c.rows,
                           c.rowUnit,
                           c.columns,
                           c.depth,
                           c.depthUnit,
                           int64_t(c.img2col),
                           int64_t(c.denseImage) + 2 * int64_t(c.pixels.factors.empty()) +
                               4 * int64_t(c.colours.has_value()),
                           int64_t(c.denseResult),
                           c.window.height,
                           c.window.width,
                           c.window.kernelH,
                           c.window.kernelW,
                           c.window.strideH,
                           c.window.strideW,
                           c.scratchPerElement,
                           int64_t(c.residual.value != nullptr),
                           int64_t(c.bias != nullptr)})
      text << number << ' ';
    text << c.vectorCycles << ' ' << c.lhsType;
    auto [entry, isNew] = contractions.try_emplace(key, std::nullopt);
    if (!isNew)
      return entry->second;
    std::vector<Plan> plans = selectPlans(c, table, 1);
    if (!plans.empty())
      entry->second = estimate(c, plans.front(), table).cycles;
    return entry->second;
  }

  Value allocatePart(OpBuilder &builder, Value root, int64_t parts) {
    MemRefType type = cast<MemRefType>(root.getType());
    int64_t elements = bytesOf(root) / elementBytes(root);
    return om::AllocOp::create(builder, root.getLoc(),
                               MemRefType::get({elements / parts}, type.getElementType()),
                               IntegerAttr());
  }

  void eraseUnused(Value root) {
    for (Operation *user : llvm::make_early_inc_range(root.getUsers()))
      if (isa<om::ViewOp>(user))
        eraseUnused(user->getResult(0));
    if (root.use_empty() && root.getDefiningOp())
      root.getDefiningOp()->erase();
  }

  func::FuncOp main;
  SocTable table;
  GroupAssumptions assumed;
  int64_t wantedParts;
  SmallVector<int64_t> counts; ///< of parts that divide the batch
  SmallVector<kernel::KernelOpInterface> kernels;
  llvm::MapVector<Value, Buffer> buffers;
  std::vector<SmallVector<Use>> uses;                     ///< per kernel
  std::vector<llvm::DenseMap<int64_t, OperandDims>> dims; ///< per kernel, by number of parts
  std::vector<llvm::DenseMap<int64_t, double>> work;      ///< ... its cycles on one of them
  llvm::StringMap<std::optional<double>> contractions;    ///< cycles by shape
};

struct SplitBatchPass : impl::NpuSplitBatchBase<SplitBatchPass> {
  using Base::Base;
  void runOnOperation() override {
    func::FuncOp main = getOperation();
    if (main.getSymName() != "main" || main.isExternal())
      return;
    Splitter splitter(main, parts, share);
    SmallVector<Group> groups = select(splitter, main);
    if (splitter.isDivisible() &&
        llvm::all_of(groups, [](const Group &group) { return group.parts == 1; }))
      remarkMissed(getArgument(), main.getLoc(), "BatchWhole")
          << "each layer runs on the whole batch: by the cost model no group of layers gains from "
             "parts whose results stay in L2";
    for (const Group &group : groups)
      if (group.parts > 1) {
        remarkPassed(getArgument(), splitter.locationOf(group), "BatchSplit")
            << remark::add("this layer and the {0} behind it run in {1} parts of the batch",
                           group.end - group.begin - 1, group.parts);
        numShrunk += splitter.apply(group);
        ++numGroups;
      }
  }

private:
  /// Returns the groups that the table of choices has, else those of the model.
  SmallVector<Group> select(Splitter &splitter, func::FuncOp main) {
    // Options for experiments come before the table.
    if (parts || !splitter.isDivisible() || !usesChoices(main))
      return splitter.choose();
    splitter.numberKernels();
    const std::string key = splitter.key(getArgument());
    std::optional<SmallVector<Group>> groups;
    if (std::optional<StringRef> given = givenChoice(main, key)) {
      std::string why;
      groups = splitter.follow(*given, why);
      if (!groups)
        reportUnfit(main, key, *given, why);
    }
    if (!groups)
      groups = splitter.choose();
    remarkAnalysis(getArgument(), main.getLoc(), "Groups") << remark::add(
        "{0} cycles by the cost model for the groups \"{1}\"; {2} for one launch per layer",
        int64_t(splitter.timeOf(*groups)), textOf(*groups),
        int64_t(splitter.timeOf(Splitter::wholes(groups->size() ? groups->back().end : 0))));
    const int64_t wanted = wantedProposals(main);
    noteChoice(getArgument(), main.getLoc(), main, key, textOf(*groups),
               wanted ? splitter.propose(wanted) : SmallVector<std::string>());
    return *groups;
  }
};
} // namespace
} // namespace atc::npu
