//===-- CtcBeams.cpp - beam search in outputs of CTC -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorFlow's CTCBeamSearchDecoder. A beam is a sequence of labels, with the logarithms of its
// probabilities to end with a blank and with its last label. Beams are nodes of a tree: a step
// extends them by one label, and keeps those of the highest probability.

#include "kernels/core/Math.h"
#include "kernels/core/Support.h"

namespace atc::kernels {

namespace {

constexpr double kImpossible = -__builtin_inf();

double logSum(double a, double b) {
  if (a == kImpossible || b == kImpossible)
    return maximum(a, b);
  return maximum(a, b) + math::log(1 + math::exp(-math::abs(a - b)));
}

struct Chance {
  double total = kImpossible, blank = kImpossible, label = kImpossible;
};

struct Beam {
  Chance before, now; ///< of the last step and of this one
  int32_t parent = -1, label = -1;
  int32_t child = -1, sibling = -1; ///< the first child, and the next of the same parent
  int64_t made = -1;                ///< the step that made it
  bool isActive() const { return now.total != kImpossible; }
};

/// The search in one sequence. `active` has room for two times `width` beams, `children` for all
/// labels, and `beams` for the root and `width` beams of each step.
class BeamSearch {
public:
  BeamSearch(Beam *beams, int32_t *active, int32_t *children, int64_t width, int64_t labels)
      : beams(beams), active(active), extended(active + width), children(children), width(width),
        labels(labels) {
    for (int64_t c = 0; c < labels; ++c)
      children[c] = -1;
    beams[0] = {};
    beams[0].now = {0, 0, kImpossible};
    active[0] = 0;
  }

  /// `scoreOf(c)` is the logarithm of the probability of label c, of the blank where c = labels.
  template <typename Fn> void step(Fn &&scoreOf) {
    ++number;
    const int64_t branches = count;
    for (int64_t i = 0; i < branches; ++i) {
      extended[i] = active[i];
      beams[active[i]].before = beams[active[i]].now;
    }
    for (int64_t i = 0; i < branches; ++i) {
      Beam &beam = beams[extended[i]];
      if (beam.parent >= 0) {
        // The parent may have had its turn: what counts is whether it is active at all.
        const Beam &parent = beams[beam.parent];
        if (parent.isActive())
          beam.now.label = logSum(beam.now.label, continued(parent, beam.label));
        beam.now.label += scoreOf(int64_t(beam.label));
      }
      beam.now.blank = beam.before.total + scoreOf(labels);
      beam.now.total = logSum(beam.now.blank, beam.now.label);
    }
    findLeast();
    // Beams are extended also where they are no longer active.
    for (int64_t i = 0; i < branches; ++i)
      if (isCandidate(beams[extended[i]].before.total))
        extend(extended[i], scoreOf);
    sortActive();
  }

  int64_t size() const { return count; }
  const Beam &best(int64_t i) const { return beams[active[i]]; }
  const Beam &parentOf(const Beam &beam) const { return beams[beam.parent]; }

private:
  /// The probability of a sequence that a label continues: behind the same label only where a blank
  /// is between both.
  static double continued(const Beam &beam, int64_t label) {
    return beam.label == label ? beam.before.blank : beam.before.total;
  }

  /// Sorts the active beams, the most probable one first.
  void sortActive() {
    for (int64_t i = 1; i < count; ++i) {
      const int32_t beam = active[i];
      int64_t at = i;
      for (; at > 0 && beams[active[at - 1]].now.total < beams[beam].now.total; --at)
        active[at] = active[at - 1];
      active[at] = beam;
    }
  }
  void findLeast() {
    min = 0;
    for (int64_t i = 1; i < count; ++i)
      if (beams[active[i]].now.total < beams[active[min]].now.total)
        min = i;
  }
  bool isCandidate(double total) const {
    return total > kImpossible && (count < width || total > beams[active[min]].now.total);
  }

  template <typename Fn> void extend(int32_t from, Fn &&scoreOf) {
    for (int32_t at = beams[from].child; at >= 0; at = beams[at].sibling)
      children[beams[at].label] = at;
    for (int64_t c = 0; c < labels; ++c) {
      const int32_t known = children[c];
      children[c] = -1;
      if (known >= 0 && beams[known].isActive())
        continue;
      const double total = continued(beams[from], c) + scoreOf(c);
      if (!isCandidate(total)) {
        if (known >= 0)
          beams[known].before = beams[known].now = {};
        continue;
      }
      if (count == width)
        drop();
      const int32_t next = known >= 0 ? known : add(from, int32_t(c));
      beams[next].before = {};
      beams[next].now = {total, kImpossible, total};
      active[count++] = next;
      findLeast();
    }
  }

  /// Drops the least probable beam. One that this step made has no children yet, and goes out of
  /// the tree, so that a step leaves no more than `width` new ones.
  void drop() {
    const int32_t dropped = active[min];
    active[min] = active[--count];
    beams[dropped].now = {};
    if (beams[dropped].made != number)
      return;
    int32_t *link = &beams[beams[dropped].parent].child;
    while (*link != dropped)
      link = &beams[*link].sibling;
    *link = beams[dropped].sibling;
    beams[dropped].sibling = spare;
    spare = dropped;
  }

  int32_t add(int32_t parent, int32_t label) {
    const int32_t next = spare >= 0 ? spare : used++;
    spare = spare >= 0 ? beams[spare].sibling : -1;
    beams[next] = {};
    beams[next].parent = parent;
    beams[next].label = label;
    beams[next].made = number;
    beams[next].sibling = beams[parent].child;
    beams[parent].child = next;
    return next;
  }

  Beam *beams;
  int32_t *active, *extended, *children;
  int64_t width, labels, count = 1, min = 0, number = 0;
  int32_t used = 1, spare = -1;
};

/// Returns the logarithm of what the sum of exponentials of `count` scores is.
template <typename T> double logOfSum(const T *scores, int64_t count) {
  double max = kImpossible, sum = 0;
  for (int64_t c = 0; c < count; ++c)
    max = maximum(max, double(scores[c]));
  for (int64_t c = 0; c < count; ++c)
    sum += math::exp(double(scores[c]) - max);
  return max + math::log(sum);
}

template <typename T> void decodeBeams(Context &c) {
  const Tensor scores = c.in(0), lengths = c.in(1);
  const int64_t steps = scores.dim(0), batch = scores.dim(1), classes = scores.dim(2);
  const int64_t width = c.integer("beams", 1), paths = c.integer("paths", 1);
  const bool merges = c.integer("merge_repeated", 0) != 0;
  constexpr int64_t maxBeams = int64_t(1) << 26;
  if (classes < 1)
    return c.fail("there is no class, which the blank needs");
  if (paths < 1 || width < paths)
    return c.fail("% paths of % beams are asked for", paths, width);
  if (width > maxBeams / maximum(steps, int64_t(1)))
    return c.fail("% beams for % steps are too many", width, steps);
  int64_t *labels = c.make<int64_t>(0, I64, Dims(batch, paths, steps));
  T *chances = labels ? c.make<T>(1, scores.dtype(), Dims(batch, paths)) : nullptr;
  if (!chances)
    return;
  Beam *beams = c.scratch<Beam>(1 + steps * width);
  int32_t *active = beams ? c.scratch<int32_t>(2 * width + classes) : nullptr;
  if (!active)
    return;
  for (int64_t i = 0; i < batch * paths * steps; ++i)
    labels[i] = -1;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = lengths.as<int32_t>()[b];
    if (length < 0 || length > steps)
      return c.fail("sequence % has % steps of %", b, length, steps);
    BeamSearch search(beams, active, active + 2 * width, width, classes - 1);
    for (int64_t t = 0; t < length; ++t) {
      const T *row = scores.as<T>() + (t * batch + b) * classes;
      const double whole = logOfSum(row, classes);
      search.step([&](int64_t label) { return double(row[label]) - whole; });
    }
    if (search.size() < paths)
      return c.fail("sequence % has % possible paths, of which % are asked for", b, search.size(),
                    paths);
    for (int64_t p = 0; p < paths; ++p) {
      const Beam *beam = &search.best(p);
      chances[b * paths + p] = T(beam->now.total);
      int64_t *to = labels + (b * paths + p) * steps, size = 0, last = -1;
      for (; beam->parent >= 0; beam = &search.parentOf(*beam)) {
        if (!merges || beam->label != last)
          to[size++] = beam->label;
        last = beam->label;
      }
      for (int64_t i = 0; i < size / 2; ++i) {
        const int64_t kept = to[i];
        to[i] = to[size - 1 - i];
        to[size - 1 - i] = kept;
      }
    }
  }
}

} // namespace

/// Inputs: scores [steps, batch, classes], of which the last class is the blank, and how many steps
/// each sequence has. Outputs: the most probable paths [batch, paths, steps], filled with -1 behind
/// their labels, and the logarithms of their probabilities.
ATC_KERNEL(CtcBeams) {
  if (in(0).dtype() == F64)
    return decodeBeams<double>(*this);
  decodeBeams<float>(*this);
}

} // namespace atc::kernels
