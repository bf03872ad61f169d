//===-- GenerateConv.cpp - convolutions, dims known at run time -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of four output channels is computed in blocks of columns that stay in the first cache. All
// taps of a row of the kernel are added at once where their inputs exist, so that four taps cost
// one load and store of a sum.

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/CallWindow.h"
#include "passes/cpu/calls/Generators.h"

#include "kernels/core/GeneratedCode.h"
#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// The most taps of a row that are added at once.
constexpr int64_t kMaxTaps = 8;
constexpr int64_t kChannels = 4;
constexpr int64_t kBlock = 256;

/// The loops that convolutions and transposed convolutions share: over channels in groups, with
/// accumulators of blocks of columns.
class ChannelLoops {
public:
  /// Columns of the same index modulo `phases` are next to each other in the sums.
  ChannelLoops(RowBuilder &b, const Window &window, Value groups, Value channelsPerGroup,
               int64_t phases)
      : b(b), in(b.in(0)), w(b.in(1)), out(b.out()), window(window), groups(groups),
        own(channelsPerGroup), wide(RowBuilder::computeType(in.element)), rank(window.rank()),
        phases(phases), perPhase(kBlock / phases) {
    for (int64_t i = 0; i < kChannels; ++i)
      sums.push_back(b.scratch(wide, kBlock));
  }
  virtual ~ChannelLoops() = default;

  /// Builds the loops over planes of the result, four of a group at a time.
  void build() {
    b.setRowDims(rank);
    size = b.product(ArrayRef(out.dims).drop_front(2));
    Value up = b.sub(own, b.index(1));
    // Groups of all images, numbered consecutively.
    b.loop(b.div(b.firstRow(), own), b.div(b.add(b.endRow(), up), own), [&](Value group) {
      Value first = b.mul(group, own);
      Value begin = b.max(first, b.firstRow()), end = b.min(b.add(first, own), b.endRow());
      Value blocks = b.div(b.sub(end, begin), b.index(kChannels));
      Value rest = b.add(begin, b.mul(blocks, b.index(kChannels)));
      b.fold(begin, rest, b.index(kChannels), {}, [&](Value plane, ValueRange) -> Indices {
        rows(plane, group, kChannels);
        return {};
      });
      b.loop(rest, end, [&](Value plane) { rows(plane, group, 1); });
    });
  }

protected:
  /// Adds all products to the sums of columns [first, first + count) of the row at `position`.
  virtual void addProducts(ArrayRef<Value> position, Value first, Value count) = 0;

  Value multiplyAdd(Value a, Value x, Value sum) {
    constexpr auto contract = arith::FastMathFlags::contract;
    Value product = arith::MulFOp::create(b, a, x, contract);
    return arith::AddFOp::create(b, sum, product, contract);
  }

  RowBuilder &b;
  const Port &in, &w, &out;
  const Window &window;
  Value groups, own, size;
  Type wide;
  int64_t rank, phases, perPhase;
  std::vector<Port> sums;
  // The rows that are computed:
  int64_t channels = 1;
  Value plane, image, group, channel; ///< the first plane; its group in the image; its channel

private:
  void rows(Value firstPlane, Value number, int64_t count) {
    plane = firstPlane;
    channels = count;
    image = b.div(number, groups);
    group = b.rem(number, groups);
    channel = b.sub(plane, b.mul(image, b.mul(groups, own)));
    SmallVector<Value> bias;
    for (int64_t r = 0; r < count; ++r)
      bias.push_back(b.has(2) ? b.loadWide(b.in(2), b.add(channel, b.index(r)))
                              : b.constant(wide, 0));
    ArrayRef<Value> spatial = ArrayRef(out.dims).drop_front(2);
    b.nest(spatial.drop_back(), [&](ArrayRef<Value> position) {
      Value to = b.index(0);
      for (auto [index, stride] : llvm::zip(position, ArrayRef(out.strides).drop_front(2)))
        to = b.add(to, b.mul(index, stride));
      Value max = b.index(phases * perPhase);
      Value blocks = b.div(b.add(spatial.back(), b.index(phases * perPhase - 1)), max);
      b.loop(blocks, [&](Value block) {
        Value first = b.mul(block, max);
        Value n = b.min(max, b.sub(spatial.back(), first));
        b.loop(phases == 1 ? n : max, [&](Value j) {
          for (int64_t r = 0; r < channels; ++r)
            b.store(sums[r], bias[r], j);
        });
        addProducts(position, first, n);
        store(b.add(to, first), n);
      });
    });
  }

  /// Writes the sums; `to` is the offset of the first column in a plane.
  void store(Value to, Value count) {
    for (int64_t r = 0; r < channels; ++r) {
      Value base = b.add(b.mul(b.add(plane, b.index(r)), size), to);
      for (int64_t phase = 0; phase < phases; ++phase) {
        Value own = b.div(b.add(count, b.index(phases - 1 - phase)), b.index(phases));
        b.loop(own, [&](Value i) {
          Value sum = b.load(sums[r], b.add(i, b.index(phase * perPhase)));
          b.storeWide(out, sum, b.add(base, b.add(b.mul(i, b.index(phases)), b.index(phase))));
        });
      }
    }
  }
};

class Conv : public ChannelLoops {
public:
  Conv(RowBuilder &b, const Window &window, Value groups)
      : ChannelLoops(b, window, groups, b.div(b.in(1).dims[0], groups), /*phases=*/1) {}

protected:
  void addProducts(ArrayRef<Value> position, Value first, Value count) override {
    Value inChannels = w.dims[1];
    Value from = b.add(b.mul(image, in.strides[0]), b.mul(b.mul(group, inChannels), in.strides[1]));
    Value weights = b.mul(channel, w.strides[0]);
    // Kernels of one column add four channels at once.
    const bool isNarrow = !window.kernel.empty() && window.kernel.back() == 1;
    const int64_t step = isNarrow ? 4 : 1;
    Value whole = isNarrow ? b.mul(b.div(inChannels, b.index(step)), b.index(step)) : inChannels;
    auto addChannels = [&](Value c, int64_t together) {
      addTaps(0, b.add(from, b.mul(c, in.strides[1])), b.add(weights, b.mul(c, w.strides[1])),
              position, first, count, together);
    };
    b.fold(b.index(0), whole, b.index(step), {}, [&](Value c, ValueRange) -> Indices {
      addChannels(c, step);
      return {};
    });
    if (isNarrow)
      b.loop(whole, inChannels, [&](Value c) { addChannels(c, 1); });
  }

private:
  void addTaps(int64_t d, Value base, Value weights, ArrayRef<Value> position, Value first,
               Value count, int64_t together) {
    if (d + 1 == rank)
      return addColumns(base, weights, first, count, together);
    b.loop(w.dims[d + 2], [&](Value tap) {
      Value at = b.add(b.mul(position[d], b.index(window.stride[d])),
                       b.mul(tap, b.index(window.dilation[d])));
      at = b.sub(at, window.before[d]);
      b.ifThen(b.compare(arith::CmpIPredicate::ult, at, in.dims[d + 2]), [&] {
        addTaps(d + 1, b.add(base, b.mul(at, in.strides[d + 2])),
                b.add(weights, b.mul(tap, w.strides[d + 2])), position, first, count, together);
      });
    });
  }

  /// An input that is multiplied: column j reads `base + j * stride + shift`, where j * stride +
  /// shift is a column of the input.
  struct Source {
    Value base, shift, weights;
  };

  void addColumns(Value base, Value weights, Value first, Value count, int64_t together) {
    const int64_t d = rank - 1;
    Value stride = b.index(window.stride[d]), dilation = b.index(window.dilation[d]);
    Value start = b.sub(b.mul(first, stride), window.before[d]);
    auto source = [&](Value tap) {
      return Source{base, b.add(start, b.mul(tap, dilation)), b.add(weights, tap)};
    };
    const int64_t taps = window.kernel.empty() ? 0 : window.kernel.back();
    if (taps == 0 || taps > kMaxTaps)
      return b.loop(w.dims[d + 2], [&](Value tap) { addSources({source(tap)}, count); });
    SmallVector<Source> sources;
    for (int64_t tap = 0; tap < taps; ++tap)
      sources.push_back(source(b.index(tap)));
    for (int64_t c = 1; c < together; ++c) {
      Source next = sources.front();
      next.base = b.add(base, b.mul(in.strides[1], b.index(c)));
      next.weights = b.add(weights, b.mul(w.strides[1], b.index(c)));
      sources.push_back(next);
    }
    addSources(sources, count);
  }

  void addSources(ArrayRef<Source> sources, Value count) {
    const int64_t step = window.stride.back();
    Value stride = b.index(step), up = b.index(step - 1), zero = b.index(0);
    Value width = in.dims.back();
    // All inputs of columns [low, high) exist.
    Value low = zero, high = count;
    SmallVector<SmallVector<Value>> factors(channels);
    for (const Source &source : sources) {
      Value missing = b.max(b.sub(zero, source.shift), zero);
      Value room = b.max(b.sub(width, source.shift), zero);
      low = b.max(low, step == 1 ? missing : b.div(b.add(missing, up), stride));
      high = b.min(high, step == 1 ? room : b.div(b.add(room, up), stride));
      for (int64_t r = 0; r < channels; ++r)
        factors[r].push_back(b.loadWide(w, b.add(source.weights, b.mul(w.strides[0], b.index(r)))));
    }
    low = b.min(low, count);
    high = b.max(low, high);
    auto add = [&](Value j, function_ref<Value(const Source &)> element) {
      SmallVector<Value> values = llvm::map_to_vector(sources, element);
      for (int64_t r = 0; r < channels; ++r) {
        Value sum = b.load(sums[r], j);
        for (auto [x, factor] : llvm::zip(values, factors[r]))
          sum = multiplyAdd(factor, x, sum);
        b.store(sums[r], sum, j);
      }
    };
    b.loop(low, high, [&](Value j) {
      Value along = b.mul(j, stride);
      add(j, [&](const Source &source) {
        return b.loadWide(in, b.add(b.add(source.base, source.shift), along));
      });
    });
    if (sources.size() == 1)
      return;
    // Columns of which some inputs are pads. One source alone has none.
    b.loop(b.add(low, b.sub(count, high)), [&](Value i) {
      Value isBefore = b.compare(arith::CmpIPredicate::slt, i, low);
      Value j = b.select(isBefore, i, b.add(b.sub(i, low), high));
      Value along = b.mul(j, stride);
      add(j, [&](const Source &source) {
        Value at = b.add(source.shift, along);
        Value exists = b.compare(arith::CmpIPredicate::ult, at, width);
        Value x = b.loadWide(in, b.add(source.base, b.select(exists, at, zero)));
        return b.select(exists, x, b.constant(wide, 0));
      });
    });
  }
};

/// Adds what the inputs scatter to a row of the result: column o gets x[i] * w[tap] where o = i *
/// stride + tap * dilation - before. The columns of one residue modulo the stride are next to each
/// other in the sums.
class ConvTranspose : public ChannelLoops {
public:
  ConvTranspose(RowBuilder &b, const Window &window, Value groups)
      : ChannelLoops(b, window, groups, b.in(1).dims[1], window.stride.back()) {}

protected:
  void addProducts(ArrayRef<Value> position, Value first, Value count) override {
    Value inChannels = b.div(w.dims[0], groups);
    Value start = b.mul(group, inChannels);
    Value local = b.sub(channel, b.mul(group, own));
    b.loop(inChannels, [&](Value c) {
      Value source = b.add(start, c);
      Value base = b.add(b.mul(image, in.strides[0]), b.mul(source, in.strides[1]));
      Value weights = b.add(b.mul(source, w.strides[0]), b.mul(local, w.strides[1]));
      addTaps(0, base, weights, position, first, count);
    });
  }

private:
  void addTaps(int64_t d, Value base, Value weights, ArrayRef<Value> position, Value first,
               Value count) {
    Value stride = b.index(window.stride[d]), dilation = b.index(window.dilation[d]);
    Value zero = b.index(0), width = in.dims[d + 2];
    b.loop(w.dims[d + 2], [&](Value tap) {
      Value weight = b.add(weights, b.mul(tap, w.strides[d + 2]));
      Value shift = b.sub(window.before[d], b.mul(tap, dilation));
      if (d + 1 < rank) {
        Value at = b.add(position[d], shift);
        // A negative sum is a large number without a sign.
        Value input = b.div(at, stride);
        Value isWhole = b.compare(arith::CmpIPredicate::eq, b.mul(input, stride), at);
        Value exists = b.compare(arith::CmpIPredicate::ult, input, width);
        b.ifThen(arith::AndIOp::create(b, isWhole, exists), [&] {
          addTaps(d + 1, b.add(base, b.mul(input, in.strides[d + 2])), weight, position, first,
                  count);
        });
        return;
      }
      // Inputs [from, to) reach columns of the block: column i * stride - offset.
      Value offset = b.add(first, shift), up = b.index(window.stride[d] - 1);
      Value from = b.div(b.add(b.max(offset, zero), up), stride);
      Value to = b.div(b.add(b.max(b.add(offset, count), zero), up), stride);
      to = b.min(to, width);
      SmallVector<Value> factors;
      for (int64_t r = 0; r < channels; ++r)
        factors.push_back(b.loadWide(w, b.add(weight, b.mul(w.strides[1], b.index(r)))));
      // All of them have one phase.
      Value rest = arith::RemSIOp::create(b, b.sub(zero, offset), stride);
      Value isNegative = b.compare(arith::CmpIPredicate::slt, rest, zero);
      Value phase = b.select(isNegative, b.add(rest, stride), rest);
      Value moved = arith::DivSIOp::create(b, b.add(offset, phase), stride);
      Value location = b.sub(b.mul(phase, b.index(perPhase)), moved);
      b.loop(from, to, [&](Value i) {
        Value x = b.loadWide(in, b.add(base, i));
        Value j = b.add(location, i);
        for (int64_t r = 0; r < channels; ++r)
          b.store(sums[r], multiplyAdd(factors[r], x, b.load(sums[r], j)), j);
      });
    });
  }
};

/// Returns whether data, weights and a bias have the form of a convolution.
bool hasForm(RowBuilder &b, const FailureOr<Window> &window) {
  const Port &in = b.in(0);
  return succeeded(window) && b.has(1) && b.in(1).rank() == in.rank() && in.isFloat() &&
         b.in(1).element == in.element && b.out().element == in.element &&
         b.out().rank() == in.rank() && (!b.has(2) || b.in(2).element == in.element);
}

bool conv(RowBuilder &b, graph::HostCallOp call) {
  FailureOr<Window> window = readWindow(call, b.in(0).rank() - 2);
  if (!hasForm(b, window) || host::integerOf(call, "groups_by_channels", 0) != 0)
    return false;
  const int64_t groups = host::integerOf(call, "group", 1);
  if (groups < 1 || isLarge(call.inputsByPosition()[1], kernels::kMaxConvProducts))
    return false;
  Indices kernel(ArrayRef(b.in(1).dims).drop_front(2));
  setWindow(b, call, *window, kernel);
  Conv(b, *window, b.index(groups)).build();
  return true;
}

bool convTranspose(RowBuilder &b, graph::HostCallOp call) {
  FailureOr<Window> window = readWindow(call, b.in(0).rank() - 2);
  const int64_t groups = host::integerOf(call, "group", 1);
  // Blocks are to have several columns of each phase.
  if (!hasForm(b, window) || groups < 1 || window->stride.back() > 16 ||
      isLarge(call.inputsByPosition()[1], kernels::kMaxTransposedProducts))
    return false;
  const int64_t rank = window->rank();
  const bool upper = hasText(call, "auto_pad", "NOTSET", "SAME_UPPER");
  const bool same = upper || hasText(call, "auto_pad", "NOTSET", "SAME_LOWER");
  auto given = [&](StringRef name) {
    return integersOf(call, name).value_or(SmallVector<int64_t>());
  };
  const SmallVector<int64_t> more = given("output_padding"), wanted = given("output_shape");
  if (!more.empty() && int64_t(more.size()) != rank)
    return false;
  for (int64_t d = 0; d < rank; ++d) {
    Value before = b.index(window->front[d]);
    if (same || !wanted.empty()) {
      // If the result is smaller than the reach of all products, both ends are cropped.
      Value one = b.index(1), size = b.in(1).dims[d + 2];
      Value full = b.mul(b.sub(b.in(0).dims[d + 2], one), b.index(window->stride[d]));
      full = b.add(full, b.mul(b.sub(size, one), b.index(window->dilation[d])));
      full = b.add(full, b.index(1 + (more.empty() ? 0 : more[d])));
      Value total = b.max(b.sub(full, b.out().dims[d + 2]), b.index(0));
      before = b.div(total, b.index(2));
      before = upper ? before : b.sub(total, before);
    }
    window->before.push_back(before);
  }
  ConvTranspose(b, *window, b.index(groups)).build();
  return true;
}

} // namespace

Generator findConvGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"Conv", conv},
      {"ConvTranspose", convTranspose},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
