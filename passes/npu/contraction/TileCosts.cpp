//===-- TileCosts.cpp - the cost model of tiled contractions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds up the work of the busiest core's queues with the rates and latencies of the SoC's table.
// The queues run in parallel, so the slowest one counts, plus everything that cannot overlap.

#include "passes/npu/contraction/TileCosts.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace atc::npu {

using llvm::alignTo;
using llvm::divideCeil;

const char *Estimate::limit() const {
  std::pair<double, const char *> queues[] = {{cube, "m"},    {vector, "v"},  {mte1, "mte1"},
                                              {mte2, "mte2"}, {mte3, "mte3"}, {scalar, "s"}};
  return std::max_element(std::begin(queues), std::end(queues))->second;
}

namespace {

/// Estimates one core's part of a plan: cycles per queue, and those that do not overlap.
class Estimator {
public:
  Estimator(const Contraction &c, const Plan &p, const SocTable &soc)
      : c(c), p(p), soc(soc), rows(std::min(p.tile.l1M, c.rows * p.chunkOuters)),
        columns(std::min<int64_t>(p.tile.l1N, alignTo(c.groupColumns(), 16))),
        mTiles(double(divideCeil(rows, p.tile.m))), nTiles(double(divideCeil(columns, p.tile.n))),
        steps(double(p.depthTrips * p.steps)) {
    countChunks();
  }

  Estimate run() {
    addCube();
    addLoads();
    addResults();
    const double straddles = p.chunkOuters > 1 && !p.imagesOfTile ? double(p.chunkOuters) : 1;
    e.scalar = tiles * (steps * 15 + double(p.pieces) * 12 * straddles + 20);
    addFill();
    // Queues that are nearly as busy hinder each other.
    e.cycles =
        busiest() + e.fill + 0.03 * (e.cube + e.vector + e.mte1 + e.mte2 + e.mte3 + e.scalar);
    return e;
  }

private:
  void countChunks() {
    const Tile &t = p.tile;
    double rowChunks = double(p.outerTrips * p.rowTrips), columnChunks = double(p.columnTrips);
    // The last chunk is smaller where one core has all of them.
    if (p.chunkOuters > 1 && p.coresOuter == 1)
      rowChunks = std::max(1.0, double(c.outers) / double(p.chunkOuters));
    else if (p.chunkOuters == 1 && p.coresRow == 1)
      rowChunks = double(p.outerTrips) * std::max(1.0, double(c.rows) / double(t.l1M));
    if (t.coresN == 1 || c.groups > 1)
      columnChunks = std::max(1.0, double(alignTo(c.groupColumns(), 16)) / double(t.l1N));
    const double around = double(c.others * p.groupTrips);
    chunks = around * rowChunks * columnChunks;
    tiles = chunks * mTiles * nTiles;

    lhsLoads = around * rowChunks;
    rhsLoads = around * columnChunks;
    if (t.order != Order::Lhs)
      lhsLoads *= columnChunks * double(p.depthTrips);
    if (t.order != Order::Rhs)
      rhsLoads *= rowChunks * double(p.depthTrips);
    else if (c.rhsOuter)
      rhsLoads *= double(p.outerTrips);
  }

  /// Adds the cube's products, and the moves from l1 to its operands.
  void addCube() {
    const Tile &t = p.tile;
    const double mBlocks = tiled(rows, t.m), nBlocks = double(columns) / 16,
                 kBlocks = double(c.depthBlocks());
    e.cube = chunks * mBlocks * nBlocks * kBlocks / soc.cubeFractals +
             tiles * steps * double(soc.mmadStart);
    const double rateA =
        c.img2col ? std::max(32.0, soc.img2col / double(c.window.strideW)) : soc.l1ToL0a;
    e.mte1 = tiles * steps * 2 * double(soc.mte1Start) +
             chunks * kBlocks * 512 * (nTiles * mBlocks / rateA + mTiles * nBlocks / soc.l1ToL0b);
    if (c.identity) {
      const double products = tiles * double(t.n / 16);
      e.cube += chunks * mBlocks * nBlocks / soc.cubeFractals + products * double(soc.mmadStart);
      e.mte1 += products * double(soc.mte1Start) + chunks * mBlocks * nBlocks * 512 / soc.l1ToL0a;
    }
    if (c.bias)
      e.mte1 += chunks * nTiles * (double(soc.mte1Start) + double(t.n) * 4 / soc.l1ToUb);
  }

  /// Adds the moves from gm to l1.
  void addLoads() {
    lhs = lhsLoad(rows);
    rhs = rhsLoad(columns);
    e.mte2 = lhsLoads * lhs + rhsLoads * rhs;
  }

  /// Adds what brings results from l0c to gm: fixpipe on a split core, the vector unit otherwise.
  void addResults() {
    const Tile &t = p.tile;
    const double element = double(c.resultBytes()), cores = double(p.grid()),
                 area = chunks * double(rows) * double(columns), pieces = tiles * double(p.pieces);
    const double writeRun = c.blocked() ? double(std::min(t.m, c.rows) * 32)
                            : t.n >= c.columns && c.output.row == c.columns * c.resultBytes()
                                ? 1e9
                                : double(std::min(t.n, c.columns)) * element;
    if (soc.split) {
      tileLeave =
          std::max(double(t.m * t.n) / soc.fixElements, moved(double(t.m * t.n) * element, writeRun,
                                                              soc.l0cToGm, soc.l2Write, cores, 1));
      lastResult = tileLeave;
      e.mte3 = area / double(t.m * t.n) * tileLeave + tiles * double(soc.gmStart);
      if (c.identity)
        e.mte2 += moved(area * element, writeRun, soc.gmToL1, soc.l2Read, cores, missRatio()) +
                  tiles * double(soc.gmStart);
      return;
    }
    tileLeave = double(t.m * t.n) * 4 / soc.l0cToUb;
    e.vector = area * 4 / soc.l0cToUb + area * c.vectorCycles * 256 / soc.vectorBytes +
               pieces * (4 * double(soc.vectorStart) + 16);
    e.mte3 = moved(area * element, writeRun, soc.ubToGm, soc.l2Write, cores, 1) +
             pieces * double(soc.gmStart) * double(p.imagesOfTile ? 1 : p.chunkOuters);
    lastResult = (e.vector + e.mte3) / std::max(1.0, pieces);
    if (c.residual.value)
      e.mte2 += moved(area * element, writeRun, soc.gmToUb, soc.l2Read, cores, missRatio()) +
                pieces * double(soc.gmStart);
  }

  /// Adds the time that does not overlap: single buffers, the first chunk, the last results.
  void addFill() {
    // The next chunk is requested when the scalar unit has put the last steps of this one into the
    // queues, whose depth is limited.
    const double step = std::max(e.cube, e.mte1) / std::max(1.0, tiles * steps);
    const double lead = double(soc.queueDepth) / 4 * step, latency = double(soc.readLatency);
    if (lhsLoads > 1)
      e.fill += (lhsLoads - 1) * std::max(0.0, lhs + latency - lead);
    if (rhsLoads > 1)
      e.fill += (rhsLoads - 1) * std::max(0.0, rhs + latency - lead);
    if (p.lhsBuffers == 1 && lhsLoads > 1)
      e.fill += lhsLoads * (lhs + latency);
    if (p.rhsBuffers == 1 && rhsLoads > 1)
      e.fill += rhsLoads * (rhs + latency);
    if (p.l0cBuffers == 1)
      e.fill += tiles * (tileLeave + double(soc.mmadLatency + soc.vectorLatency));
    e.fill += lhs + rhs + double(soc.readLatency + soc.writeLatency) + lastResult + tileLeave / 2;
  }

  /// Returns the cycles of the queue that is busy for longest, at least those of the buffers: one
  /// is requested, arrives after the latency, is used, and only then requested again. Two buffers
  /// must cover this.
  double busiest() const {
    const double queue = std::max({e.cube, e.vector, e.mte1, e.mte2, e.mte3, e.scalar});
    const double loads = std::max(lhsLoads, rhsLoads);
    if (loads <= 2)
      return queue;
    const double both = p.tile.order == Order::None ? lhs + rhs : lhsLoads > rhsLoads ? lhs : rhs;
    const double turn = both + double(soc.readLatency) + 60 + std::max(e.cube, e.mte1) / loads;
    return std::max(queue, loads * turn / 2);
  }

  static double tiled(int64_t size, int64_t tile) {
    return double(size / tile * divideCeil(tile, 16) + divideCeil(size % tile, 16));
  }

  double shortRuns(double run) const {
    return std::clamp(run / double(soc.shortRun), soc.shortRunFloor, 1.0);
  }
  /// Returns the cycles of a move, by the core's port in short runs or its share of L2.
  double moved(double bytes, double run, double port, double share, double cores,
               double miss) const {
    double shared = share * double(soc.cubeCores) / cores / miss;
    return bytes / std::min(port * shortRuns(run), shared);
  }
  /// Returns the share of bytes that L2 does not hold and DDR delivers.
  double missRatio() const {
    double bytes = double(c.outers * c.others) * double(c.rows * c.depth) * 2;
    return bytes > double(soc.l2Bytes) ? std::max(1.0, soc.l2Read / soc.ddrRate()) : 1;
  }

  double lhsLoad(int64_t rows) const {
    double bytes = double(std::min<int64_t>(p.lhsBytes, p.depthBlocksInL1() * rows * 32));
    double run = double(p.tile.l1K * 2), arithmetic = 0;
    if (c.lhsForm == LhsForm::Rows) {
      if (p.tile.l1K >= c.depth && c.lhsRow == c.depth * 2)
        run = 1e9;
    } else {
      bytes = double(p.lhsBytes);
      run = double(c.denseImage ? p.lhsImage : c.window.width * 32);
      if (c.lhsForm == LhsForm::Image) {
        run = double(p.inRows * c.window.width * 2);
        const double elements = bytes / 8 * double(c.channels);
        // Quantized, the planes are wider than what becomes of them.
        bytes = c.imageQuantization ? elements * 4 : bytes / 2;
        // A difference and a product per element, behind three products for colours, at the vector
        // unit's rate.
        if (!c.pixels.factors.empty())
          arithmetic = elements * (c.colours ? 20 : 8) / double(soc.vectorBytes);
      }
    }
    return double(soc.gmStart) + std::max(arithmetic, moved(bytes, run, soc.gmToL1, soc.l2Read,
                                                            double(p.grid()), missRatio()));
  }
  double rhsLoad(int64_t columns) const {
    int64_t l1K = std::min(p.tile.l1K, int64_t(alignTo(c.depth, 16)));
    double run = double(c.rhsForm == RhsForm::Packed
                            ? (p.tile.l1N >= c.groupColumns() ? 1 << 30 : p.tile.l1N * 32)
                        : c.rhsForm == RhsForm::Rows ? std::min(p.tile.l1N, c.columns) * 2
                                                     : std::min(l1K, c.depth) * 2);
    return double(soc.gmStart) +
           moved(double(l1K * columns * 2), run, soc.gmToL1, soc.l2Read, double(p.grid()), 1);
  }

  const Contraction &c;
  const Plan &p;
  const SocTable &soc;
  Estimate e;
  // Of a chunk, in whole blocks of its tiles.
  const int64_t rows, columns;
  const double mTiles, nTiles;
  const double steps; ///< of a tile along the depth
  double chunks = 0, tiles = 0, lhsLoads = 0, rhsLoads = 0;
  double lhs = 0, rhs = 0; ///< cycles of one load
  double tileLeave = 0;    ///< cycles of one tile out of l0c
  double lastResult = 0;   ///< cycles from the last piece in l0c to gm
};

using Choices = llvm::SmallSetVector<int64_t, 32>;

/// Lists the tiles that are worth an estimate.
class Search {
  const Contraction &c;
  const SocTable &soc;

public:
  Search(const Contraction &c, const SocTable &soc) : c(c), soc(soc) {}

  /// The lowest estimates, one of each kind of plan.
  std::vector<Plan> run(size_t count) {
    // Fewer cores only where the work cannot be divided among all of them.
    for (int64_t cores = soc.cores(false); cores >= 1 && kinds.empty(); cores = cores * 3 / 4)
      for (int64_t coresM = 1; coresM <= cores; ++coresM)
        if (int64_t coresN = cores / coresM; coresM * coresN * 4 >= cores * 3)
          with(coresM, coresN);
    std::vector<std::pair<double, Kind>> ranked;
    for (auto &[kind, candidate] : kinds)
      ranked.push_back({candidate.cycles, kind});
    llvm::sort(ranked);
    std::vector<Plan> plans;
    for (auto &[cycles, kind] : ArrayRef(ranked).take_front(count))
      plans.push_back(std::move(kinds[kind].plan));
    return plans;
  }

  /// The plan without reuse whose tile is nearest to m x n x k.
  std::optional<Plan> nearest(int64_t m, int64_t n, int64_t k) {
    int64_t cores = soc.cores(false), bestDistance = INT64_MAX;
    std::optional<Plan> best;
    n = std::min<int64_t>(n, alignTo(c.groupColumns(), 16));
    while (c.groups > 1 && c.groupColumns() % n)
      n -= 16;
    for (int64_t l1M : rowChunks()) {
      if (std::abs(l1M - m) >= bestDistance)
        continue;
      for (int64_t blocks = c.groups > 1 ? c.depthBlocks() : c.depthUnit;; blocks += c.depthUnit) {
        blocks = std::min(blocks, c.depthBlocks());
        int64_t step = std::min(k / 16, blocks);
        while (blocks % step)
          --step;
        Tile tile{l1M, n, step * 16, l1M, n, blocks * 16, 1, 1, Order::None};
        // As many cores as can share it.
        for (int64_t used = cores; used >= 1; --used) {
          for (tile.coresM = used; tile.coresM >= 1; --tile.coresM) {
            tile.coresN = used / tile.coresM;
            Plan plan = planOf(c, tile, soc);
            if (plan.errorText.empty() && std::abs(l1M - m) < bestDistance) {
              bestDistance = std::abs(l1M - m);
              best = std::move(plan);
            }
          }
        }
        if (blocks * 16 >= k || blocks == c.depthBlocks())
          break;
      }
    }
    return best;
  }

  /// The first plan will do.
  bool anyWillDo = false;

private:
  void with(int64_t coresM, int64_t coresN) {
    int64_t share = columnShare(coresN);
    int64_t allRows = alignTo(c.rows * (c.joinsOuters ? c.outers : 1), 16);
    for (int64_t n : columnTiles(share)) {
      // Small tiles only where there is no more to do.
      int64_t min = std::min<int64_t>(8192, allRows * std::min(share, n));
      for (int64_t l1M : chunks)
        for (int64_t m : rowTiles(l1M)) {
          int64_t area = int64_t(alignTo(m, 16)) * n;
          bool large = area >= min || n * 2 > share || anyWillDo;
          if (large && area * 4 <= int64_t(soc.l0cBytes))
            orders({m, n, 16, l1M, n, 16, coresM, coresN, Order::None}, share);
          if (!kinds.empty() && anyWillDo)
            return;
        }
    }
  }

  /// Plans of a kind differ in their chunks: tile, share of the cores, order.
  using Kind = std::tuple<int64_t, int64_t, int64_t, int>;
  struct Candidate {
    double cycles = 0;
    Plan plan;
  };
  llvm::MapVector<Kind, Candidate> kinds;
  Choices chunks = rowChunks();

  int64_t columnShare(int64_t coresN) const {
    return c.groups > 1 ? c.groupColumns() : alignTo(divideCeil(c.columnBlocks(), coresN) * 16, 16);
  }

  void orders(Tile tile, int64_t share) {
    int64_t whole = c.depthBlocks();
    int64_t max = maxSteps(tile.m, tile.n);
    if (max < 1)
      return;
    tile.l1K = whole * 16;
    tile.k = divideCeil(whole, divideCeil(whole, max)) * 16;
    int64_t aligned = alignTo(share, tile.n);
    tile.order = Order::Lhs;
    offer(tile);
    if (aligned != tile.n) {
      tile.l1N = 2 * tile.n;
      offer(tile);
    }
    tile.order = Order::Rhs;
    tile.l1N = aligned;
    offer(tile);
    if (aligned > 2 * tile.n) {
      tile.l1N = alignTo(divideCeil(share, 2), tile.n);
      offer(tile);
    }
    if (tile.m != tile.l1M)
      return;
    tile.order = Order::None;
    tile.l1N = tile.n;
    offer(tile);
    // Chunks of the contracted dim must be multiples of the steps.
    for (int64_t chunk = c.depthUnit; chunk < whole; chunk *= 2) {
      int64_t step = std::min(max, chunk);
      while (chunk % step)
        --step;
      tile.l1K = chunk * 16;
      tile.k = step * 16;
      offer(tile);
    }
  }

  /// Returns the maximum number of blocks of the contracted dim in two steps in l0a and l0b.
  int64_t maxSteps(int64_t m, int64_t n) const {
    int64_t rows = alignTo(m, 16);
    int64_t roomA = int64_t(soc.l0aBytes), roomB = int64_t(soc.l0bBytes);
    if (c.identity) {
      roomA -= rows * 64;
      roomB -= 512;
    }
    return std::min(roomA / (rows * 64), roomB / (n * 64));
  }

  void offer(const Tile &tile) {
    Plan plan = planOf(c, tile, soc);
    if (!plan.errorText.empty() || (!kinds.empty() && anyWillDo))
      return;
    double cycles = estimate(c, plan, soc).cycles;
    Kind kind{tile.m, tile.n, tile.coresM, int(tile.order) * 2 + (plan.depthTrips > 1)};
    auto [entry, isNew] = kinds.try_emplace(kind);
    if (isNew || cycles < entry->second.cycles)
      entry->second = {cycles, std::move(plan)};
  }

  Choices rowChunks() const {
    Choices choices;
    if (c.joinsOuters)
      for (int64_t images = 2; images <= c.outers && images <= 16; ++images)
        if (images * c.rows <= 8192)
          choices.insert(images * c.rows);
    if (c.rowUnit == 1) {
      choices.insert(c.rows);
      for (int64_t parts = 1; parts <= 64; ++parts)
        choices.insert(alignTo(divideCeil(c.rows, parts), 16));
      for (int64_t size : {16, 32, 64, 96, 128, 192, 208, 256, 384, 400, 448, 512})
        if (size < c.rows)
          choices.insert(size);
      return choices;
    }
    int64_t height = c.rows / c.rowUnit;
    for (int64_t parts = 1; parts <= height; ++parts)
      choices.insert(divideCeil(height, parts) * c.rowUnit);
    return choices;
  }

  Choices rowTiles(int64_t l1M) const {
    Choices choices;
    auto add = [&](int64_t m) {
      if (m <= l1M && m <= 1024)
        choices.insert(m);
    };
    for (int64_t parts = 1; parts <= 32 && (parts == 1 || l1M / parts >= 64); ++parts) {
      add(alignTo(divideCeil(l1M, parts), 16));
      if (l1M % parts == 0)
        add(l1M / parts);
    }
    // Rows of wide images are divided where possible.
    if (c.rowUnit > 512)
      for (int64_t parts = 1; parts <= 64; ++parts)
        if (c.rowUnit % parts == 0)
          add(c.rowUnit / parts);
    return choices;
  }

  Choices columnTiles(int64_t share) const {
    Choices choices;
    int64_t max = std::min<int64_t>(512, alignTo(share, 16));
    if (c.bias)
      max = std::min<int64_t>(max, soc.btBytes / 4);
    for (int64_t n : {16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512})
      if (n <= max)
        choices.insert(n);
    for (int64_t parts = 1; parts <= 8; ++parts)
      if (int64_t n = alignTo(divideCeil(share, parts), 16); n <= max)
        choices.insert(n);
    return choices;
  }
};

} // namespace

Estimate estimate(const Contraction &contraction, const Plan &plan, const SocTable &soc) {
  return Estimator(contraction, plan, soc).run();
}

std::vector<Plan> selectPlans(const Contraction &contraction, const SocTable &soc, size_t count) {
  return Search(contraction, soc).run(count);
}

bool hasPlan(const Contraction &contraction, const SocTable &soc) {
  Search search(contraction, soc);
  search.anyWillDo = true;
  return !search.run(1).empty();
}

std::optional<Plan> fixedPlan(const Contraction &contraction, const SocTable &soc, int64_t m,
                              int64_t n, int64_t k) {
  return Search(contraction, soc).nearest(m, n, k);
}

} // namespace atc::npu
