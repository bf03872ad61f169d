//===-- ImageGeometry.cpp - sizes of an image on its way to the model -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/aipp/ImageGeometry.h"

using llvm::Twine;

namespace atc::aipp {

namespace {

/// Infers the sizes along one axis, whose fields end with `suffix`.
class AxisInference {
public:
  AxisInference(const AippEntry &entry, llvm::StringRef input, char suffix, int64_t model,
                Diagnostics &diagnostics)
      : entry(entry), input(input), suffix(1, suffix), model(model), diagnostics(diagnostics) {}

  AxisGeometry run() {
    const bool isHeight = suffix == "h";
    AxisGeometry axis = {};
    if (entry.op.padding()) {
      axis.padBefore = entry.integer(isHeight ? "top_padding_size" : "left_padding_size");
      axis.padAfter = entry.integer(isHeight ? "bottom_padding_size" : "right_padding_size");
    }
    const int64_t inner = model - axis.padBefore - axis.padAfter;
    if (inner <= 0) {
      mismatch(isHeight ? "top_padding_size" : "left_padding_size",
               "leaves nothing of the image: with the padding on the other side it fills the " +
                   needed());
      return axis;
    }
    const bool resizes = entry.op.resize();
    const int64_t resized = resizes ? size("resize_output_") : 0;
    axis.resized = resized ? resized : inner;
    if (axis.resized != inner)
      mismatch("resize_output_" + suffix, without("must be ", inner));
    if (entry.op.crop())
      crop(axis, resizes);
    else
      axis.size = axis.source = size("src_image_size_") ? size("src_image_size_")
                                : resizes               ? model
                                                        : axis.resized;
    if (!resizes && axis.size != axis.resized)
      mismatch(entry.op.crop() ? "crop_size_" + suffix : "src_image_size_" + suffix,
               without("must be ", axis.resized));
    checkEven(axis);
    if (axis.source == 1)
      entry.fail(diagnostics, "E10052", "src_image_size_" + suffix,
                 "is that of the model, 1, but must be from 2 to 4096");
    return axis;
  }

private:
  int64_t size(const std::string &begin) const { return entry.integer(begin + suffix); }

  std::string needed() const {
    return std::to_string(model) + (suffix == "h" ? " rows" : " columns") +
           " that the model's input '" + input.str() + "' has";
  }

  /// "must be 220: the model's input 'x' has 224 columns, of which 4 are padding".
  std::string without(const char *verb, int64_t inner) const {
    std::string text = verb + std::to_string(inner) + " for the " + needed();
    if (inner != model)
      text += ", " + std::to_string(model - inner) + " of them padding";
    return text;
  }

  void mismatch(const std::string &field, const Twine &text) {
    entry.fail(diagnostics, "E70014", field, text);
  }

  void crop(AxisGeometry &axis, bool resizes) {
    axis.start = size("load_start_pos_");
    axis.size = size("crop_size_");
    if (!axis.size && resizes) {
      entry.fail(diagnostics, "E10052", "crop_size_" + suffix,
                 "must be given where the image is cropped and resized");
      axis.size = axis.resized;
    }
    if (!axis.size)
      axis.size = axis.resized;
    axis.source = size("src_image_size_") ? size("src_image_size_") : model;
    if (axis.start + axis.size > axis.source)
      mismatch("crop_size_" + suffix, "from load_start_pos_" + suffix + ": " + Twine(axis.start) +
                                          " ends behind the " + Twine(axis.source) +
                                          " of src_image_size_" + suffix);
  }

  /// Pixels of YUV420SP share their colour in blocks of 2 x 2.
  void checkEven(const AxisGeometry &axis) {
    if (entry.op.input_format() != pb::YUV420SP_U8)
      return;
    const std::pair<const char *, int64_t> sizes[] = {{"src_image_size_", axis.source},
                                                      {"load_start_pos_", axis.start},
                                                      {"crop_size_", axis.size}};
    for (auto [begin, value] : sizes)
      if (value % 2 != 0) {
        const std::string field = begin + suffix;
        entry.fail(diagnostics, "E10052", field,
                   (entry.lines.contains(field) ? "" : "is " + std::to_string(value) + " and ") +
                       Twine("must be even for YUV420SP_U8"));
        return;
      }
  }

  const AippEntry &entry;
  llvm::StringRef input;
  const std::string suffix;
  const int64_t model;
  Diagnostics &diagnostics;
};

} // namespace

std::optional<ImageGeometry> inferGeometry(const AippEntry &entry, llvm::StringRef input,
                                           int64_t modelHeight, int64_t modelWidth,
                                           Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  ImageGeometry geometry{AxisInference(entry, input, 'h', modelHeight, diagnostics).run(),
                         AxisInference(entry, input, 'w', modelWidth, diagnostics).run()};
  if (diagnostics.numErrors() != before)
    return std::nullopt;
  return geometry;
}

} // namespace atc::aipp
