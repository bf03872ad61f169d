//===-- MutateCaffe.cpp - changes Caffe models so that they stay models ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most changed bytes make a text that cannot be parsed. This mutator changes the fields of a net
// and of its weights, whatever they are, by the descriptions of their messages, and knows four
// things beside: layers are copied with their weights, types are those of importers, blobs are read
// that exist, and weights get the number of values that their shape states.

#include "frontends/caffe/LayerTable.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"
#include "test/fuzz/mutators/MessageMutator.h"

using google::protobuf::FieldDescriptor;
namespace pb = atc::caffe::pb;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

/// A model as its two files.
struct Model {
  pb::Net net;
  pb::WeightNet weights;

  /// Reads a text and, behind the first zero byte, weights.
  bool parse(const uint8_t *data, size_t size) {
    const auto text = size_t(std::find(data, data + size, 0) - data);
    const size_t begin = std::min(text + 1, size);
    return google::protobuf::TextFormat::ParseFromString(
               std::string(reinterpret_cast<const char *>(data), text), &net) &&
           weights.ParseFromArray(data + begin, int(size - begin)) && net.layer_size() > 0;
  }
  std::string bytes() const {
    std::string text;
    google::protobuf::TextFormat::PrintToString(net, &text);
    return text + '\0' + weights.SerializeAsString();
  }
};

std::vector<std::string> allTypes() {
  std::vector<std::string> types;
  for (auto family :
       {atc::caffe::windowLayers, atc::caffe::elementwiseLayers, atc::caffe::normLayers,
        atc::caffe::moveLayers, atc::caffe::reduceLayers, atc::caffe::detectionLayers})
    for (const atc::caffe::LayerRow &row : family())
      types.emplace_back(row.type);
  return types;
}

class Mutator : public atc::fuzz::MessageMutator {
public:
  Mutator(Model &model, unsigned seed) : MessageMutator(seed), model(model) {}

  void mutateOnce() {
    pb::Layer &layer = anyLayer();
    switch (below(8)) {
    case 0:
      return layer.set_type(anyType());
    case 1:
      if (layer.bottom_size() && below(4))
        return layer.set_bottom(int(below(size_t(layer.bottom_size()))), anyBlob());
      return layer.add_bottom(anyBlob());
    case 2:
      return copyLayer();
    case 3:
      return addLayer();
    case 4:
      if (model.weights.layer_size())
        change(*model.weights.mutable_layer(int(below(size_t(model.weights.layer_size())))));
      return;
    case 5:
      return fitWeights();
    case 6:
      return change(model.net);
    default:
      return change(layer);
    }
  }

private:
  const std::string &anyType() {
    static const std::vector<std::string> types = allTypes();
    return types[below(types.size())];
  }
  pb::Layer &anyLayer() {
    return *model.net.mutable_layer(int(below(size_t(model.net.layer_size()))));
  }
  std::string anyBlob() {
    if (model.net.input_size() && below(4) == 0)
      return model.net.input(int(below(size_t(model.net.input_size()))));
    const pb::Layer &layer = anyLayer();
    return layer.top_size() ? layer.top(int(below(size_t(layer.top_size())))) : layer.name();
  }
  std::string anyText() override {
    static constexpr const char *texts[] = {"", "data", "%s%n", "\xe2\x80\xae", "a b", "conv"};
    const size_t kind = below(4);
    return kind == 0   ? texts[below(std::size(texts))]
           : kind == 1 ? std::string(1 << below(10), 'x')
           : kind == 2 ? anyType()
                       : anyBlob();
  }

  /// Layers are added by functions that know what belongs to them.
  bool mayGrow(const FieldDescriptor &field) override {
    return field.containing_type() != pb::Net::descriptor();
  }

  void copyLayer() {
    const pb::Layer layer = anyLayer();
    pb::Layer &copy = *model.net.add_layer();
    copy = layer;
    copy.set_name("m" + std::to_string(below(1u << 31)));
    for (std::string &top : *copy.mutable_top())
      if (below(2))
        top = "t" + std::to_string(below(1u << 31));
    for (const pb::WeightLayer &weights : model.weights.layer())
      if (weights.name() == layer.name()) {
        model.weights.add_layer()->CopyFrom(weights); // Others stay where they are.
        model.weights.mutable_layer(model.weights.layer_size() - 1)->set_name(copy.name());
        return;
      }
  }

  /// Adds a layer of any type with some parameters, which reads blobs that there are.
  void addLayer() {
    std::vector<std::string> bottoms;
    for (size_t i = below(3) + 1; i--;)
      bottoms.push_back(anyBlob());
    pb::Layer &layer = *model.net.add_layer();
    layer.set_name("m" + std::to_string(below(1u << 31)));
    layer.set_type(anyType());
    for (const std::string &bottom : bottoms)
      layer.add_bottom(bottom);
    layer.add_top(below(4) ? layer.name() : bottoms.front());
    for (size_t i = below(4); i--;)
      change(layer);
  }

  /// Resizes a blob to the number of values that its shape states.
  void fitWeights() {
    if (!model.weights.layer_size())
      return;
    auto &layer = *model.weights.mutable_layer(int(below(size_t(model.weights.layer_size()))));
    pb::BlobProto &blob = layer.blobs_size()
                              ? *layer.mutable_blobs(int(below(size_t(layer.blobs_size()))))
                              : *layer.add_blobs();
    uint64_t count = 1;
    constexpr uint64_t kMaxValues = 1 << 10;
    for (int64_t dim : blob.shape().dim())
      count = dim >= 0 && uint64_t(dim) <= kMaxValues && count <= kMaxValues ? count * uint64_t(dim)
                                                                             : kMaxValues + 1;
    if (count > kMaxValues)
      return blob.clear_shape();
    blob.clear_double_data();
    blob.mutable_data()->Resize(int(count), float(anyFloat()));
  }

  Model &model;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  google::protobuf::LogSilencer silencer;
  Model model;
  if (seed % 16 == 0 || !model.parse(data, size))
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned i = 0; i <= seed % 3; ++i)
    Mutator(model, seed + i).mutateOnce();
  const std::string bytes = model.bytes();
  if (bytes.size() > maxSize)
    return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
