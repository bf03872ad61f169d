//===-- MultiHeadMatMul.cpp - products stored side by side ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/contraction/MultiHeadMatMul.h"

#include "passes/npu/vector/VectorCode.h"

using namespace mlir;

namespace atc::npu {

namespace {

using llvm::alignTo;
using llvm::divideCeil;

/// Strides of the two dims of products, in bytes.
struct Products {
  int64_t image = 0, head = 0;
};

/// A contraction as images of heads.
struct Shape {
  Shape(const Contraction &c, bool swapped) : c(c) {
    auto products = [&](int64_t outer, int64_t other) {
      return swapped ? Products{other, outer} : Products{outer, other};
    };
    images = swapped ? c.others : c.outers;
    heads = swapped ? c.outers : c.others;
    lhs = products(c.lhsOuter, c.lhsOther);
    rhs = products(c.rhsOuter, c.rhsOther);
    out = products(c.output.outer, c.output.other);
    residual = products(c.residual.outer, c.residual.other);
    transposed = c.rhsForm == RhsForm::TransposedRows;
    rhsRows = transposed ? c.columns : c.depth;
    rhsColumns = transposed ? c.depth : c.columns;
  }
  /// Returns whether rows consist of whole blocks of 16 columns of one product after the other.
  static bool standBeside(int64_t head, int64_t row, int64_t columns, int64_t bytes) {
    return columns % 16 == 0 && head == columns * bytes && row > head;
  }
  bool joinsLhs() const { return standBeside(lhs.head, c.lhsRow, c.depth, 2); }
  bool joinsRhs() const { return standBeside(rhs.head, c.rhsRow, rhsColumns, 2); }
  bool joinsOut() const { return standBeside(out.head, c.output.row, c.columns, c.resultBytes()); }

  const Contraction &c;
  int64_t images, heads;
  Products lhs, rhs, out, residual;
  bool transposed;
  int64_t rhsRows, rhsColumns;
};

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

class Planner {
public:
  Planner(const Shape &s, const SocTable &soc) : s(s), c(s.c), soc(soc) {}

  std::optional<JoinedPlan> run(bool swapped) {
    JoinedPlan p;
    p.swapped = swapped;
    p.images = s.images;
    p.heads = s.heads;
    p.joinsLhs = s.joinsLhs();
    p.joinsRhs = s.joinsRhs();
    p.joinsOut = s.joinsOut() && !soc.split;
    if (s.heads < 2 || !(p.joinsLhs || p.joinsRhs || p.joinsOut))
      return std::nullopt;
    p.n = alignTo(c.columns, 16);
    int64_t cores = soc.cores(false);
    for (p.group = 1; p.group <= s.heads; ++p.group) {
      int64_t groups = s.heads / p.group;
      if (s.heads % p.group)
        continue;
      for (int64_t parts = 1; parts <= 32; ++parts) {
        int64_t m = parts == 1 ? c.rows : alignTo(divideCeil(c.rows, parts), 16);
        if (parts > 1 && (m == p.m || m >= c.rows))
          continue;
        p.m = m;
        if (!fits(p))
          continue;
        for (p.coresImage = 1; p.coresImage <= std::min(cores, s.images); ++p.coresImage)
          for (p.coresGroup = 1; p.coresImage * p.coresGroup <= cores; ++p.coresGroup) {
            if (s.images % p.coresImage || p.coresGroup > groups || groups % p.coresGroup)
              continue;
            p.coresRow =
                std::min<int64_t>(cores / (p.coresImage * p.coresGroup), divideCeil(c.rows, p.m));
            p.cycles = cycles(p);
            if (!best || p.cycles < best->cycles)
              best = p;
          }
      }
    }
    return best;
  }

private:
  /// Two of each buffer, but for what is loaded once.
  bool fits(JoinedPlan &p) const {
    int64_t m16 = alignTo(p.m, 16), blocks = divideCeil(c.depth, 16);
    int64_t step = std::min(int64_t(soc.l0aBytes) / (m16 * 64), int64_t(soc.l0bBytes) / (p.n * 64));
    if (step < 1 || m16 * p.n * 8 > int64_t(soc.l0cBytes))
      return false;
    p.k = divideCeil(blocks, divideCeil(blocks, std::min(step, blocks))) * 16;
    if (2 * (lhsBytes(p) + rhsBytes(p)) > int64_t(soc.l1Bytes))
      return false;
    int64_t element = c.resultBytes(), tile = p.m * p.n;
    int64_t ub = 2 * tile * element * (p.joinsOut ? p.group : 1) + tile * c.scratchPerElement +
                 (c.residual.value ? 2 * tile * element : 0);
    return soc.split || ub + 2048 <= int64_t(soc.ubBytes);
  }

  int64_t lhsBytes(const JoinedPlan &p) const {
    return alignTo(p.m, 16) * alignTo(c.depth, 16) * 2 * (p.joinsLhs ? p.group : 1);
  }
  int64_t rhsBytes(const JoinedPlan &p) const {
    return alignTo(s.rhsRows, 16) * alignTo(s.rhsColumns, 16) * 2 * (p.joinsRhs ? p.group : 1);
  }

  double moved(double bytes, int64_t run, double port, double share, double cores) const {
    double runs = std::clamp(double(run) / double(soc.shortRun), soc.shortRunFloor, 1.0);
    return bytes / std::min(port * runs, share * double(soc.cubeCores) / cores);
  }

  double cycles(const JoinedPlan &p) const {
    auto [coresImage, coresGroup, coresRow] = p.grid();
    double cores = double(coresImage * coresGroup * coresRow);
    double turns = double(s.images / coresImage * (s.heads / p.group / coresGroup));
    double parts = double(divideCeil(divideCeil(c.rows, p.m), coresRow));
    double heads = double(p.group), m16 = double(alignTo(p.m, 16));
    double steps = double(divideCeil(c.depth, p.k)), element = double(c.resultBytes());
    auto dense = [](int64_t row, int64_t bytes, bool joins, int64_t group) {
      return row == bytes ? int64_t(1) << 20 : joins ? bytes * group : bytes;
    };
    double lhs = moved(double(lhsBytes(p)), dense(c.lhsRow, c.depth * 2, p.joinsLhs, p.group),
                       soc.gmToL1, soc.l2Read, cores) +
                 double(soc.gmStart);
    double rhs = moved(double(rhsBytes(p)), dense(c.rhsRow, s.rhsColumns * 2, p.joinsRhs, p.group),
                       soc.gmToL1, soc.l2Read, cores) +
                 double(soc.gmStart);
    // The cycles of one tile.
    double cube = m16 / 16 * double(p.n) / 16 * double(alignTo(c.depth, 16)) / 16 +
                  steps * double(soc.mmadStart);
    double mte1 = m16 * double(c.depth) * 2 / soc.l1ToL0a +
                  double(p.n * c.depth) * 2 / soc.l1ToL0b + 2 * steps * double(soc.mte1Start);
    double area = double(p.m) * double(p.n);
    double vector = soc.split
                        ? 0
                        : area * 4 / soc.l0cToUb + area * c.vectorCycles * 256 / soc.vectorBytes +
                              2 * double(soc.vectorStart);
    double store =
        moved(area * element, dense(c.output.row, c.columns * c.resultBytes(), p.joinsOut, p.group),
              soc.split ? soc.l0cToGm : soc.ubToGm, soc.l2Write, cores) +
        double(soc.gmStart);
    // Two buffers between two queues: one is filled while the other is emptied, and data arrives
    // with a delay.
    auto between = [](double fill, uint64_t fillDelay, double empty, uint64_t emptyDelay) {
      return (fill + double(fillDelay) + empty + double(emptyDelay)) / 2;
    };
    double leave = soc.split ? store : vector;
    uint64_t leaveDelay = soc.split ? soc.writeLatency : soc.vectorLatency;
    double tile =
        std::max({cube, mte1, vector, store,
                  between(mte1 / steps, soc.mte1Latency, cube / steps, soc.mmadLatency) * steps,
                  between(cube, soc.mmadLatency, leave, leaveDelay)});
    double grouped = p.joinsOut ? heads : 1;
    if (!soc.split)
      tile = std::max(
          tile, between(vector * grouped, soc.vectorLatency, store * grouped, soc.writeLatency) /
                    grouped);
    auto load = [&](double cycles, bool joined, double tiles) {
      double uses = joined ? tiles : 1;
      tile = std::max(tile, between(cycles, soc.readLatency, mte1 * uses, soc.mte1Latency) / uses);
      return cycles / uses;
    };
    double loads = load(lhs, p.joinsLhs, heads) + load(rhs, p.joinsRhs, heads * parts);
    tile = std::max(tile, loads) + 0.05 * (cube + mte1 + vector + store + loads);
    double first = lhs + rhs + double(soc.readLatency + soc.writeLatency);
    return turns * parts * heads * tile + first + mte1 + cube + vector + grouped * store;
  }

  const Shape &s;
  const Contraction &c;
  const SocTable &soc;
  std::optional<JoinedPlan> best;
};

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

class Writer {
public:
  Writer(ProgramWriter &w, const Contraction &c, const JoinedPlan &p)
      : w(w), c(c), p(p), s(c, p.swapped), f16(w.builder().getF16Type()),
        f32(w.builder().getF32Type()) {}

  void write() {
    if (c.needsVector())
      body = epilogueBody(c);
    nest(0, p.coresImage, p.images, [&](Expr i) {
      image = i;
      nest(1, p.coresGroup, p.heads / p.group, [&](Expr group) {
        firstHead = group * p.group;
        if (p.joinsRhs)
          loadRhs(firstHead, p.group);
        nest(2, p.coresRow, divideCeil(c.rows, p.m), [&](Expr part) { rows(part * p.m); });
      });
    });
  }

private:
  /// Writes steps that the cores of a grid dim share; surplus steps are clamped away.
  void nest(unsigned dim, int64_t cores, int64_t steps, llvm::function_ref<void(Expr)> inside) {
    int64_t trips = divideCeil(steps, cores);
    Expr start = cores == 1 ? Expr(0) : Expr(w.coordinate(dim)) * trips;
    loop(trips, [&](Expr i) { inside(start + i); });
  }
  /// Writes a loop; loops of one trip are omitted because the number of loops is limited.
  void loop(int64_t trips, llvm::function_ref<void(Expr)> inside) {
    if (trips == 1)
      return inside(Expr(0));
    w.loop(trips, [&](Value iv) { inside(Expr(iv)); });
  }

  BufferAddress at(Value buffer, const Products &strides, const Expr &head, const Expr &inside) {
    return {w.argument(buffer), image * strides.image + head * strides.head + inside};
  }
  Span rowSpan() const { return {p.m, firstRow, c.rows}; }

  void loadLhs(const Expr &head, int64_t heads) {
    lhsColumn = alignTo(p.m, 16) * 32;
    int64_t columns = heads > 1 ? heads * c.depth : c.depth;
    lhsL1 = w.alloc(ir::MemoryKind::L1, divideCeil(columns, 16) * lhsColumn);
    w.ndToNz(lhsL1, at(c.lhs, s.lhs, head, firstRow * c.lhsRow), rowSpan(), {columns, {}, columns},
             f16, c.lhsRow, lhsColumn);
  }
  void loadRhs(const Expr &head, int64_t heads) {
    rhsColumn = alignTo(s.rhsRows, 16) * 32;
    int64_t columns = heads > 1 ? heads * s.rhsColumns : s.rhsColumns;
    rhsL1 = w.alloc(ir::MemoryKind::L1, divideCeil(columns, 16) * rhsColumn);
    w.ndToNz(rhsL1, at(c.rhs, s.rhs, head, 0), {s.rhsRows, {}, s.rhsRows}, {columns, {}, columns},
             f16, c.rhsRow, rhsColumn);
  }

  void rows(const Expr &first) {
    firstRow = first;
    if (p.joinsLhs)
      loadLhs(firstHead, p.group);
    int64_t element = c.resultBytes();
    pitch = p.n * element * (p.joinsOut ? p.group : 1);
    if (p.joinsOut)
      ub = w.alloc(ir::MemoryKind::UB, p.m * pitch);
    loop(p.group, [&](Expr inGroup) {
      head = inGroup;
      if (!p.joinsLhs)
        loadLhs(firstHead + head, 1);
      if (!p.joinsRhs)
        loadRhs(firstHead + head, 1);
      product();
      results();
    });
    if (p.joinsOut)
      store(firstHead, p.group * c.columns * element);
  }

  void product() {
    int64_t blocks = p.k / 16, m1 = divideCeil(p.m, 16), n1 = p.n / 16;
    int64_t depthBlocks = divideCeil(c.depth, 16);
    l0c = w.alloc(ir::MemoryKind::L0C, n1 * m1 * 1024);
    Expr lhsHead = p.joinsLhs ? head * (depthBlocks * lhsColumn) : Expr(0);
    Expr rhsHead = p.joinsRhs ? head * (divideCeil(s.rhsColumns, 16) * rhsColumn) : Expr(0);
    loop(divideCeil(c.depth, p.k), [&](Expr step) {
      Span sum{blocks, step * blocks, depthBlocks};
      Value a = w.alloc(ir::MemoryKind::L0A, m1 * blocks * 512);
      w.load2d(a, {lhsL1, lhsHead + step * (blocks * lhsColumn)}, {m1, {}, m1}, sum,
               {blocks * 512, 512}, {512, lhsColumn});
      Value b = w.alloc(ir::MemoryKind::L0B, n1 * blocks * 512);
      Steps from = s.transposed ? Steps{rhsColumn, 512} : Steps{512, rhsColumn};
      w.load2d(b, {rhsL1, rhsHead + step * (blocks * from.outer)}, sum, {n1, {}, n1},
               {n1 * 512, 512}, from, /*transpose=*/!s.transposed);
      SmallVector<Value> ivs;
      for (auto [iv, stride] : step.terms)
        ivs.push_back(iv);
      w.mmad(l0c, a, b, std::nullopt, rowSpan(), {p.n, {}, c.columns}, {p.k, step * p.k, c.depth},
             f16, ivs, m1 * 1024, blocks * 512, n1 * 512);
    });
  }

  void results() {
    int64_t element = c.resultBytes(), column1 = alignTo(p.m, 16) * 64;
    Span columns{p.n, {}, c.columns};
    auto fromL0C = [&](BufferAddress to, int64_t row) {
      w.moveL0C(std::move(to), l0c, rowSpan(), columns, f32, c.outputType, c.convertsWithRelu(),
                column1, row, 16 * element);
    };
    Expr number = firstHead + head;
    if (w.soc().split)
      return fromL0C(at(c.output.value, s.out, number, firstRow * c.output.row), c.output.row);
    Value residual;
    if (c.residual.value) {
      residual = w.alloc(ir::MemoryKind::UB, p.m * p.n * element);
      w.move(residual, at(c.residual.value, s.residual, number, firstRow * c.residual.row),
             {c.columns * element, {}}, {}, {0, p.n * element}, {0, c.residual.row}, rowSpan());
    }
    if (!p.joinsOut)
      ub = w.alloc(ir::MemoryKind::UB, p.m * pitch);
    Expr offset = p.joinsOut ? head * (c.columns * element) : Expr(0);
    fromL0C({ub, offset}, pitch);
    if (body) {
      VectorOperand result{ub, offset, c.outputType, {pitch, 0}};
      SmallVector<VectorOperand> inputs{result};
      if (residual)
        inputs.push_back({residual, 0, c.outputType, {p.n * element, 0}});
      emitScalarCode(w, *body, inputs, result, {rowSpan(), {}, columns});
    }
    if (!p.joinsOut)
      store(number, c.columns * element);
  }

  void store(const Expr &number, int64_t bytes) {
    w.move(at(c.output.value, s.out, number, firstRow * c.output.row), ub, {bytes, {}}, {},
           {0, c.output.row}, {0, pitch}, rowSpan());
  }

  ProgramWriter &w;
  const Contraction &c;
  const JoinedPlan &p;
  Shape s;
  Type f16, f32;
  Expr image, firstHead, firstRow, head;
  Value lhsL1, rhsL1, l0c, ub;
  int64_t lhsColumn = 0, rhsColumn = 0, pitch = 0;
  std::unique_ptr<Block> body;
};

} // namespace

std::optional<JoinedPlan> joinedPlanOf(const Contraction &c, const SocTable &soc) {
  if (c.lhsForm != LhsForm::Rows || c.rhsForm == RhsForm::Packed || c.bias || c.slope ||
      c.groups > 1 || (c.outers > 1 && !c.rhsOuter) || (c.others > 1 && !c.rhsOther))
    return std::nullopt;
  std::optional<JoinedPlan> best;
  for (bool swapped : {false, true}) {
    Shape shape(c, swapped);
    std::optional<JoinedPlan> plan = Planner(shape, soc).run(swapped);
    if (plan && (!best || plan->cycles < best->cycles))
      best = plan;
  }
  return best;
}

void writeJoinedProducts(ProgramWriter &writer, const Contraction &contraction,
                         const JoinedPlan &plan) {
  Writer(writer, contraction, plan).write();
}

} // namespace atc::npu
