//===-- Planes.cpp ------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/Planes.h"

#include <algorithm>
#include <cmath>

namespace atc::ascend {
namespace {

uint8_t clampByte(double value) { return uint8_t(std::clamp(std::lround(value), 0L, 255L)); }

/// Calls a function with the address of every sample of a channel in an area, and with its
/// column and row in the plane of that channel.
template <typename Visit>
void visitSamples(const Picture &picture, const FormatFacts &facts, const Area &area,
                  unsigned channel, const Visit &visit) {
  auto *base = static_cast<uint8_t *>(picture.data);
  const size_t stride = picture.widthStride, plane = stride * picture.heightStride;
  const unsigned xShift = channel ? facts.xShift : 0, yShift = channel ? facts.yShift : 0;
  const uint32_t left = area.left >> xShift, top = area.top >> yShift;
  const uint32_t width = shifted(area.width(), xShift), height = shifted(area.height(), yShift);
  for (uint32_t row = 0; row < height; ++row)
    for (uint32_t column = 0; column < width; ++column) {
      const size_t x = left + column, y = top + row;
      uint8_t *sample = nullptr;
      switch (facts.layout) {
      case Layout::Gray:
        sample = base + y * stride + x;
        break;
      case Layout::SemiPlanar: // a row of chroma has pairs of its width
        sample = channel == 0
                     ? base + y * stride + x
                     : base + plane + y * (2 * (stride >> xShift)) + 2 * x + facts.offsets[channel];
        break;
      case Layout::Planar: {
        const size_t small = plane >> facts.xShift >> facts.yShift;
        const size_t start = facts.rgb ? facts.offsets[channel] * plane
                             : channel ? plane + (facts.offsets[channel] - 1) * small
                                       : 0;
        sample = base + start + y * (stride >> xShift) + x;
        break;
      }
      case Layout::Packed:
        sample = base + y * stride + x * facts.bytes + facts.offsets[channel];
        break;
      case Layout::Packed422:
        sample = base + y * stride + (channel == 0 ? x * 2 : x * 4) + facts.offsets[channel];
        break;
      }
      visit(*sample, column, row);
    }
}

/// Where an output sample is in the input, along one side.
double position(uint32_t index, uint32_t from, uint32_t to, uint32_t interpolation) {
  const double scale = double(from) / to;
  switch (interpolation) {
  case 3:
  case 5:
    return std::floor(index * scale);
  case 4:
    return index * scale;
  default:
    return (index + 0.5) * scale - 0.5;
  }
}

Plane resizePlane(const Plane &plane, uint32_t width, uint32_t height, uint32_t interpolation) {
  if (plane.width == width && plane.height == height)
    return plane;
  Plane result(width, height);
  struct Step {
    uint32_t first, second;
    double weight;
  };
  auto steps = [&](uint32_t from, uint32_t to) {
    std::vector<Step> all;
    for (uint32_t i = 0; i < to; ++i) {
      const double at = std::clamp(position(i, from, to, interpolation), 0.0, double(from - 1));
      const auto first = static_cast<uint32_t>(at);
      all.push_back({first, std::min(first + 1, from - 1), at - first});
    }
    return all;
  };
  const std::vector<Step> columns = steps(plane.width, width), rows = steps(plane.height, height);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      const Step &c = columns[x], &r = rows[y];
      const double above =
          plane.at(c.first, r.first) * (1 - c.weight) + plane.at(c.second, r.first) * c.weight;
      const double below =
          plane.at(c.first, r.second) * (1 - c.weight) + plane.at(c.second, r.second) * c.weight;
      result.at(x, y) = clampByte(above * (1 - r.weight) + below * r.weight);
    }
  return result;
}

/// Averages blocks of samples: 4:4:4 becomes 4:2:2 or 4:2:0.
Plane subsample(const Plane &plane, unsigned xShift, unsigned yShift) {
  if (xShift == 0 && yShift == 0)
    return plane;
  Plane result(shifted(plane.width, xShift), shifted(plane.height, yShift));
  for (uint32_t y = 0; y < result.height; ++y)
    for (uint32_t x = 0; x < result.width; ++x) {
      unsigned sum = 0, count = 0;
      for (uint32_t sy = y << yShift; sy < std::min((y + 1) << yShift, plane.height); ++sy)
        for (uint32_t sx = x << xShift; sx < std::min((x + 1) << xShift, plane.width); ++sx) {
          sum += plane.at(sx, sy);
          ++count;
        }
      result.at(x, y) = uint8_t((sum + count / 2) / count);
    }
  return result;
}

/// Repeats samples: 4:2:0 becomes 4:4:4.
Plane upsample(const Plane &plane, uint32_t width, uint32_t height) {
  if (plane.width == width && plane.height == height)
    return plane;
  Plane result(width, height);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x)
      result.at(x, y) = plane.at(uint32_t(uint64_t(x) * plane.width / width),
                                 uint32_t(uint64_t(y) * plane.height / height));
  return result;
}

} // namespace

ColorMatrix matrixOf(acldvppCscMatrix matrix) {
  switch (matrix) {
  case ACL_DVPP_CSC_MATRIX_BT601_WIDE:
    return {0.299, 0.114, false};
  case ACL_DVPP_CSC_MATRIX_BT709_WIDE:
    return {0.2126, 0.0722, false};
  case ACL_DVPP_CSC_MATRIX_BT709_NARROW:
    return {0.2126, 0.0722, true};
  case ACL_DVPP_CSC_MATRIX_BT2020_WIDE:
    return {0.2627, 0.0593, false};
  case ACL_DVPP_CSC_MATRIX_BT2020_NARROW:
    return {0.2627, 0.0593, true};
  default:
    return {0.299, 0.114, true};
  }
}

namespace {

Planes convert(const Planes &planes, bool rgb, acldvppCscMatrix which) {
  const ColorMatrix m = matrixOf(which);
  const double green = 1 - m.red - m.blue;
  const double yScale = m.narrow ? 219.0 / 255 : 1, cScale = m.narrow ? 224.0 / 255 : 1;
  const double yBase = m.narrow ? 16 : 0;
  const Plane &first = planes.channels[0];
  Planes result{rgb, std::vector<Plane>(3, Plane(first.width, first.height))};
  for (size_t i = 0; i < first.data.size(); ++i) {
    const double a = planes.channels[0].data[i], b = planes.channels[1].data[i],
                 c = planes.channels[2].data[i];
    double out[3];
    if (rgb) {
      const double y = (a - yBase) / yScale, u = (b - 128) / cScale, v = (c - 128) / cScale;
      out[0] = y + 2 * (1 - m.red) * v;
      out[2] = y + 2 * (1 - m.blue) * u;
      out[1] = (y - m.red * out[0] - m.blue * out[2]) / green;
    } else {
      const double y = m.red * a + green * b + m.blue * c;
      out[0] = yBase + yScale * y;
      out[1] = 128 + cScale * (c - y) / (2 * (1 - m.blue));
      out[2] = 128 + cScale * (a - y) / (2 * (1 - m.red));
    }
    for (int channel = 0; channel < 3; ++channel)
      result.channels[size_t(channel)].data[i] = clampByte(out[channel]);
  }
  return result;
}

} // namespace

Planes loadPlanes(const Picture &picture, const Area &area) {
  const FormatFacts &facts = *factsOf(picture.format);
  Planes planes{facts.rgb, {}};
  const unsigned count = facts.layout == Layout::Gray ? 1 : 3;
  for (unsigned channel = 0; channel < count; ++channel) {
    Plane plane(shifted(area.width(), channel ? facts.xShift : 0),
                shifted(area.height(), channel ? facts.yShift : 0));
    visitSamples(picture, facts, area, channel,
                 [&](uint8_t &sample, uint32_t x, uint32_t y) { plane.at(x, y) = sample; });
    planes.channels.push_back(std::move(plane));
  }
  return planes;
}

void storePlanes(const Planes &planes, const Picture &picture, const Area &area) {
  const FormatFacts &facts = *factsOf(picture.format);
  const unsigned count = facts.layout == Layout::Gray ? 1 : 3;
  for (unsigned channel = 0; channel < count; ++channel)
    visitSamples(picture, facts, area, channel, [&](uint8_t &sample, uint32_t x, uint32_t y) {
      sample = planes.channels[channel].at(x, y);
    });
  if (facts.alpha < 0)
    return;
  auto *base = static_cast<uint8_t *>(picture.data);
  for (uint32_t y = area.top; y <= area.bottom; ++y)
    for (uint32_t x = area.left; x <= area.right; ++x)
      base[size_t(y) * picture.widthStride + size_t(x) * 4 + size_t(facts.alpha)] = 255;
}

Planes resizePlanes(const Planes &planes, uint32_t width, uint32_t height,
                    const FormatFacts &format, uint32_t interpolation, acldvppCscMatrix matrix) {
  Planes source = planes;
  // A gray picture has neutral chroma.
  if (source.channels.size() == 1 && format.layout != Layout::Gray)
    source.channels.resize(3, Plane(source.channels[0].width, source.channels[0].height, 128));
  const bool convertSpace = source.rgb != format.rgb;
  const bool resizes = source.channels[0].width != width || source.channels[0].height != height;
  Planes result{source.rgb, {}};
  for (size_t channel = 0; channel < source.channels.size(); ++channel) {
    const Plane &plane = source.channels[channel];
    const unsigned xShift = channel && !convertSpace ? format.xShift : 0;
    const unsigned yShift = channel && !convertSpace ? format.yShift : 0;
    const uint32_t w = shifted(width, xShift), h = shifted(height, yShift);
    if (resizes)
      result.channels.push_back(resizePlane(plane, w, h, interpolation));
    else if (plane.width >= w && plane.height >= h)
      result.channels.push_back(plane.width == w && plane.height == h
                                    ? plane
                                    : subsample(upsample(plane, width, height), xShift, yShift));
    else
      result.channels.push_back(upsample(plane, w, h));
  }
  if (convertSpace) {
    result = convert(result, format.rgb, matrix);
    if (!format.rgb)
      for (size_t channel = 1; channel < 3; ++channel)
        result.channels[channel] =
            subsample(result.channels[channel], format.xShift, format.yShift);
  }
  return result;
}

Plane addBorder(const Plane &plane, uint32_t top, uint32_t bottom, uint32_t left, uint32_t right,
                acldvppBorderType type, uint8_t value) {
  Plane result(plane.width + left + right, plane.height + top + bottom, value);
  auto inside = [&](int64_t at, int64_t size) {
    if (type == BORDER_REPLICATE || size == 1)
      return std::clamp<int64_t>(at, 0, size - 1);
    // Reflections repeat: with skip the samples at both ends occur once each, not twice.
    const int64_t skip = type == BORDER_REFLECT_101 ? 1 : 0, period = 2 * (size - skip);
    at = (at % period + period) % period;
    return at < size ? at : period - 1 + skip - at;
  };
  for (uint32_t y = 0; y < result.height; ++y)
    for (uint32_t x = 0; x < result.width; ++x) {
      const int64_t sx = int64_t(x) - left, sy = int64_t(y) - top;
      const bool within = sx >= 0 && sy >= 0 && sx < plane.width && sy < plane.height;
      if (!within && type == BORDER_CONSTANT)
        continue;
      result.at(x, y) =
          plane.at(uint32_t(inside(sx, plane.width)), uint32_t(inside(sy, plane.height)));
    }
  return result;
}

} // namespace atc::ascend
