//===-- GearRequest.cpp - the gears that a user asks for ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/gears/GearRequest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atc::driver {

InputShapes GearRequest::shapesOf(size_t gear) const {
  InputShapes result = shapes;
  for (const Axis &axis : axes)
    result[axis.input].second[axis.dim] = gears[gear][axis.value];
  return result;
}

std::string GearRequest::nameOf(size_t gear) const {
  return join(map_range(gears[gear], [](int64_t value) { return std::to_string(value); }), ",");
}

namespace {

// The limits of the Ascend toolchain.
constexpr size_t minGears = 2;
constexpr int64_t maxBatch = 2048;

class GearReader {
public:
  GearReader(const InputShapes &shapes, StringRef format, Diagnostics &diagnostics)
      : format(format), diagnostics(diagnostics) {
    request.shapes = shapes;
  }

  void readBatch(StringRef text);
  void readImage(StringRef text);
  void readDims(StringRef text);

  GearRequest take() { return std::move(request); }

private:
  void readProfiles(StringRef flag, StringRef text, char separator);
  void checkProfiles(StringRef flag);
  bool isDynamic(size_t input, size_t dim) const { return request.shapes[input].second[dim] == -1; }
  std::string shapeText(size_t input) const;

  GearRequest request;
  StringRef format;
  Diagnostics &diagnostics;
};

/// Returns "name:-1,3,-1,-1".
std::string GearReader::shapeText(size_t input) const {
  const auto &[name, dims] = request.shapes[input];
  return name + ":" + join(map_range(dims, [](int64_t dim) { return std::to_string(dim); }), ",");
}

/// Reads the values between separators, and within them between commas. Scripts that make a list
/// leave a separator at its end.
void GearReader::readProfiles(StringRef flag, StringRef text, char separator) {
  StringRef list = text.trim();
  list.consume_back(StringRef(&separator, 1));
  for (StringRef profile : split(list, separator)) {
    std::vector<int64_t> values;
    for (StringRef word : split(profile, ',')) {
      int64_t value = 0;
      // The first wrong one is enough: each message quotes the whole list.
      if (word.trim().getAsInteger(10, value)) {
        if (isWholeNumber(word.trim()))
          diagnostics.error("E10013", "the value \"" + text + "\" of --" + flag +
                                          " is out of range: " + word.trim() +
                                          " has more than 64 bits");
        else
          diagnostics.error("E10001", "the value \"" + text + "\" of --" + flag +
                                          " is invalid: \"" + word.trim() + "\" is not a number");
        return;
      }
      if (value <= 0) {
        diagnostics.error("E10038", "the value \"" + text + "\" of --" + flag + " has the size " +
                                        Twine(value) + ": it must be greater than 0");
        return;
      }
      values.push_back(value);
    }
    request.gears.push_back(std::move(values));
  }
  if (!diagnostics.hasErrors())
    checkProfiles(flag);
}

void GearReader::checkProfiles(StringRef flag) {
  const auto &gears = request.gears;
  if (gears.size() < minGears)
    diagnostics.error("E10035", "--" + flag + " has " + Twine(gears.size()) +
                                    " profile, but at least 2 are needed; for one size give it "
                                    "with --input_shape");
  else if (gears.size() > maxGears)
    diagnostics.error("E10036", "--" + flag + " has " + Twine(gears.size()) +
                                    " profiles, but at most 100 are allowed");
  for (size_t g = 1; g < gears.size(); ++g) {
    if (gears[g].size() != gears[0].size()) {
      diagnostics.error("E10037", "the profile \"" + request.nameOf(g) + "\" of --" + flag +
                                      " has " + Twine(gears[g].size()) + " values, the profile \"" +
                                      request.nameOf(0) + "\" has " + Twine(gears[0].size()) +
                                      ": all must have as many");
      return;
    }
    if (llvm::count(ArrayRef(gears).take_front(g), gears[g]) == 1) // a third time says no more
      diagnostics.error("E10039",
                        "--" + flag + " has the profile \"" + request.nameOf(g) + "\" twice");
  }
}

void GearReader::readBatch(StringRef text) {
  request.kind = OM_GEARS_BATCH;
  readProfiles("dynamic_batch_size", text, ',');
  for (const std::vector<int64_t> &gear : request.gears)
    if (!gear.empty() && gear[0] > maxBatch)
      diagnostics.error("E10001", "the value \"" + text +
                                      "\" of --dynamic_batch_size is invalid: a batch is 1 to " +
                                      Twine(maxBatch) + ", not " + Twine(gear[0]));
  bool hasDims = request.shapes.empty();
  for (size_t i = 0; i < request.shapes.size(); ++i)
    for (size_t d = 0; d < request.shapes[i].second.size(); ++d) {
      hasDims = true;
      if (!isDynamic(i, d))
        continue;
      if (d == 0)
        request.axes.push_back({i, d, 0});
      else
        diagnostics.error("E10018", "dim " + Twine(d) + " of --input_shape=\"" + shapeText(i) +
                                        "\" is -1: with --dynamic_batch_size only the batch, dim "
                                        "0, can be; --dynamic_dims takes any dims");
    }
  if (!hasDims)
    diagnostics.error("E10012", "--dynamic_batch_size needs an input with a batch, but those of "
                                "--input_shape have no dims");
  else if (request.axes.empty() && !diagnostics.hasErrors())
    diagnostics.error("E10031", "--dynamic_batch_size needs an input in --input_shape whose batch "
                                "is -1, such as \"input:-1,3,224,224\"");
}

void GearReader::readImage(StringRef text) {
  request.kind = OM_GEARS_IMAGE;
  if (format != "NCHW" && format != "NHWC") {
    diagnostics.error("E10001", "the value \"" + format +
                                    "\" of --input_format is invalid: with --dynamic_image_size "
                                    "it must be NCHW or NHWC, which say where height and width "
                                    "are");
    return;
  }
  readProfiles("dynamic_image_size", text, ';');
  if (diagnostics.hasErrors())
    return;
  if (request.gears[0].size() != 2)
    diagnostics.error("E10020", "the value \"" + text +
                                    "\" of --dynamic_image_size is invalid: a profile is a height "
                                    "and a width; write \"416,416;832,832\"");
  const size_t height = format == "NCHW" ? 2 : 1;
  for (size_t i = 0; i < request.shapes.size(); ++i) {
    const std::vector<int64_t> &dims = request.shapes[i].second;
    if (!is_contained(dims, -1))
      continue;
    if (dims.size() != 4 || count(dims, -1) != 2 || !isDynamic(i, height) ||
        !isDynamic(i, height + 1))
      diagnostics.error("E10019", "--input_shape=\"" + shapeText(i) +
                                      "\": with --dynamic_image_size height and width, dims " +
                                      Twine(height) + " and " + Twine(height + 1) + " of " +
                                      format +
                                      ", must be -1, and no others can be; --dynamic_dims takes "
                                      "any dims");
    request.axes.push_back({i, height, 0});
    request.axes.push_back({i, height + 1, 1});
  }
  if (request.axes.empty())
    diagnostics.error("E10040", "--dynamic_image_size needs an input in --input_shape whose "
                                "height and width are -1, such as \"input:1,3,-1,-1\"");
}

void GearReader::readDims(StringRef text) {
  request.kind = OM_GEARS_DIMS;
  if (format != "ND")
    diagnostics.error("E10001", "the value \"" + format +
                                    "\" of --input_format is invalid: with --dynamic_dims it must "
                                    "be ND");
  readProfiles("dynamic_dims", text, ';');
  if (diagnostics.hasErrors())
    return;
  const size_t values = request.gears[0].size();
  for (size_t i = 0; i < request.shapes.size(); ++i) {
    const size_t before = request.axes.size();
    for (size_t d = 0; d < request.shapes[i].second.size(); ++d)
      if (isDynamic(i, d))
        request.axes.push_back({i, d, request.axes.size()});
    if (request.axes.size() - before > values)
      diagnostics.error("E10045", "--input_shape=\"" + shapeText(i) + "\" has " +
                                      Twine(request.axes.size() - before) +
                                      " dims of -1, but a profile of --dynamic_dims only " +
                                      Twine(values) + " values");
  }
  if (request.axes.empty())
    diagnostics.error("E10040", "--dynamic_dims needs dims of -1 in --input_shape, such as "
                                "\"input:1,-1,768\"");
  else if (request.axes.size() != values && !diagnostics.hasErrors())
    diagnostics.error("E10046", "--input_shape has " + Twine(request.axes.size()) +
                                    " dims of -1 in all, but a profile of --dynamic_dims has " +
                                    Twine(values) + " values: there must be one for each");
}

} // namespace

std::optional<GearRequest> readGears(const GearFlags &flags, const InputShapes &shapes,
                                     Diagnostics &diagnostics) {
  Diagnostics own; // later checks rest on earlier ones
  GearReader reader(shapes, flags.inputFormat, own);
  if (flags.batchSize)
    reader.readBatch(*flags.batchSize);
  else if (flags.imageSize)
    reader.readImage(*flags.imageSize);
  else if (flags.dims)
    reader.readDims(*flags.dims);
  for (const CodedMessage &message : own.all())
    diagnostics.add(message);
  if (own.hasErrors())
    return std::nullopt;
  return reader.take();
}

} // namespace atc::driver
