//===-- GearRanges.cpp - ranges of dims become gears ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/gears/GearRanges.h"

#include "frontends/Tensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atc::driver {

namespace {

/// Where a dim without a limit ends.
constexpr int64_t defaultEnd = 64;

/// Reads "3", "-1" or "1~8". Returns false for anything else, as for ranges beyond maxDim.
bool readDim(StringRef word, DimRange &dim) {
  if (word == "-1") {
    dim = {};
    return true;
  }
  auto [low, high] = word.split('~');
  const bool isRange = word.contains('~');
  if (low.trim().getAsInteger(10, dim.min) || dim.min < 1)
    return false;
  dim.max = dim.min;
  if (!isRange)
    return true;
  if (high.trim() == "-1") {
    dim.max = DimRange::noLimit;
    return true;
  }
  return !high.trim().getAsInteger(10, dim.max) && dim.max >= dim.min && dim.max <= maxDim;
}

/// Returns the error code of a flag whose text cannot be read.
ErrorCode codeOf(StringRef flag) {
  return flag == "input_shape_range" ? ErrorCode("E10048") : ErrorCode("E10002");
}

StringRef sampleOf(StringRef flag) {
  return flag == "input_shape_range"  ? "\"x:[1~8,3,224,-1];y:[4]\""
         : flag == "input_hint_shape" ? "\"0:[8,3,224,224];1:[8,4]\""
                                      : "\"x:1~8,3,224,224;y:1,4\"";
}

} // namespace

RangedShapes readRanges(StringRef flag, StringRef text, Diagnostics &diagnostics) {
  RangedShapes shapes;
  auto fail = [&](StringRef item, const Twine &reason) {
    diagnostics.error(codeOf(flag), "the value \"" + item + "\" of --" + flag +
                                        " is invalid: " + reason + "; write " + sampleOf(flag));
  };
  for (const std::string &item : splitNames(text)) {
    // Names may have colons of their own.
    const size_t colon = StringRef(item).rfind(':');
    const StringRef name = StringRef(item).take_front(colon == StringRef::npos ? 0 : colon).trim();
    if (name.empty()) {
      fail(item, "there is no name");
      continue;
    }
    StringRef dims = StringRef(item).drop_front(colon + 1).trim();
    if (dims.consume_front("[") != dims.consume_back("]")) {
      fail(item, "a bracket is missing");
      continue;
    }
    RangedShapes::value_type shape{name.str(), {}};
    bool good = true;
    if (!dims.trim().empty())
      for (StringRef word : split(dims, ',')) {
        if (!readDim(word.trim(), shape.second.emplace_back())) {
          fail(item, "\"" + word.trim() +
                         "\" is no size, no range like 1~8 (up to 2^31) and not "
                         "-1");
          good = false;
          break;
        }
      }
    if (good)
      shapes.push_back(std::move(shape));
  }
  return shapes;
}

InputShapes withoutRanges(const RangedShapes &shapes) {
  InputShapes result;
  for (const auto &[name, dims] : shapes) {
    result.emplace_back(name, std::vector<int64_t>());
    for (const DimRange &dim : dims)
      result.back().second.push_back(dim.isFixed() ? dim.min : -1);
  }
  return result;
}

RangedShapes withRanges(const InputShapes &shapes) {
  RangedShapes result;
  for (const auto &[name, dims] : shapes) {
    result.emplace_back(name, std::vector<DimRange>());
    for (int64_t dim : dims)
      result.back().second.push_back(dim == -1 ? DimRange() : DimRange{dim, dim});
  }
  return result;
}

namespace {

class RangePlanner {
public:
  RangePlanner(const RangedShapes &shapes, Diagnostics &diagnostics)
      : shapes(shapes), diagnostics(diagnostics) {
    request.kind = OM_GEARS_RANGE;
    request.shapes = withoutRanges(shapes);
  }

  std::optional<GearRequest> run(StringRef hints);

private:
  void findValues();
  bool readHints(StringRef hints);
  void chooseSizes();
  bool thinSizes();
  size_t countGears() const;
  bool combine();
  void announce();

  const RangedShapes &shapes;
  Diagnostics &diagnostics;
  GearRequest request;
  std::vector<DimRange> ranges;            ///< of each value
  std::vector<size_t> dims;                ///< the dim of each value
  std::vector<std::vector<int64_t>> sizes; ///< of each value: hints, then what gears have
  std::vector<char> isChosen;              ///< of each value: no hint gives its sizes
};

void RangePlanner::findValues() {
  for (size_t i = 0; i < shapes.size(); ++i)
    for (size_t d = 0; d < shapes[i].second.size(); ++d) {
      const DimRange &range = shapes[i].second[d];
      if (range.isFixed())
        continue;
      size_t value = 0;
      while (value < ranges.size() && !(ranges[value] == range && dims[value] == d))
        ++value;
      if (value == ranges.size()) {
        ranges.push_back(range);
        dims.push_back(d);
      }
      request.axes.push_back({i, d, value});
    }
  sizes.resize(ranges.size());
}

/// Collects the sizes that hints give for the values.
bool RangePlanner::readHints(StringRef text) {
  const RangedShapes hints = readRanges("input_hint_shape", text, diagnostics);
  for (const auto &[name, hint] : hints) {
    size_t input = 0;
    if (StringRef(name).getAsInteger(10, input))
      input =
          find_if(shapes, [&](const auto &shape) { return shape.first == name; }) - shapes.begin();
    if (input >= shapes.size() || hint.size() != shapes[input].second.size()) {
      diagnostics.error("E10002", "the value \"" + text +
                                      "\" of --input_hint_shape is invalid: \"" + name +
                                      "\" is no input of --input_shape with as many dims; write " +
                                      sampleOf("input_hint_shape"));
      return false;
    }
    for (const GearRequest::Axis &axis : request.axes) {
      const DimRange &range = ranges[axis.value];
      if (axis.input != input)
        continue;
      const DimRange &size = hint[axis.dim];
      if (!size.isFixed() || size.min < range.min ||
          (range.max != DimRange::noLimit && size.min > range.max)) {
        diagnostics.error("E10002", "the value \"" + text +
                                        "\" of --input_hint_shape is invalid: dim " +
                                        Twine(axis.dim) + " of \"" + name +
                                        "\" is not within the range that --input_shape gives");
        return false;
      }
      sizes[axis.value].push_back(size.min);
    }
  }
  return !diagnostics.hasErrors();
}

void RangePlanner::chooseSizes() {
  for (auto [range, own] : zip_equal(ranges, sizes)) {
    int64_t end = range.max;
    if (end == DimRange::noLimit)
      end = own.empty() ? std::max(defaultEnd, range.min) : *max_element(own);
    isChosen.push_back(own.empty());
    if (own.empty())
      for (int64_t size = 1; size < end; size *= 2)
        if (size >= range.min)
          own.push_back(size);
    own.push_back(end);
    sort(own);
    own.erase(unique(own), own.end());
    // Where several dims are padded, a gear of one position still pads the others, and only
    // two positions show which dim is which.
    if (ranges.size() > 1 && own.front() == 1 && own.size() > 1)
      own.erase(own.begin());
    request.min.push_back(range.min);
    request.hasOpenEnd |= range.max == DimRange::noLimit;
  }
}

/// Leaves out every second of the longest list of sizes that no hint gives, and keeps the largest.
/// Returns false where there is nothing to leave out.
bool RangePlanner::thinSizes() {
  std::vector<int64_t> *longest = nullptr;
  for (auto [own, chosen] : zip_equal(sizes, isChosen))
    if (chosen && own.size() > 1 && (!longest || own.size() > longest->size()))
      longest = &own;
  if (!longest)
    return false;
  std::vector<int64_t> kept;
  for (size_t i = longest->size() % 2 ? 0 : 1; i < longest->size(); i += 2)
    kept.push_back((*longest)[i]);
  *longest = std::move(kept);
  return true;
}

size_t RangePlanner::countGears() const {
  size_t count = 1;
  for (const std::vector<int64_t> &own : sizes)
    count = std::min(count * own.size(), maxGears + 1);
  return count;
}

/// Returns a gear for every choice of sizes; the last one has the largest.
static std::vector<std::vector<int64_t>> gearsOf(const std::vector<std::vector<int64_t>> &sizes) {
  std::vector<std::vector<int64_t>> gears = {{}};
  for (const std::vector<int64_t> &own : sizes) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t> &gear : gears)
      for (int64_t size : own) {
        longer.push_back(gear);
        longer.back().push_back(size);
      }
    gears = std::move(longer);
  }
  return gears;
}

bool RangePlanner::combine() {
  while (countGears() > maxGears && thinSizes()) {
  }
  if (countGears() > maxGears) {
    diagnostics.error("E10036", "the dims of -1 and a~b in --input_shape would become more than "
                                "100 gears; give fewer sizes with --input_hint_shape, or the "
                                "sizes themselves with --dynamic_dims");
    return false;
  }
  request.gears = gearsOf(sizes);
  return true;
}

void RangePlanner::announce() {
  std::string text;
  for (size_t value = 0; value < sizes.size(); ++value) {
    std::string inputs;
    for (const GearRequest::Axis &axis : request.axes)
      if (axis.value == value)
        inputs += (inputs.empty() ? "'" : ", '") + shapes[axis.input].first + "'";
    text += (text.empty() ? "dim " : "; dim ") + std::to_string(dims[value]) + " of " + inputs +
            " takes " + std::to_string(request.min[value]) + " to " +
            std::to_string(sizes[value].back()) + " and is computed at " +
            join(map_range(sizes[value], [](int64_t size) { return std::to_string(size); }), ", ");
  }
  request.announcement = std::move(text);
}

std::optional<GearRequest> RangePlanner::run(StringRef hints) {
  findValues();
  assert(!ranges.empty() && "there is a dim that is not fixed");
  if (!readHints(hints))
    return std::nullopt;
  chooseSizes();
  if (!combine())
    return std::nullopt;
  announce();
  return std::move(request);
}

} // namespace

std::optional<GearRequest> planRanges(const RangedShapes &shapes, StringRef hints,
                                      Diagnostics &diagnostics) {
  return RangePlanner(shapes, diagnostics).run(hints);
}

std::optional<GearRequest> withAllSizes(const GearRequest &request) {
  if (request.hasOpenEnd)
    return std::nullopt;
  const std::vector<int64_t> &largest = request.gears.back();
  std::vector<std::vector<int64_t>> sizes;
  size_t count = 1;
  for (auto [min, max] : zip_equal(request.min, largest)) {
    if (count *= size_t(std::min<int64_t>(max - min, maxGears)) + 1; count > maxGears)
      return std::nullopt;
    llvm::append_range(sizes.emplace_back(), llvm::seq_inclusive(min, max));
  }
  GearRequest all = request;
  all.gears = gearsOf(sizes);
  return all;
}

std::string exampleOfSizes(const GearRequest &request) {
  std::string shapes, smallest, largest;
  for (const auto &[name, dims] : request.shapes)
    shapes += (shapes.empty() ? "" : ";") + name + ":" +
              join(map_range(dims, [](int64_t dim) { return std::to_string(dim); }), ",");
  for (const GearRequest::Axis &axis : request.axes) {
    const char *comma = smallest.empty() ? "" : ",";
    smallest += comma + std::to_string(request.gears.front()[axis.value]);
    largest += comma + std::to_string(request.gears.back()[axis.value]);
  }
  const auto &axes = request.axes;
  const bool isOneInput = axes.front().input == axes.back().input;
  const std::string gears = "=\"" + smallest + ";" + largest + "\"";
  if (axes.size() == 2 && isOneInput && axes[0].dim == 2 && axes[1].dim == 3)
    return "--input_shape=\"" + shapes + "\" --dynamic_image_size" + gears;
  return "--input_format=ND --input_shape=\"" + shapes + "\" --dynamic_dims" + gears;
}

} // namespace atc::driver
