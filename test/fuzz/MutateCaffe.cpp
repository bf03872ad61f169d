//===-- MutateCaffe.cpp - changes Caffe models so that they stay models ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most changed bytes make a text that cannot be parsed. This mutator changes the fields of a net
// and of its weights, whatever they are, by the descriptions of their messages, and knows four
// things beside: layers are copied with their weights, types are those of importers, blobs are read
// that exist, and weights get the number of values that their shape states.

#include <cmath>
#include <limits>
#include <random>

#include "frontends/caffe/LayerTable.h"
#include "frontends/caffe/Net.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
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

class Mutator {
public:
  Mutator(Model &model, unsigned seed) : model(model), random(seed) { random.discard(2); }

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
  size_t below(size_t limit) { return random() % std::max<size_t>(limit, 1); }

  int64_t anyNumber() {
    static constexpr int64_t special[] = {-1,        0,         16,        1 << 10,
                                          1 << 16,   1 << 24,   1u << 31,  int64_t(1) << 40,
                                          INT32_MIN, INT32_MAX, INT64_MAX, INT64_MIN};
    return below(4) == 0 ? special[below(std::size(special))] : int64_t(below(9)) - 2;
  }
  double anyFloat() {
    static constexpr double special[] = {NAN, INFINITY, -INFINITY, 1e-40, 3e38, -0.0, 0.5};
    return below(3) == 0 ? special[below(std::size(special))] : double(anyNumber());
  }
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
  std::string anyText() {
    static constexpr const char *texts[] = {"", "data", "%s%n", "\xe2\x80\xae", "a b", "conv"};
    const size_t kind = below(4);
    return kind == 0   ? texts[below(std::size(texts))]
           : kind == 1 ? std::string(1 << below(10), 'x')
           : kind == 2 ? anyType()
                       : anyBlob();
  }

  void copyLayer() {
    const pb::Layer layer = anyLayer();
    pb::Layer &copy = *model.net.add_layer();
    copy = layer;
    copy.set_name("m" + std::to_string(random()));
    for (std::string &top : *copy.mutable_top())
      if (below(2))
        top = "t" + std::to_string(random());
    for (const pb::WeightLayer &weights : model.weights.layer())
      if (weights.name() == layer.name()) {
        const pb::WeightLayer same = weights;
        *model.weights.add_layer() = same;
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
    layer.set_name("m" + std::to_string(random()));
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

  /// Changes a field of a message, or of one inside it.
  void change(Message &message) {
    const auto &descriptor = *message.GetDescriptor();
    if (descriptor.field_count() == 0)
      return;
    // Half of the time one that is set.
    std::vector<const FieldDescriptor *> set;
    message.GetReflection()->ListFields(message, &set);
    const FieldDescriptor &field =
        !set.empty() && below(2) ? *set[below(set.size())]
                                 : *descriptor.field(int(below(size_t(descriptor.field_count()))));
    if (field.is_repeated())
      changeRepeated(message, field);
    else if (below(8) == 0)
      message.GetReflection()->ClearField(&message, &field);
    else
      setOne(message, field);
  }

  void setOne(Message &message, const FieldDescriptor &field) {
    const Reflection &to = *message.GetReflection();
    switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return to.SetInt32(&message, &field, int32_t(anyNumber()));
    case FieldDescriptor::CPPTYPE_INT64:
      return to.SetInt64(&message, &field, anyNumber());
    case FieldDescriptor::CPPTYPE_UINT32:
      return to.SetUInt32(&message, &field, uint32_t(anyNumber()));
    case FieldDescriptor::CPPTYPE_UINT64:
      return to.SetUInt64(&message, &field, uint64_t(anyNumber()));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return to.SetFloat(&message, &field, float(anyFloat()));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return to.SetDouble(&message, &field, anyFloat());
    case FieldDescriptor::CPPTYPE_BOOL:
      return to.SetBool(&message, &field, below(2) != 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return to.SetEnum(
          &message, &field,
          field.enum_type()->value(int(below(size_t(field.enum_type()->value_count())))));
    case FieldDescriptor::CPPTYPE_STRING:
      return to.SetString(&message, &field, anyText());
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return change(*to.MutableMessage(&message, &field));
    }
  }

  void changeRepeated(Message &message, const FieldDescriptor &field) {
    const Reflection &to = *message.GetReflection();
    const int count = to.FieldSize(message, &field);
    if (count && below(4) == 0)
      return to.RemoveLast(&message, &field);
    const int at = int(below(size_t(count)));
    // Layers are added by functions that know what belongs to them.
    const bool isOld = count && (below(2) || field.containing_type() == pb::Net::descriptor());
    switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      return isOld ? to.SetRepeatedInt64(&message, &field, at, anyNumber())
                   : to.AddInt64(&message, &field, anyNumber());
    case FieldDescriptor::CPPTYPE_UINT32:
      return isOld ? to.SetRepeatedUInt32(&message, &field, at, uint32_t(anyNumber()))
                   : to.AddUInt32(&message, &field, uint32_t(anyNumber()));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return isOld ? to.SetRepeatedFloat(&message, &field, at, float(anyFloat()))
                   : to.AddFloat(&message, &field, float(anyFloat()));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return isOld ? to.SetRepeatedDouble(&message, &field, at, anyFloat())
                   : to.AddDouble(&message, &field, anyFloat());
    case FieldDescriptor::CPPTYPE_BOOL:
      return isOld ? to.SetRepeatedBool(&message, &field, at, below(2) != 0)
                   : to.AddBool(&message, &field, below(2) != 0);
    case FieldDescriptor::CPPTYPE_STRING:
      return isOld ? to.SetRepeatedString(&message, &field, at, anyText())
                   : to.AddString(&message, &field, anyText());
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return change(isOld ? *to.MutableRepeatedMessage(&message, &field, at)
                          : *to.AddMessage(&message, &field));
    default:
      return;
    }
  }

  Model &model;
  std::minstd_rand random;
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
