//===-- ReadNet.cpp - reads .prototxt and .caffemodel files ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/Net.h"

#include "frontends/ModelFile.h"
#include "frontends/Tensors.h"
#include "frontends/TextMessage.h"

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"

using llvm::StringRef;
using llvm::Twine;

namespace atc::caffe {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::TextFormat;

/// Words the parser's messages. A field that is not known is an error where it could change
/// what a layer computes.
class TextErrors : public google::protobuf::io::ErrorCollector {
public:
  TextErrors(StringRef path, Diagnostics &diagnostics) : path(path), diagnostics(diagnostics) {}

  void AddError(int line, int, const std::string &message) override {
    diagnostics.error("E13018", at(line) + message);
  }

  void AddWarning(int line, int, const std::string &message) override {
    auto [head, rest] = StringRef(message).split(" has no field named \"");
    StringRef type = head.rtrim('"').rsplit('.').second, field = rest.split('"').first;
    if (type == "Training" || rest.empty())
      return;
    // Parameters of a layer that is not known: its type is refused later, with its name.
    if (type == "Layer" || type == "LayerV1")
      return;
    diagnostics.error("E13018", at(line) + "'" + field + "' is not a field of " + type);
  }

private:
  std::string at(int line) const { return (path + ":" + Twine(line + 1) + ": ").str(); }

  StringRef path;
  Diagnostics &diagnostics;
};

bool readText(StringRef path, pb::Net &net, Diagnostics &diagnostics) {
  std::unique_ptr<llvm::MemoryBuffer> text = readWholeFile(path, diagnostics);
  if (!text)
    return false;
  const unsigned before = diagnostics.numErrors();
  TextErrors errors(path, diagnostics);
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(100);
  StringRef content = text->getBuffer();
  content.consume_front("\xEF\xBB\xBF"); // the mark of UTF-8
  if (std::optional<LoneBrace> brace = findLoneBrace(content)) {
    diagnostics.error("E13018", path + ":" + Twine(brace->line + 1) + ": " + brace->what);
    return false;
  }
  const bool parsed = parser.ParseFromString(content.str(), &net);
  if (!parsed && diagnostics.numErrors() == before)
    diagnostics.error("E13018", path + ": the file cannot be read as the text of a Caffe net");
  return diagnostics.numErrors() == before;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Reports whether a rule holds in the TEST phase at level 0 without stages.
bool meets(const pb::NetStateRule &rule) {
  return (!rule.has_phase() || rule.phase() == pb::TEST) &&
         (!rule.has_min_level() || rule.min_level() <= 0) &&
         (!rule.has_max_level() || rule.max_level() >= 0) && rule.stage_size() == 0;
}

template <typename Layer> bool runsInTest(const Layer &layer) {
  auto any = [](const auto &rules) { return llvm::any_of(rules, meets); };
  return layer.include_size() ? any(layer.include()) : !any(layer.exclude());
}

/// Returns what the newer form calls a type of the older one.
std::string typeName(pb::LayerV1::LayerType type) {
  static const std::map<int, const char *> names = {
      {pb::LayerV1::ABSVAL, "AbsVal"},
      {pb::LayerV1::ARGMAX, "ArgMax"},
      {pb::LayerV1::BNLL, "BNLL"},
      {pb::LayerV1::CONCAT, "Concat"},
      {pb::LayerV1::CONVOLUTION, "Convolution"},
      {pb::LayerV1::DECONVOLUTION, "Deconvolution"},
      {pb::LayerV1::DROPOUT, "Dropout"},
      {pb::LayerV1::ELTWISE, "Eltwise"},
      {pb::LayerV1::EXP, "Exp"},
      {pb::LayerV1::FLATTEN, "Flatten"},
      {pb::LayerV1::INNER_PRODUCT, "InnerProduct"},
      {pb::LayerV1::LRN, "LRN"},
      {pb::LayerV1::MVN, "MVN"},
      {pb::LayerV1::POOLING, "Pooling"},
      {pb::LayerV1::POWER, "Power"},
      {pb::LayerV1::RELU, "ReLU"},
      {pb::LayerV1::SIGMOID, "Sigmoid"},
      {pb::LayerV1::SILENCE, "Silence"},
      {pb::LayerV1::SLICE, "Slice"},
      {pb::LayerV1::SOFTMAX, "Softmax"},
      {pb::LayerV1::SPLIT, "Split"},
      {pb::LayerV1::TANH, "TanH"},
      {pb::LayerV1::THRESHOLD, "Threshold"},
  };
  auto name = names.find(type);
  // A type without an importer keeps its name in the file.
  return name == names.end() ? pb::LayerV1::LayerType_Name(type) : name->second;
}

/// Copies the fields that both forms have.
pb::Layer upgrade(const pb::LayerV1 &old) {
  pb::Layer layer;
  layer.set_name(old.name());
  layer.set_type(typeName(old.type()));
  *layer.mutable_bottom() = old.bottom();
  *layer.mutable_top() = old.top();
  for (const std::string &name : old.param())
    layer.add_param()->set_name(name);
  std::vector<const FieldDescriptor *> stated;
  old.GetReflection()->ListFields(old, &stated);
  for (const FieldDescriptor *field : stated) {
    const FieldDescriptor *same = pb::Layer::descriptor()->FindFieldByName(field->name());
    if (same && !field->is_repeated() && field->message_type() &&
        same->message_type() == field->message_type())
      layer.GetReflection()
          ->MutableMessage(&layer, same)
          ->CopyFrom(old.GetReflection()->GetMessage(old, field));
  }
  return layer;
}

bool takeLayers(const pb::Net &text, StringRef path, Net &net, Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  if (text.layer_size() && text.layers_size())
    diagnostics.error("E13018", path + ": the net has layers of the older form (layers) and of "
                                       "the newer one (layer); convert it with Caffe's "
                                       "upgrade_net_proto_text");
  for (const pb::LayerV1 &layer : text.layers()) {
    if (layer.has_layer()) {
      diagnostics.error("E13018", path + ": layers { layer { ... } } is a form of before 2014 "
                                         "(V0) that is not supported; convert it with Caffe's "
                                         "upgrade_net_proto_text");
      break;
    }
    if (runsInTest(layer))
      net.layers.push_back(upgrade(layer));
  }
  for (const pb::Layer &layer : text.layer())
    if (runsInTest(layer))
      net.layers.push_back(layer);
  if (text.layer_size() + text.layers_size() == 0)
    diagnostics.error("E16004", path + ": the net has no layers");
  llvm::StringSet<> names;
  for (const pb::Layer &layer : net.layers)
    if (!names.insert(layer.name()).second)
      diagnostics.error("E13009", "two layers have the name '" + layer.name() + "'");
  return diagnostics.numErrors() == before;
}

bool takeInputs(const pb::Net &text, StringRef path, Net &net, Diagnostics &diagnostics) {
  net.inputs.assign(text.input().begin(), text.input().end());
  net.inputShapes.resize(net.inputs.size());
  if (text.input_shape_size()) {
    for (int i = 0; i < text.input_shape_size() && i < text.input_size(); ++i)
      net.inputShapes[i].assign(text.input_shape(i).dim().begin(), text.input_shape(i).dim().end());
  } else if (text.input_dim_size()) {
    if (text.input_dim_size() != 4 * text.input_size()) {
      diagnostics.error("E13018", path + ": there are " + Twine(text.input_dim_size()) +
                                      " input_dim for " + Twine(text.input_size()) +
                                      " inputs, expected four for each");
      return false;
    }
    for (auto [index, shape] : llvm::enumerate(net.inputShapes))
      shape.assign(text.input_dim().begin() + 4 * index, text.input_dim().begin() + 4 * index + 4);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Blob readBlob(const pb::BlobProto &proto) {
  Blob blob;
  if (proto.has_shape())
    blob.dims.assign(proto.shape().dim().begin(), proto.shape().dim().end());
  else if (proto.has_num() || proto.has_channels() || proto.has_height() || proto.has_width())
    blob.dims = {proto.num(), proto.channels(), proto.height(), proto.width()};
  if (proto.data_size())
    blob.values.assign(proto.data().begin(), proto.data().end());
  else if (proto.double_data_size())
    blob.values.assign(proto.double_data().begin(), proto.double_data().end());
  else if (proto.raw_data().size() % 2 == 0)
    for (size_t i = 0; i < proto.raw_data().size(); i += 2) {
      const uint16_t bits = llvm::support::endian::read16le(proto.raw_data().data() + i);
      llvm::APFloat half(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
      blob.values.push_back(static_cast<float>(half.convertToDouble()));
    }
  return blob;
}

/// Moves the blobs of the layers that the text has out of the file's messages, so that
/// memory holds them once.
template <typename Layers>
void takeBlobs(Layers &layers, const llvm::StringSet<> &wanted, Net &net) {
  for (auto &layer : layers) {
    if (wanted.contains(layer.name()))
      for (const pb::BlobProto &blob : layer.blobs())
        net.blobs[layer.name()].push_back(readBlob(blob));
    layer.Clear();
  }
}

bool checkBlobs(const Net &net, Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  for (const auto &[layer, blobs] : net.blobs)
    for (auto [index, blob] : llvm::enumerate(blobs)) {
      llvm::Expected<int64_t> count = countElements(blob.dims);
      if (!count || *count != static_cast<int64_t>(blob.values.size()))
        diagnostics.error("E13005", "weights " + Twine(index) + " of layer '" + layer + "' have " +
                                        Twine(blob.values.size()) + " elements, not those of " +
                                        printDims(blob.dims) + ": the .caffemodel is damaged");
      llvm::consumeError(count.takeError());
    }
  return diagnostics.numErrors() == before;
}

bool readWeights(StringRef path, Net &net, Diagnostics &diagnostics) {
  pb::WeightNet weights;
  if (!parseFile(path, {"a .caffemodel", "caffemodel"}, weights, diagnostics))
    return false;
  if (weights.layer_size() + weights.layers_size() == 0) {
    diagnostics.error("E13005", "'" + path + "' has no layers: it is not a .caffemodel");
    return false;
  }
  if (llvm::any_of(weights.layers(), [](const auto &layer) { return layer.has_layer(); })) {
    diagnostics.error("E13005", "'" + path +
                                    "' has layers of the form of before 2014 (V0); "
                                    "convert it with Caffe's upgrade_net_proto_binary");
    return false;
  }
  llvm::StringSet<> wanted;
  for (const pb::Layer &layer : net.layers)
    wanted.insert(layer.name());
  takeBlobs(*weights.mutable_layer(), wanted, net);
  takeBlobs(*weights.mutable_layers(), wanted, net);
  return checkBlobs(net, diagnostics);
}

/// Gives layers without weights of their own those that they share by the names in `param`.
void shareBlobs(Net &net) {
  std::map<std::string, std::pair<std::string, int>> owners;
  for (const pb::Layer &layer : net.layers)
    for (int i = 0; i < layer.param_size(); ++i) {
      if (layer.param(i).name().empty())
        continue;
      auto [owner, isNew] = owners.try_emplace(layer.param(i).name(), layer.name(), i);
      std::vector<Blob> &own = net.blobs[layer.name()];
      const std::vector<Blob> &from = net.blobs[owner->second.first];
      const size_t number = owner->second.second;
      if (!isNew && own.size() == static_cast<size_t>(i) && number < from.size())
        own.push_back(Blob(from[number]));
    }
}

} // namespace

std::optional<Net> readNet(StringRef prototxt, StringRef caffemodel, Diagnostics &diagnostics) {
  Net net;
  pb::Net text;
  if (!readText(prototxt, text, diagnostics))
    return std::nullopt;
  net.name = text.name().empty() ? "caffe" : text.name();
  const bool done =
      takeLayers(text, prototxt, net, diagnostics) && takeInputs(text, prototxt, net, diagnostics);
  if (!done || !readWeights(caffemodel, net, diagnostics))
    return std::nullopt;
  shareBlobs(net);
  return net;
}

} // namespace atc::caffe
