//===-- ImportTexts.cpp - what texts are made of: numbers, bytes, characters ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/Strings.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

//===----------------------------------------------------------------------===//
// Numbers and bytes
//===----------------------------------------------------------------------===//

void importAsString(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  const Type element = NodeContext::elementType(input);
  const Type text = graph::StringType::get(n.builder().getContext());
  if (element == text)
    return n.setOutput(input);
  const bool isBool = element.isInteger(1), isReal = isa<FloatType>(element);
  const int64_t width = n.intAttr("width", -1), precision = n.intAttr("precision", -1);
  const std::string fill = n.stringAttr("fill", "");
  const bool isScientific = n.boolAttr("scientific", false),
             isShort = n.boolAttr("shortest", false);
  constexpr int64_t maxDigits = 60;
  if (!isReal && (isScientific || isShort))
    n.failAttribute(isScientific ? "scientific" : "shortest",
                    "is set for numbers that are no floats");
  else if (isScientific && isShort)
    n.failAttribute("shortest", "is set together with 'scientific'");
  else if (!isReal && precision >= 0)
    n.failAttribute("precision", "is " + Twine(precision) + " for numbers that are no floats");
  else if (precision > maxDigits)
    n.failAttribute("precision",
                    "is " + Twine(precision) + ", expected at most " + Twine(maxDigits));
  else if (fill.size() > 1 || StringRef("+- 0#").find(fill) == StringRef::npos)
    n.failAttribute("fill", "is '" + fill + "', expected one of '+', '-', ' ', '0' and '#'");
  if (n.failed())
    return;
  if (!isBool)
    return n.setOutput(withShapeOf(
        n.callHost("FormatNumber", {input},
                   {n.hostInts("width", {std::max<int64_t>(width, 0)}), n.hostText("fill", fill),
                    n.hostText("notation", isScientific ? "scientific"
                                           : isShort    ? "shortest"
                                                        : "fixed"),
                    n.hostInts("digits", {precision < 0 ? 6 : precision})}),
        input));
  auto word = [&](StringRef value) {
    return n.constant(
        DenseStringElementsAttr::get(RankedTensorType::get({}, text), ArrayRef<StringRef>(value)));
  };
  n.setOutput(withShapeOf(n.callHost("Where", {input, word("true"), word("false")}), input));
}

void importToNumber(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  const Type element = n.typeAttr("out_type", pb::DT_FLOAT);
  if (!n.failed())
    n.setOutput(withShapeOf(
        n.callHost("Cast", {input}, {n.hostInts("to", {graph::dtypeOf(element)})}), input));
}

template <int decodes> void importBase64(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  const bool pads = n.boolAttr("pad", false);
  if (!n.failed())
    n.setOutput(withShapeOf(
        n.callHost("Base64", {input}, {n.hostInts("decode", {decodes}), n.hostInts("pad", {pads})}),
        input));
}

/// Returns a result with one more dim than `like`, of unknown size.
Value withRows(NodeContext &n, Value result, Value like) {
  if (!NodeContext::hasRank(like))
    return result;
  SmallVector<int64_t> shape(n.shape(like));
  shape.push_back(ShapedType::kDynamic);
  return withKnownDims(n, result, shape, 0);
}

/// Imports the bytes of texts as numbers. DecodePaddedRaw cuts texts, or fills them with bytes of
/// 0, to a number of bytes.
void importRaw(NodeContext &n) {
  const bool hasLength = n.op() == "DecodePaddedRaw";
  Value input = n.input(0);
  requireStrings(n, 0);
  const int64_t length = hasLength ? n.constantInt(1) : 0;
  const Type element = n.typeAttr("out_type", pb::DT_FLOAT);
  const bool isLittle = n.boolAttr("little_endian", true);
  if (n.failed())
    return;
  if (!element.isIntOrFloat() || element.isInteger(1))
    return n.failAttribute("out_type", "is no type of numbers");
  SmallVector<NamedAttribute> parameters = {n.hostInts("to", {graph::dtypeOf(element)}),
                                            n.hostInts("swap", {!isLittle})};
  if (hasLength) {
    const int64_t width = element.getIntOrFloatBitWidth() / 8;
    if (length < 1 || length % width != 0)
      return n.failInput(1, "is " + Twine(length) + ", expected a multiple of the " + Twine(width) +
                                " bytes of an element");
    parameters.push_back(n.hostInts("length", {length}));
  }
  n.setOutput(withRows(n, n.callHost("TextBytes", {input}, parameters), input));
}

/// Returns the pixels [height, width, channels] of the file of an image.
Value pixelsOf(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  const int64_t channels = n.intAttr("channels", 0);
  const Type element = n.typeAttr("dtype", pb::DT_UINT8);
  const bool mayBeFloat = n.op() == "DecodeImage";
  if (n.failed())
    return {};
  if (channels != 0 && channels != 1 && channels != 3)
    n.failAttribute("channels",
                    "is " + Twine(channels) + ", expected 3, 1 or, for those of the file, 0");
  else if (!element.isUnsignedInteger(8) && !(mayBeFloat && element.isF32()))
    n.failAttribute("dtype", "is no type of 8 bits");
  else if (n.intAttr("ratio", 1) != 1)
    n.failAttribute("ratio", "other than 1 is not supported");
  if (n.failed())
    return {};
  const Type byte = n.builder().getIntegerType(8, false);
  Value bytes = n.callHost("TextBytes", {n.callHost("Reshape", {input, n.intList({})})},
                           {n.hostInts("to", {graph::dtypeOf(byte)})});
  Value pixels = n.callHost("ImageDecoder", {bytes}, {n.hostInts("channels", {channels})});
  pixels = withKnownDims(
      n, pixels,
      {ShapedType::kDynamic, ShapedType::kDynamic, channels ? channels : ShapedType::kDynamic}, 0);
  if (!n.failed() && element.isF32())
    pixels = n.mul(n.cast(pixels, element), n.scalar(1.0 / 255, element));
  return pixels;
}

void importImage(NodeContext &n) { n.setOutput(pixelsOf(n)); }

/// Input 1 is the first row and column and the number of rows and columns of what is cut out.
void importCroppedImage(NodeContext &n) {
  Value pixels = pixelsOf(n);
  Value window = indexVector(n, n.input(1));
  if (n.failed())
    return;
  if (NodeContext::isStatic(window) && n.shape(window)[0] != 4)
    return n.failInput(1, "has " + Twine(n.shape(window)[0]) + " elements, expected 4");
  TensorMath m(n);
  Value begin = m.slice(window, 0, 2, 0), size = m.slice(window, 2, 4, 0), end = m.add(begin, size);
  // A slice would end at the edge.
  Value isInside = m.both(m.both(n.compare(begin, m.index(0), graph::ComparePredicate::Ge),
                                 m.greater(size, m.index(0))),
                          n.compare(end, m.dims(pixels, 0, 2), graph::ComparePredicate::Le));
  pixels = m.required(pixels, isInside, "a crop_window is not inside the image");
  Value cropped = n.callHost("Slice", {pixels, begin, end, n.intList({0, 1})});
  SmallVector<int64_t> dims = knownElements(size);
  if (n.failed())
    return;
  if (dims.size() != 2)
    dims.assign(2, ShapedType::kDynamic);
  dims.push_back(n.shape(pixels)[2]);
  n.setOutput(withKnownDims(n, cropped, dims, 0));
}

//===----------------------------------------------------------------------===//
// Characters
//===----------------------------------------------------------------------===//

/// Returns the replacement of bytes that are no character, and whether they are an error.
SmallVector<NamedAttribute> readErrors(NodeContext &n, StringRef encodingName) {
  const std::string encoding = n.stringAttr(encodingName, "UTF-8"),
                    errors = n.stringAttr("errors", "replace");
  if (!n.failed() && encoding != "UTF-8")
    n.failAttribute(encodingName, "is '" + encoding + "', expected UTF-8");
  if (!n.failed() && errors != "replace" && errors != "ignore" && errors != "strict")
    n.failAttribute("errors", "is '" + errors + "', expected replace, ignore or strict");
  const int64_t replacement = n.intAttr("replacement_char", 0xfffd);
  return {n.hostInts("replacement", {errors == "ignore" ? -1 : replacement}),
          n.hostInts("strict", {errors == "strict"})};
}

SmallVector<Value> charactersOf(NodeContext &n, unsigned count) {
  Value input = n.input(0);
  requireStrings(n, 0);
  SmallVector<NamedAttribute> attributes = readErrors(n, "input_encoding");
  attributes.push_back(
      n.hostInts("replace_controls", {n.boolAttr("replace_control_characters", false)}));
  if (n.failed())
    return {};
  SmallVector<Value> results = n.callHost(
      graph::HostCall{"TextCharacters", {input}, n.builder().getDictionaryAttr(attributes), count});
  for (Value &result : results)
    result = withKnownDims(n, result, {ShapedType::kDynamic}, 0);
  return results;
}

/// Outputs: where the characters of each text begin, these, and the byte of each.
template <unsigned count> void importDecode(NodeContext &n) {
  const Type splitType = n.typeAttr("Tsplits", pb::DT_INT64);
  SmallVector<Value> results = charactersOf(n, count);
  if (results.empty())
    return;
  n.setOutput(0, n.cast(results[0], splitType));
  for (unsigned i = 1; i < count; ++i)
    n.setOutput(i, results[i]);
}

Value textsOf(NodeContext &n, Value characters, Value splits, ArrayRef<NamedAttribute> errors) {
  return n.callHost("CharactersText", {characters, n.cast(splits, n.builder().getI64Type())},
                    errors);
}

void importEncode(NodeContext &n) {
  Value characters = n.input(0), splits = n.input(1);
  SmallVector<NamedAttribute> errors = readErrors(n, "output_encoding");
  if (!n.failed())
    n.setOutput(
        withKnownDims(n, textsOf(n, characters, splits, errors), {ShapedType::kDynamic}, 0));
}

/// UTF-8 without what is no character.
void importTranscode(NodeContext &n) {
  Value input = n.input(0);
  readErrors(n, "output_encoding");
  SmallVector<Value> results = charactersOf(n, 2);
  if (results.empty())
    return;
  Value texts = textsOf(n, results[1], results[0], {});
  n.setOutput(withShapeOf(n.callHost("Reshape", {texts, shapeVector(n, input)}), input));
}

//===----------------------------------------------------------------------===//
// Texts side by side
//===----------------------------------------------------------------------===//

/// Outputs: the n-grams of each row, and where the rows begin.
void importNGrams(NodeContext &n) {
  Value texts = withRank(n, 0, 1), splits = withRank(n, 1, 1);
  requireStrings(n, 0);
  const SmallVector<int64_t> widths = n.intsAttr("ngram_widths");
  SmallVector<NamedAttribute> attributes = {
      n.hostInts("widths", widths),
      n.hostText("separator", n.stringAttr("separator", "")),
      n.hostText("left_pad", n.stringAttr("left_pad", "")),
      n.hostText("right_pad", n.stringAttr("right_pad", "")),
      n.hostInts("pad_width", {n.intAttr("pad_width", 0)}),
      n.hostInts("preserve_short", {n.boolAttr("preserve_short_sequences", false)})};
  if (n.failed())
    return;
  SmallVector<Value> results =
      n.callHost(graph::HostCall{"StringNGrams",
                                 {texts, n.cast(splits, n.builder().getI64Type())},
                                 n.builder().getDictionaryAttr(attributes),
                                 2});
  if (results.empty())
    return;
  n.setOutput(0, withKnownDims(n, results[0], {ShapedType::kDynamic}, 0));
  n.setOutput(1, n.cast(results[1], NodeContext::elementType(splits)));
}

void importSegmentJoin(NodeContext &n) {
  Value texts = n.input(0), ids = n.input(1), number = n.input(2);
  requireStrings(n, 0);
  const std::string separator = n.stringAttr("separator", "");
  if (n.failed())
    return;
  const Type index = n.builder().getI64Type();
  n.setOutput(
      withKnownDims(n,
                    n.callHost("SegmentJoin", {texts, n.cast(ids, index), n.cast(number, index)},
                               {n.hostText("separator", separator)}),
                    {ShapedType::kDynamic}, 0));
}

} // namespace

ArrayRef<OpRow> textRows() {
  static constexpr llvm::StringLiteral ofImages = "0, 1 or 3 channels of 8 bits",
                                       accurate = "always by the accurate transform";
  static const OpRow rows[] = {
      {"AsString", importAsString, "floats with up to 60 digits"},
      {"DecodeAndCropJpeg", importCroppedImage, accurate},
      {"DecodeBase64", importBase64<1>},
      {"DecodeBmp", importImage, ofImages},
      {"DecodeImage", importImage,
       "0, 1 or 3 channels of 8 bits; JPEG (by the accurate transform), PNG and BMP"},
      {"DecodeJpeg", importImage, accurate},
      {"DecodePaddedRaw", importRaw, "a constant length"},
      {"DecodePng", importImage, ofImages},
      {"DecodeRaw", importRaw},
      {"EncodeBase64", importBase64<0>},
      {"StringNGrams", importNGrams},
      {"StringToNumber", importToNumber},
      {"UnicodeDecode", importDecode<2>, "UTF-8"},
      {"UnicodeDecodeWithOffsets", importDecode<3>, "UTF-8"},
      {"UnicodeEncode", importEncode, "UTF-8"},
      {"UnicodeTranscode", importTranscode, "UTF-8"},
      {"UnsortedSegmentJoin", importSegmentJoin, "ids of each text"},
  };
  return rows;
}

} // namespace atc::tf_import
