//===-- HostileCalls.cpp - the inputs and attributes of hostile calls -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/host/HostileCalls.h"

#include "test/fuzz/host/HostileRecipes.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

namespace atc::fuzz {

using kernels::Contract;
using kernels::native::Row;

namespace {

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

/// Splits a text at its spaces.
std::vector<std::string> wordsOf(const char *text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

/// Returns the attributes that a kernel reads as "i:name" or, where a call needs it, "i!name". A
/// letter says the type, a capital one a list. What the operator's signature does not list is an
/// integer that the compiler provides.
const std::vector<std::string> &attributesOf(const std::string &kernel) {
  static const std::map<std::string, std::vector<std::string>> all = [] {
    std::map<std::string, std::vector<std::string>> made;
    for (const auto &[name, signature] : signatures())
      made[name] = wordsOf(signature.attributes);
    auto add = [&](const char *name, const char *attributes) {
      std::vector<std::string> &known = made[name];
      for (const std::string &attribute : wordsOf(attributes))
        if (std::none_of(known.begin(), known.end(),
                         [&](const std::string &entry) { return entry.substr(2) == attribute; }))
          known.push_back("i!" + attribute);
    };
#define KERNEL(Name, Attributes, Results, Inputs) add(#Name, Attributes);
#include "kernels/Kernels.def"
    // What the compiler packs attributes with has those attributes, and who reads what was packed
    // may be given anything (host-pack-attributes).
    made["PackTrees"] = made["TreeEnsemble"];
    made["PackVectors"] = wordsOf("F!support_vectors i:n_supports I:vectors_per_class");
    auto addPacked = [&](const char *name, const char *attributes) {
      for (const std::string &attribute : wordsOf(attributes))
        made[name].push_back(attribute);
    };
    for (const char *name : {"TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor"})
      addPacked(name, "t:packed_nodes t:packed_votes t:packed_roots t:packed_members "
                      "t:packed_facts");
    for (const char *name : {"SVMClassifier", "SVMRegressor"})
      addPacked(name, "t:packed_vectors");
    for (const char *name : {"ConvInteger", "QLinearConv", "MatMulInteger", "QLinearMatMul",
                             "DynamicQuantizeMatMul", "MatMulIntegerToFloat", "QGemm"})
      addPacked(name, "I:packed");
    return made;
  }();
  return all.at(kernel);
}

/// Values of attributes that are one of a few words. Most kernels compute only with these.
const std::map<std::string, std::vector<std::string>> &wordsOfAttributes() {
  static const std::map<std::string, std::vector<std::string>> all = [] {
    std::map<std::string, std::vector<std::string>> made;
    for (auto [name, words] : {
             std::pair("activation", "Relu Tanh Sigmoid Clip LeakyRelu HardSigmoid"),
             std::pair("activations", "Relu Tanh Sigmoid"),
             std::pair("auto_pad", "NOTSET SAME_UPPER SAME_LOWER VALID"),
             std::pair("direction", "forward reverse bidirectional LEFT RIGHT"),
             std::pair("kernel_type", "LINEAR POLY RBF SIGMOID"),
             std::pair("post_transform", "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT"),
             std::pair("reduction", "none mean sum add mul min max"),
             std::pair("update_rule", "linear gated delta gated_delta"),
         })
      made[name] = wordsOf(words);
    return made;
  }();
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

/// Makes the inputs and attributes of one call.
class Caller {
public:
  Caller(const Row &row, uint64_t seed, HostileCall &call)
      : row(row), random(seed), call(call), memory(call.memory), onlyShapes(call.onlyShapes) {
    for (int64_t &size : sizes)
      size = random.chance(10) ? random.below(40) : random.below(6);
    for (int64_t &size : bound)
      size = random.chance(90) ? 1 + random.below(5) : random.below(9);
    // Multiples, as columns are of heads and groups.
    for (int64_t &size : bound)
      if (random.chance(15))
        size *= 4 * (1 + 2 * random.below(2));
    // Where a tensor has no elements its other dims may be of any size.
    if (random.chance(1)) {
      auto extreme = [&] { return random.chance(40) ? 0 : int64_t(1) << (10 + random.below(20)); };
      std::generate(std::begin(sizes), std::end(sizes), extreme);
      std::generate(std::begin(bound), std::end(bound), extreme);
    }
    // Channels, heads and groups often fit each other where all sizes are equal.
    if (random.chance(30)) {
      static constexpr int64_t usual[] = {1, 2, 4, 8};
      const int64_t size = random.chance(60) ? usual[random.below(4)] : 1 + random.below(12);
      std::fill(std::begin(sizes), std::end(sizes), size);
      for (int64_t &bounded : bound)
        bounded = random.chance(70) ? size : 1;
    }
    rest = random.below(4);
    lawful = random.chance(70);
    onlyShapes = random.chance(5);
    if (lawful && random.chance(60))
      recipe = hostileRecipeFor(row.name, [&](int64_t n) { return random.below(n); });
  }

  void fill() {
    std::vector<const host::Value *> &inputs = call.inputs;
    const Contract &contract = *row.contract;
    uint32_t needed = 0;
    while (needed < 32 && contract.required >> needed)
      ++needed;
    const uint32_t usual = std::min<uint32_t>(contract.maxInputs, std::max(needed, 1u) + 3);
    uint32_t count = needed + uint32_t(random.below(int64_t(usual - needed) + 1));
    if (random.chance(2))
      count = uint32_t(random.below(9));
    count = std::max(count, uint32_t(recipe.dims.size()));
    for (uint32_t i = 0; i < count; ++i) {
      const bool required = i < 32 && contract.required >> i & 1;
      const bool isLeftOut =
          std::find(recipe.absent.begin(), recipe.absent.end(), i) != recipe.absent.end();
      const int absent = isLeftOut ? 98 : required ? 1 : i < recipe.dims.size() ? 4 : 20;
      inputs.push_back(random.chance(absent) ? nullptr : input(i));
    }
    fillAttributes(inputs, call.attributes);
  }

private:
  uint8_t dtypeFor(uint32_t i) {
    const Contract &contract = *row.contract;
    if (i < recipe.dtypes.size() && !random.chance(2))
      return recipe.dtypes[i];
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
    if (i < recipe.dims.size() && !random.chance(2))
      return recipe.dims[i];
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
          for (int64_t more = random.chance(70) ? rest : random.below(4); more > 0; --more)
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

  /// Draws the first elements of a tensor; those behind them are copies, for what takes time shall
  /// be the calls.
  void fillElements(host::Value &tensor, int64_t limit) {
    constexpr int64_t kMaxDrawn = 1 << 10;
    const int64_t all = kernels::Tensor(&tensor).count(), drawn = std::min(all, kMaxDrawn);
    drawElements(tensor, drawn, limit);
    auto *data = static_cast<char *>(tensor.data);
    const int64_t done = kernels::bytesOf(tensor.dtype, drawn);
    const int64_t bytes = kernels::bytesOf(tensor.dtype, all);
    for (int64_t at = done; at < bytes; at += done)
      std::memcpy(data + at, data, size_t(std::min(done, bytes - at)));
  }

  void drawElements(host::Value &tensor, int64_t count, int64_t limit) {
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
    const auto known = recipe.elements.find(i);
    if (known != recipe.elements.end() && value->dtype == kernels::I32 &&
        dims.product() == int64_t(known->second.size()) && !random.chance(5))
      std::copy(known->second.begin(), known->second.end(), static_cast<int32_t *>(value->data));
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

  /// Returns a value of the attribute `name`. The text lives as long as the program.
  const char *wordFor(const char *name) {
    const auto known = wordsOfAttributes().find(name);
    if (known == wordsOfAttributes().end() || random.chance(10))
      return kWords[random.below(sizeof(kWords) / sizeof(kWords[0]))];
    return known->second[size_t(random.below(int64_t(known->second.size())))].c_str();
  }

  void fillAttributes(const std::vector<const host::Value *> &inputs,
                      std::vector<host::Attribute> &attributes) {
    const bool list = random.chance(70);
    for (const std::string &entry : attributesOf(row.name)) {
      const auto known = recipe.integers.find(entry.substr(2));
      const auto word = recipe.words.find(entry.substr(2));
      if (entry[1] != '!' && known == recipe.integers.end() && word == recipe.words.end() &&
          random.chance(40))
        continue;
      // Most calls reach the code behind it.
      if (entry.substr(2, 6) == "packed" && known == recipe.integers.end() && random.chance(80))
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
      if (known != recipe.integers.end())
        count = int64_t(known->second.size());
      made.count = uint64_t(count);
      switch (type) {
      case 'i':
      case 'I': {
        made.kind = host::AttributeKind::Ints;
        auto *to = reinterpret_cast<int64_t *>(memory.make(uint64_t(count) * 8));
        for (int64_t k = 0; k < count; ++k)
          to[k] = lawful && random.chance(90)
                      ? (random.chance(40) ? 1 << random.below(3) : bound[random.below(4)])
                      : random.number();
        if (entry == "i!to")
          to[0] = random.below(27); // an element type
        // Sizes that the contract knows by this name.
        for (uint32_t s = 0; lawful && type == 'i' && s < row.contract->sizeCount; ++s)
          if (row.contract->isAttribute[s] && !std::strcmp(row.contract->names[s], name))
            to[0] = bound[s];
        if (known != recipe.integers.end())
          std::copy(known->second.begin(), known->second.end(), to);
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
          const char *text = word != recipe.words.end() ? word->second : wordFor(name);
          to[k] = {text, std::strlen(text)};
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
  int64_t rest; ///< the usual number of dims for `..`
  bool lawful;  ///< the call is made to meet the contract
  HostileRecipe recipe;
  HostileCall &call;
  Blocks &memory;
  bool &onlyShapes;
};

} // namespace

void fillHostileCall(const Row &row, uint64_t seed, HostileCall &call) {
  Caller(row, seed, call).fill();
}

} // namespace atc::fuzz
