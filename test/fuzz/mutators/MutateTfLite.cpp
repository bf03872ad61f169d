//===-- MutateTfLite.cpp - changes TensorFlow Lite files in place ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most changed bytes make tables that do not fit together. This mutator changes numbers where they
// stand: dims, types, operators, the tensors that they read and write, their options, scales and
// constants. The tables and the size of the file stay.

#include <cmath>
#include <cstring>
#include <random>

#include "frontends/tflite/schema/tflite_generated.h"
#include "test/fuzz/mutators/Mutators.h"

namespace fb = atc::tflite::fb;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

template <typename T> using List = flatbuffers::Vector<T>;

class Mutator {
public:
  Mutator(const fb::Model &model, unsigned seed) : model(model), random(seed) { random.discard(2); }

  void mutateOnce() {
    const auto *subgraphs = model.subgraphs();
    if (!subgraphs || !subgraphs->size())
      return;
    const fb::SubGraph &graph = *subgraphs->Get(anyOf(*subgraphs));
    switch (below(10)) {
    case 0:
      return changeCode();
    case 1:
      return changeConstant();
    case 2:
      return changeIndices(below(2) ? graph.inputs() : graph.outputs(), graph);
    case 3:
    case 4:
    case 5:
      if (graph.tensors() && graph.tensors()->size())
        changeTensor(*graph.tensors()->Get(anyOf(*graph.tensors())));
      return;
    default:
      if (graph.operators() && graph.operators()->size())
        changeOperator(*graph.operators()->Get(anyOf(*graph.operators())), graph);
    }
  }

private:
  size_t below(size_t limit) { return random() % std::max<size_t>(limit, 1); }
  template <typename T> unsigned anyOf(const List<T> &list) { return unsigned(below(list.size())); }

  int32_t anyNumber() {
    static constexpr int32_t special[] = {-1,      0,       16,        1 << 10,
                                          1 << 16, 1 << 24, INT32_MIN, INT32_MAX};
    return below(4) == 0 ? special[below(std::size(special))] : int32_t(below(9)) - 2;
  }
  float anyFloat() {
    static constexpr float special[] = {NAN, INFINITY, -INFINITY, 1e-40f, 3e38f, -0.f, 0.5f};
    return below(3) == 0 ? special[below(std::size(special))] : float(anyNumber());
  }

  /// Sets an element of a list of the file, which is the caller's to change.
  template <typename T> void set(const List<T> *list, T value) {
    if (list && list->size())
      const_cast<List<T> *>(list)->Mutate(anyOf(*list), value);
  }
  /// Sets a field where the table has it.
  template <typename Table, typename T>
  void setField(const Table &table, flatbuffers::voffset_t field, T value) {
    auto &any = reinterpret_cast<flatbuffers::Table &>(const_cast<Table &>(table));
    any.SetField<T>(field, value, T());
  }

  void changeIndices(const List<int32_t> *list, const fb::SubGraph &graph) {
    const size_t tensors = graph.tensors() ? graph.tensors()->size() : 0;
    set(list, below(16) ? int32_t(below(tensors)) : anyNumber());
  }

  void changeCode() {
    const auto *codes = model.operator_codes();
    if (!codes || !codes->size())
      return;
    const fb::OperatorCode &code = *codes->Get(anyOf(*codes));
    const auto builtin = int32_t(below(size_t(fb::BuiltinOperator::MAX) + 1));
    setField(code, fb::OperatorCode::VT_BUILTIN_CODE, builtin);
    setField(code, fb::OperatorCode::VT_DEPRECATED_BUILTIN_CODE, int8_t(std::min(builtin, 127)));
  }

  void changeTensor(const fb::Tensor &tensor) {
    switch (below(6)) {
    case 0:
      return setField(tensor, fb::Tensor::VT_TYPE, int8_t(below(size_t(fb::TensorType::MAX) + 2)));
    case 1:
      return setField(tensor, fb::Tensor::VT_BUFFER,
                      uint32_t(below(model.buffers() ? model.buffers()->size() + 1 : 2)));
    case 2:
      if (const auto *quantization = tensor.quantization()) {
        set(quantization->scale(), anyFloat());
        set(quantization->zero_point(), int64_t(anyNumber()));
        setField(*quantization, fb::QuantizationParameters::VT_QUANTIZED_DIMENSION, anyNumber());
      }
      return;
    case 3:
      return set(tensor.shape_signature(), anyNumber());
    default:
      return set(tensor.shape(), anyNumber());
    }
  }

  void changeOperator(const fb::Operator &op, const fb::SubGraph &graph) {
    switch (below(5)) {
    case 0:
      return setField(op, fb::Operator::VT_OPCODE_INDEX,
                      uint32_t(below(model.operator_codes() ? model.operator_codes()->size() : 1)));
    case 1:
      return changeIndices(op.outputs(), graph);
    case 2:
      return changeOptions(static_cast<const flatbuffers::Table *>(op.builtin_options()));
    default:
      return changeIndices(op.inputs(), graph);
    }
  }

  /// Changes a field of a table of options: all are numbers of one or four bytes, or lists.
  void changeOptions(const flatbuffers::Table *options) {
    if (!options)
      return;
    const uint8_t *vtable = options->GetVTable();
    const auto bytes = flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable);
    const size_t fields = bytes / sizeof(flatbuffers::voffset_t) - 2;
    if (!fields)
      return;
    const auto field = flatbuffers::voffset_t((2 + below(fields)) * sizeof(flatbuffers::voffset_t));
    uint8_t *at = const_cast<flatbuffers::Table *>(options)->GetAddressOf(field);
    if (!at)
      return;
    if (below(3) == 0) {
      *at = uint8_t(below(8));
    } else {
      // A number of four bytes is aligned; beside a byte lies another one, or padding.
      const int32_t value = anyNumber();
      at -= reinterpret_cast<uintptr_t>(at) % sizeof(value);
      std::memcpy(at, &value, sizeof(value));
    }
  }

  void changeConstant() {
    const auto *buffers = model.buffers();
    if (!buffers || !buffers->size())
      return;
    const auto *data = buffers->Get(anyOf(*buffers))->data();
    if (!data || !data->size())
      return;
    auto *bytes = const_cast<uint8_t *>(data->data());
    const int32_t number = anyNumber();
    const float real = anyFloat();
    const size_t words = data->size() / sizeof(number);
    if (words && below(3))
      std::memcpy(bytes + below(words) * sizeof(number),
                  below(2) ? static_cast<const void *>(&real) : static_cast<const void *>(&number),
                  sizeof(number));
    else
      bytes[below(data->size())] = uint8_t(random());
  }

  const fb::Model &model;
  std::minstd_rand random;
};

} // namespace

size_t atc::fuzz::mutateTfLite(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  flatbuffers::Verifier verifier(data, size);
  if (seed % 16 == 0 || size < 8 || !fb::VerifyModelBuffer(verifier))
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned i = 0; i <= seed % 4; ++i) {
    // Options that were a list may fit nothing any more.
    flatbuffers::Verifier again(data, size);
    if (!fb::VerifyModelBuffer(again))
      break;
    Mutator(*fb::GetModel(data), seed + i).mutateOnce();
  }
  return size;
}
