//===-- fuzz-host-kernels.cpp - hostile calls of every host kernel --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls kernels through their interface as a hostile model could make the runtime do
// it: any number of inputs, any dims, types and kinds, any attribute values of the types
// that the importer lets through, any elements. Half of the calls are made to meet the
// kernel's contract, so that what lies behind the check is reached as well.
//
//   fuzz-host-kernels [--calls N] [--seed S] [--kernel NAME] [--first I] [--limit SECONDS]
//
// Call I of a seed is the same wherever it runs: what is reported can be run again with
// `--kernel NAME --seed S --first I --calls 1`. Every buffer is as long as its elements,
// so AddressSanitizer sees the first byte behind it.

#include "kernels/core/Support.h"
#include "kernels/native/NativeHost.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <csignal>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace atc;
using kernels::Contract;
using kernels::native::Row;

namespace {

/// Bytes that a call may ask for, as a session's ceiling would have it.
constexpr uint64_t kCeiling = 32u << 20;

struct Signature {
  const char *types, *attributes;
};

const std::map<std::string, Signature> &signatures() {
  static const std::map<std::string, Signature> all = {
#define SIGNATURE(Name, Domain, Since, Required, Max, Types, Attributes, Unread)                   \
  {#Name, {Types, Attributes}},
#include "kernels/Signatures.def"
  };
  return all;
}

/// Words that attributes know; the kernels' own and a few that nobody knows.
constexpr const char *kWords[] = {"",
                                  "NOTSET",
                                  "SAME_UPPER",
                                  "SAME_LOWER",
                                  "VALID",
                                  "none",
                                  "tanh",
                                  "LEFT",
                                  "RIGHT",
                                  "up",
                                  "down",
                                  "DCR",
                                  "CRD",
                                  "forward",
                                  "reverse",
                                  "bidirectional",
                                  "linear",
                                  "bilinear",
                                  "nearest",
                                  "cubic",
                                  "zeros",
                                  "border",
                                  "reflection",
                                  "RGB",
                                  "Grayscale",
                                  "mean",
                                  "sum",
                                  "constant",
                                  "reflect",
                                  "edge",
                                  "wrap",
                                  "half_pixel",
                                  "align_corners",
                                  "asymmetric",
                                  "tf_crop_and_resize",
                                  "not_larger",
                                  "not_smaller",
                                  "floor",
                                  "ceil",
                                  "avg",
                                  "max",
                                  "add",
                                  "mul",
                                  "min",
                                  "circular",
                                  "TF",
                                  "IDF",
                                  "TFIDF",
                                  "Relu",
                                  "Tanh",
                                  "Sigmoid",
                                  "Clip",
                                  "ij,jk->ik",
                                  "...ij->...ji",
                                  "ii->i",
                                  "a(b|c)*d",
                                  "[a-z]+",
                                  "(a*)*b",
                                  "LOGISTIC",
                                  "SOFTMAX",
                                  "SOFTMAX_ZERO",
                                  "PROBIT",
                                  "BRANCH_LEQ",
                                  "BRANCH_LT",
                                  "LEAF",
                                  "BRANCH_EQ",
                                  "SUM",
                                  "AVERAGE",
                                  "MIN",
                                  "MAX",
                                  "L1",
                                  "L2",
                                  "RBF",
                                  "POLY",
                                  "SIGMOID",
                                  "DENSE",
                                  "SPARSE",
                                  "TO_FLOAT",
                                  "TO_STRING",
                                  "UPPER",
                                  "LOWER",
                                  "gated",
                                  "delta",
                                  "i,i->",
                                  "bij,bjk->bik",
                                  "\xff\xfe",
                                  "\xe4\xb8\xad\xe6\x96\x87"};

/// SplitMix64: a call's numbers depend on the seed and the call's index alone.
class Random {
public:
  explicit Random(uint64_t state) : state(state) {}
  uint64_t next() {
    uint64_t mixed = state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
  }
  int64_t below(int64_t n) { return int64_t(next() % uint64_t(n)); }
  bool chance(int percent) { return below(100) < percent; }

  int64_t number() {
    static constexpr int64_t odd[] = {INT64_MIN,
                                      INT64_MAX,
                                      -1,
                                      0,
                                      1,
                                      int64_t(1) << 32,
                                      INT32_MIN,
                                      INT32_MAX,
                                      1000000007,
                                      4294967295,
                                      -100000,
                                      255,
                                      256,
                                      65536,
                                      1 << 24,
                                      -2,
                                      INT64_MIN + 1,
                                      int64_t(1) << 62};
    const int64_t kind = below(100);
    if (kind < 80)
      return below(9) - 2;
    return kind < 90 ? below(64) : odd[below(sizeof(odd) / sizeof(odd[0]))];
  }
  double real() {
    static const double odd[] = {__builtin_nan(""),
                                 __builtin_inf(),
                                 -__builtin_inf(),
                                 1e300,
                                 -1e300,
                                 1e-300,
                                 3e38,
                                 1e18,
                                 -1e18,
                                 2147483648.0,
                                 -0.0,
                                 1e9};
    const int64_t kind = below(100);
    if (kind < 60)
      return double(below(2001) - 1000) / 250;
    return kind < 85 ? double(below(11) - 3) : odd[below(sizeof(odd) / sizeof(odd[0]))];
  }

private:
  uint64_t state;
};

/// Memory whose blocks end where their elements end.
class Blocks {
public:
  ~Blocks() {
    for (void *block : blocks)
      std::free(block);
  }
  /// Null above the ceiling.
  char *make(uint64_t bytes) {
    void *block = nullptr;
    if (bytes > kCeiling || used + bytes > kCeiling ||
        posix_memalign(&block, 64, bytes ? bytes : 1))
      return nullptr;
    used += bytes;
    blocks.push_back(block);
    return static_cast<char *>(block);
  }
  host::Value *value() {
    auto *made = reinterpret_cast<host::Value *>(make(sizeof(host::Value)));
    return made ? new (made) host::Value() : nullptr;
  }
  host::Value *tensor(uint8_t dtype, uint32_t rank, const int64_t *dims) {
    int64_t count = 1, bits = kernels::bitsOf(dtype);
    for (uint32_t i = 0; i < rank; ++i)
      if (dims[i] < 0 || __builtin_mul_overflow(count, dims[i], &count))
        return nullptr;
    if (rank > host::kMaxRank || !bits || count > int64_t(kCeiling) * 4)
      return nullptr;
    char *data = make(uint64_t(kernels::bytesOf(dtype, count)));
    host::Value *made = data ? value() : nullptr;
    if (!made)
      return nullptr;
    made->kind = host::Kind::Tensor;
    made->dtype = dtype;
    made->rank = uint16_t(rank);
    std::memcpy(made->dims, dims, rank * sizeof(int64_t));
    made->data = data;
    return made;
  }

private:
  std::vector<void *> blocks;
  uint64_t used = 0;
};

struct FuzzCall : host::Call {
  Blocks memory;
  std::vector<host::Value *> made;
  std::string error;
  bool onlyShapes = false;
  static FuzzCall &of(host::Call *call) { return *static_cast<FuzzCall *>(call); }
  void set(uint32_t i, host::Value *value) {
    if (i < made.size())
      made[i] = value;
  }
};

void *makeTensor(host::Call *call, uint32_t i, uint8_t dtype, uint32_t rank, const int64_t *dims) {
  host::Value *value = FuzzCall::of(call).memory.tensor(dtype, rank, dims);
  if (!value) {
    FuzzCall::of(call).error = "no memory for an output";
    return nullptr;
  }
  FuzzCall &fuzz = FuzzCall::of(call);
  if (dtype == kernels::Str)
    std::memset(value->data, 0, size_t(kernels::Tensor(value).count()) * sizeof(host::String));
  fuzz.set(i, value);
  bool complete = true;
  for (const host::Value *made : fuzz.made)
    complete = complete && made;
  // Behind an output that is not the last one nothing may be written either.
  return fuzz.onlyShapes ? (complete ? nullptr : fuzz.memory.make(0)) : value->data;
}
void share(host::Call *call, uint32_t i, const host::Value *source, uint32_t rank,
           const int64_t *dims) {
  int64_t own = 1, other = 1;
  for (uint32_t d = 0; d < source->rank; ++d)
    own *= source->dims[d];
  for (uint32_t d = 0; d < rank; ++d)
    if (dims[d] < 0 || __builtin_mul_overflow(other, dims[d], &other))
      std::abort();
  if (own != other) {
    std::fprintf(stderr, "a value is shared with another number of elements\n");
    std::abort();
  }
  if (host::Value *value = FuzzCall::of(call).memory.value()) {
    *value = *source;
    value->rank = uint16_t(rank);
    std::memcpy(value->dims, dims, rank * sizeof(int64_t));
    FuzzCall::of(call).set(i, value);
  }
}
void forward(host::Call *call, uint32_t i, const host::Value *source) {
  FuzzCall::of(call).set(i, const_cast<host::Value *>(source));
}
host::Value *list(FuzzCall &call, host::Kind kind, uint8_t dtype, uint64_t count,
                  const host::Value *const *items) {
  host::Value *value = call.memory.value();
  char *data = call.memory.make(count * sizeof(void *));
  if (!value || !data)
    return nullptr;
  for (uint64_t k = 0; k < count; ++k)
    if (!items[k] || (kind == host::Kind::Sequence && items[k]->dtype != dtype)) {
      std::fprintf(stderr, "a sequence has an item of another type\n");
      std::abort();
    }
  if (count)
    std::memcpy(data, items, count * sizeof(void *));
  value->kind = kind;
  value->dtype = dtype;
  value->rank = 1;
  value->dims[0] = int64_t(count);
  value->data = data;
  return value;
}
void makeSequence(host::Call *call, uint32_t i, host::Kind kind, uint8_t dtype, uint64_t count,
                  const host::Value *const *items) {
  FuzzCall::of(call).set(i, list(FuzzCall::of(call), kind, dtype, count, items));
}
const host::Value *makeItem(host::Call *call, uint8_t dtype, uint32_t rank, const int64_t *dims) {
  return FuzzCall::of(call).memory.tensor(dtype, rank, dims);
}
void makeNone(host::Call *call, uint32_t i) {
  FuzzCall::of(call).set(i, FuzzCall::of(call).memory.value());
}
char *makeText(host::Call *call, uint64_t bytes) { return FuzzCall::of(call).memory.make(bytes); }
void *scratch(host::Call *call, uint64_t bytes) { return FuzzCall::of(call).memory.make(bytes); }
void parallel(host::Call *call, int64_t tasks, void (*task)(void *, int64_t, int64_t), void *arg) {
  // A host may stop a call between its pieces, as a session with a deadline does.
  const auto start = std::chrono::steady_clock::now();
  const int64_t piece = tasks / 256 + 1;
  for (int64_t begin = 0; begin < tasks; begin += piece) {
    task(arg, begin, std::min(begin + piece, tasks));
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(2)) {
      FuzzCall::of(call).error = "is stopped";
      return;
    }
  }
}
void fail(host::Call *call, const char *text, const int64_t *, uint32_t) {
  FuzzCall::of(call).error = text;
}
uint64_t entropy(host::Call *) { return 42; }
const host::Value *makeMapItem(host::Call *call, const host::Value *keys,
                               const host::Value *values) {
  const host::Value *const items[] = {keys, values};
  return list(FuzzCall::of(call), host::Kind::Map, values->dtype, 2, items);
}
constexpr host::Host kHost = {makeTensor, share,   forward,  makeSequence, makeItem, makeNone,
                              makeText,   scratch, parallel, fail,         entropy,  makeMapItem};

/// Makes one call.
class Caller {
public:
  Caller(const Row &row, uint64_t seed) : row(row), random(seed) {
    for (int64_t &size : sizes)
      size = random.chance(10) ? random.below(40) : random.below(6);
    for (int64_t &size : bound)
      size = random.chance(90) ? 1 + random.below(5) : random.below(9);
    lawful = random.chance(70);
    onlyShapes = random.chance(5);
  }

  /// As when the compiler infers shapes: some inputs have no elements, and the kernel is
  /// to end when it has asked for its outputs.
  bool isForShapes() const { return onlyShapes; }

  void fill(std::vector<const host::Value *> &inputs, std::vector<host::Attribute> &attributes) {
    const Contract &contract = *row.contract;
    uint32_t needed = 0;
    while (needed < 32 && contract.required >> needed)
      ++needed;
    const uint32_t usual = std::min<uint32_t>(contract.maxInputs, std::max(needed, 1u) + 3);
    uint32_t count = needed + uint32_t(random.below(int64_t(usual - needed) + 1));
    if (random.chance(2))
      count = uint32_t(random.below(9));
    for (uint32_t i = 0; i < count; ++i) {
      const bool required = i < 32 && contract.required >> i & 1;
      inputs.push_back(random.chance(required ? 1 : 20) ? nullptr : input(i));
    }
    auto signature = signatures().find(row.name);
    if (signature != signatures().end())
      fillAttributes(signature->second.attributes, inputs, attributes);
  }

private:
  uint8_t dtypeFor(uint32_t i) {
    const Contract &contract = *row.contract;
    if (!contract.typeCount || random.chance(3))
      return uint8_t(random.below(27));
    const Contract::Type &type = contract.types[std::min(i, contract.typeCount - 1)];
    if (type.variable != Contract::kNone && types[type.variable] && !random.chance(3))
      return types[type.variable];
    uint8_t dtype;
    do
      dtype = uint8_t(1 + random.below(26));
    while (!(type.allowed >> dtype & 1));
    if (type.variable != Contract::kNone)
      types[type.variable] = dtype;
    return dtype;
  }

  int64_t sizeOf(const Contract::Dim &dim) {
    if (dim.any)
      return sizes[random.below(4)];
    int64_t size = dim.number;
    for (uint8_t name : {dim.first, dim.second})
      if (name != Contract::kNone)
        size *= bound[name];
    return size;
  }

  kernels::Dims dimsFor(uint32_t i) {
    const Contract::Operand *operand = row.contract->operandOf(i);
    kernels::Dims dims;
    if (lawful && operand && operand->forms) {
      const Contract::Form &form =
          row.contract->forms[operand->firstForm + random.below(operand->forms)];
      const Contract::Dim *all = row.contract->dims + form.firstDim;
      if (form.isCount) {
        const int64_t count = sizeOf(all[0]);
        if (random.chance(20))
          dims.push(1);
        dims.push(count);
        if (count == 1 && random.chance(50))
          dims.rank = 0;
        return dims;
      }
      for (uint32_t d = 0; d <= form.dims; ++d) {
        if (d == form.rest)
          for (int64_t more = random.below(4); more > 0; --more)
            dims.push(sizes[random.below(4)]);
        if (d < form.dims)
          dims.push(sizeOf(all[d]));
      }
      return dims;
    }
    // Often the dims of another input, which kernels want.
    if (i && random.chance(60))
      dims = last;
    else
      for (int64_t rank = random.chance(5) ? random.below(10) : random.below(6); rank > 0; --rank)
        dims.push(random.chance(60) ? sizes[random.below(4)] : 1 + random.below(4));
    if (dims.rank && random.chance(25))
      dims[random.below(dims.rank)] = random.below(7);
    if (dims.rank && random.chance(15))
      --dims.rank;
    last = dims;
    return dims;
  }

  void fillElements(host::Value &tensor, int64_t limit) {
    const int64_t count = kernels::Tensor(&tensor).count();
    const bool tame = random.chance(60);
    if (tensor.dtype == kernels::Str) {
      auto *texts = static_cast<host::String *>(tensor.data);
      for (int64_t i = 0; i < count; ++i) {
        const char *word = kWords[random.below(sizeof(kWords) / sizeof(kWords[0]))];
        const uint64_t size = std::strlen(word);
        char *copy = memory.make(size);
        for (uint64_t k = 0; copy && k < size; ++k)
          copy[k] = word[k];
        texts[i] = {copy, copy ? size : 0};
      }
      return;
    }
    auto store = [&](auto *to) {
      using T = std::remove_reference_t<decltype(*to)>;
      for (int64_t i = 0; i < count; ++i) {
        if constexpr (std::is_floating_point_v<T>)
          to[i] = T(random.real());
        else
          to[i] = T(tame ? random.below(limit) : random.number());
      }
    };
    switch (tensor.dtype) {
    case kernels::F32:
      return store(static_cast<float *>(tensor.data));
    case kernels::F64:
      return store(static_cast<double *>(tensor.data));
    case kernels::I64:
    case kernels::U64:
      return store(static_cast<int64_t *>(tensor.data));
    case kernels::I32:
    case kernels::U32:
      return store(static_cast<int32_t *>(tensor.data));
    case kernels::Bool:
      for (int64_t i = 0; i < count; ++i)
        static_cast<uint8_t *>(tensor.data)[i] = uint8_t(random.below(2));
      return;
    case kernels::U8:
    case kernels::I8:
      return store(static_cast<int8_t *>(tensor.data));
    default:
      for (int64_t i = 0, bytes = kernels::bytesOf(tensor.dtype, count); i < bytes; ++i)
        static_cast<uint8_t *>(tensor.data)[i] = uint8_t(random.next());
    }
  }

  host::Value *tensor(uint32_t i, uint8_t dtype) {
    const kernels::Dims dims = dimsFor(i);
    host::Value *value = memory.tensor(dtype ? dtype : 1, dims.rank, dims.at);
    if (!value)
      return nullptr;
    fillElements(*value, 1 + random.below(6));
    if (onlyShapes && random.chance(50))
      value->data = nullptr;
    return value;
  }

  const host::Value *input(uint32_t i) {
    const Contract::Operand *operand = row.contract->operandOf(i);
    uint8_t kinds = operand ? operand->kinds : Contract::kTensor;
    if (random.chance(3))
      kinds = uint8_t(1 << random.below(4));
    std::vector<host::Kind> choices;
    for (uint8_t kind = 0; kind < 4; ++kind)
      if (kinds >> kind & 1)
        choices.push_back(host::Kind(kind));
    const host::Kind kind = choices[size_t(random.below(int64_t(choices.size())))];
    if (kind == host::Kind::Tensor)
      return tensor(i, dtypeFor(i));
    host::Value *value = memory.value();
    value->kind = kind;
    if (kind == host::Kind::None)
      return value;
    const int64_t count = kind == host::Kind::Map ? 2 : random.below(5);
    auto **items = reinterpret_cast<host::Value **>(memory.make(uint64_t(count) * sizeof(void *)));
    uint8_t dtype = uint8_t(1 + random.below(16));
    if (kind == host::Kind::Map) {
      // Keys and values of one length, as the runtime makes them.
      const int64_t size[] = {random.below(5)};
      static constexpr uint8_t keys[] = {kernels::I64, kernels::Str};
      static constexpr uint8_t held[] = {kernels::F32, kernels::I64, kernels::Str, kernels::F64};
      items[0] = memory.tensor(keys[random.below(2)], 1, size);
      items[1] = memory.tensor(dtype = held[random.below(4)], 1, size);
      fillElements(*items[0], 5);
      fillElements(*items[1], 5);
    } else {
      for (int64_t k = 0; k < count; ++k)
        if (!(items[k] = tensor(1, dtype)) || !items[k]->data)
          return nullptr;
    }
    value->dtype = dtype;
    value->rank = 1;
    value->dims[0] = count;
    value->data = items;
    return value;
  }

  void fillAttributes(const char *text, const std::vector<const host::Value *> &inputs,
                      std::vector<host::Attribute> &attributes) {
    const bool list = random.chance(70);
    for (const char *p = text; *p;) {
      const char *end = std::strchr(p, ' ');
      const std::string entry = end ? std::string(p, end) : std::string(p);
      p = end ? end + 1 : p + entry.size();
      if (entry[1] != '!' && random.chance(40))
        continue;
      const char type = entry[0];
      host::Attribute made = {};
      char *name = memory.make(entry.size());
      std::strcpy(name, entry.c_str() + 2);
      made.name = name;
      int64_t count = 1;
      if (type >= 'A' && type <= 'Z') {
        const uint32_t rank = !inputs.empty() && inputs[0] ? inputs[0]->rank : 2;
        const int64_t usual[] = {rank, int64_t(rank) - 2, 2 * (int64_t(rank) - 2), 1};
        count = std::max<int64_t>(0, list ? usual[random.below(4)] : random.below(9));
      }
      made.count = uint64_t(count);
      switch (type) {
      case 'i':
      case 'I': {
        made.kind = host::AttributeKind::Ints;
        auto *to = reinterpret_cast<int64_t *>(memory.make(uint64_t(count) * 8));
        for (int64_t k = 0; k < count; ++k)
          to[k] = lawful && random.chance(70) ? bound[random.below(4)] : random.number();
        // Sizes that the contract knows by this name.
        for (uint32_t s = 0; lawful && type == 'i' && s < row.contract->sizeCount; ++s)
          if (row.contract->isAttribute[s] && !std::strcmp(row.contract->names[s], name))
            to[0] = bound[s];
        made.data = to;
        break;
      }
      case 'f':
      case 'F': {
        made.kind = host::AttributeKind::Floats;
        auto *to = reinterpret_cast<double *>(memory.make(uint64_t(count) * 8));
        for (int64_t k = 0; k < count; ++k)
          to[k] = random.real();
        made.data = to;
        break;
      }
      case 's':
      case 'S': {
        made.kind = host::AttributeKind::Strings;
        auto *to = reinterpret_cast<host::String *>(memory.make(uint64_t(count) * 16));
        for (int64_t k = 0; k < count; ++k) {
          const char *word = kWords[random.below(sizeof(kWords) / sizeof(kWords[0]))];
          to[k] = {word, std::strlen(word)};
        }
        made.data = to;
        break;
      }
      default: {
        made.kind = host::AttributeKind::Tensors;
        auto *to =
            reinterpret_cast<host::Value *>(memory.make(uint64_t(count) * sizeof(host::Value)));
        for (int64_t k = 0; k < count; ++k) {
          host::Value *value = tensor(0, uint8_t(1 + random.below(26)));
          if (!value || !value->data)
            return;
          to[k] = *value;
        }
        made.data = to;
      }
      }
      attributes.push_back(made);
    }
  }

  const Row &row;
  Random random;
  int64_t sizes[4], bound[Contract::kMaxSizes];
  uint8_t types[Contract::kMaxOperands] = {};
  kernels::Dims last;
  bool lawful, onlyShapes;

public:
  Blocks memory;
};

/// Reads every element, so that a result in somebody else's memory is found.
uint64_t readAll(const host::Value *value, int depth = 0) {
  uint64_t sum = 0;
  if (!value || value->kind == host::Kind::None || depth > 4)
    return 0;
  if (value->kind != host::Kind::Tensor) {
    for (int64_t i = 0; value->data && i < value->dims[0]; ++i)
      sum += readAll(static_cast<const host::Value *const *>(value->data)[i], depth + 1);
    return sum;
  }
  const int64_t count = kernels::Tensor(value).count();
  if (!value->data)
    return 0;
  if (value->dtype == kernels::Str) {
    for (int64_t i = 0; i < count; ++i) {
      const auto &text = static_cast<const host::String *>(value->data)[i];
      for (uint64_t k = 0; k < text.size; ++k)
        sum += uint8_t(text.data[k]);
    }
    return sum;
  }
  const auto *bytes = static_cast<const uint8_t *>(value->data);
  for (int64_t i = 0, all = kernels::bytesOf(value->dtype, count); i < all; ++i)
    sum += bytes[i];
  return sum;
}

struct Options {
  uint64_t calls = 20000, seed = 1, first = 0;
  unsigned limit = 10; ///< seconds that a call may take
  const Row *only = nullptr;
};

/// What the process that makes the calls and the one that watches it share.
struct Progress {
  uint64_t next; ///< the call that is running
  uint64_t computed, refused;
  uint64_t elements; ///< a checksum
  double longest;
  uint8_t ran[1024]; ///< a row has computed something
};

const Row &rowOf(const Options &options, uint64_t index) {
  const std::vector<Row> &rows = kernels::native::allRows();
  return options.only ? *options.only : rows[index % rows.size()];
}

void makeCall(const Options &options, uint64_t index, Progress &progress) {
  const Row &row = rowOf(options, index);
  Caller caller(row, options.seed * 0x100000001B3u + index);
  FuzzCall call = {};
  std::vector<const host::Value *> inputs;
  std::vector<host::Attribute> attributes;
  caller.fill(inputs, attributes);
  call.host = &kHost;
  call.inputCount = uint32_t(inputs.size());
  call.outputCount = std::min(1 + uint32_t(index % 4), row.maxResults());
  call.wanted = ~0u;
  call.inputs = inputs.data();
  call.attributeCount = uint32_t(attributes.size());
  call.attributes = attributes.data();
  call.made.resize(call.outputCount);
  call.onlyShapes = caller.isForShapes();
  const auto before = std::chrono::steady_clock::now();
  row.kernel(&call);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  progress.longest = std::max(progress.longest, took.count());
  if (!call.error.empty()) {
    ++progress.refused;
    return;
  }
  ++progress.computed;
  progress.ran[&row - kernels::native::allRows().data()] = 1;
  for (const host::Value *value : call.made)
    if (!call.onlyShapes)
      progress.elements += readAll(value);
}

/// Makes the calls in a process of its own, so that a crash is one finding of many.
/// Returns how many calls crashed or took too long; each is named on standard output.
uint64_t makeCalls(const Options &options, Progress &progress) {
  uint64_t findings = 0;
  const uint64_t end = options.first + options.calls;
  progress.next = options.first;
  while (progress.next < end) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      for (; progress.next < end; ++progress.next) {
        alarm(options.limit);
        makeCall(options, progress.next, progress);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (progress.next >= end && WIFEXITED(status) && WEXITSTATUS(status) == 0)
      break;
    const bool slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    std::printf("%s: --kernel %s --seed %llu --first %llu --calls 1\n",
                slow ? "longer than the limit" : "crash", rowOf(options, progress.next).name,
                static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(progress.next));
    ++findings;
    ++progress.next;
  }
  return findings;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const uint64_t number = std::strtoull(argv[i + 1], nullptr, 0);
    if (flag == "--calls")
      options.calls = number;
    else if (flag == "--seed")
      options.seed = number;
    else if (flag == "--first")
      options.first = number;
    else if (flag == "--limit")
      options.limit = unsigned(number);
    else if (flag == "--kernel")
      options.only = kernels::native::find(std::string_view(argv[i + 1]));
    if (flag == "--kernel" && !options.only) {
      std::fprintf(stderr, "there is no kernel '%s'\n", argv[i + 1]);
      return 2;
    }
  }
  const std::vector<Row> &rows = kernels::native::allRows();
  void *shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || rows.size() > sizeof(Progress::ran))
    return 2;
  Progress &progress = *static_cast<Progress *>(shared);
  const uint64_t findings = makeCalls(options, progress);
  // What is never reached behind its contract is not tried: a reader should know.
  for (size_t i = 0; !options.only && options.calls >= 400 * rows.size() && i < rows.size(); ++i)
    if (!progress.ran[i])
      std::printf("never computed anything: %s\n", rows[i].name);
  std::printf(
      "host-kernels: %llu calls of %zu kernels, %llu computed, %llu refused, longest %.2f s, "
      "%llu findings\n",
      static_cast<unsigned long long>(options.calls), options.only ? 1 : rows.size(),
      static_cast<unsigned long long>(progress.computed),
      static_cast<unsigned long long>(progress.refused), progress.longest,
      static_cast<unsigned long long>(findings));
  return findings != 0;
}
