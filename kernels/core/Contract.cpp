//===-- Contract.cpp - checks the inputs of kernels -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Contract.h"

#include "kernels/core/Support.h"

namespace atc::kernels {

namespace {

/// Builds a sentence for `Context::fail`, which replaces '%' by values: there are none here.
class Sentence {
public:
  Sentence &add(const char *words) {
    while (*words && used + 1 < sizeof(text))
      text[used++] = *words++;
    return *this;
  }
  Sentence &add(const char *words, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end && used + 1 < sizeof(text); ++i)
      text[used++] = words[i];
    return *this;
  }
  Sentence &add(int64_t number) {
    char digits[20];
    uint32_t count = 0;
    uint64_t rest = number < 0 ? 0 - uint64_t(number) : uint64_t(number);
    do
      digits[count++] = char('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
      add("-");
    while (count && used + 1 < sizeof(text))
      text[used++] = digits[--count];
    return *this;
  }
  Sentence &add(const Dims &dims) {
    add("[");
    for (uint32_t i = 0; i < dims.rank; ++i)
      add(i ? ", " : "").add(dims[i]);
    return add("]");
  }
  const char *c_str() {
    text[used] = 0;
    return text;
  }

private:
  char text[480];
  uint32_t used = 0;
};

// Names are arrays of characters: a table of pointers would need relocations, which the code image
// of a model does not have.
constexpr char kindNames[][12] = {"none", "a tensor", "a sequence", "a map"};
constexpr char typeNames[][16] = {
#define OPENATC_ELEMENT_TYPE(OM, KERNEL, BITS, NAME, LONG, NUMPY) LONG,
#include "runtime-lite/abi/ElementTypes.def"
};
constexpr uint32_t kKinds = sizeof(kindNames) / sizeof(kindNames[0]);
constexpr uint32_t kTypes = sizeof(typeNames) / sizeof(typeNames[0]);

const char *nameOf(Kind kind) {
  return uint8_t(kind) < kKinds ? kindNames[uint8_t(kind)] : "a value of unknown kind";
}
const char *nameOf(uint8_t dtype) { return typeNames[dtype < kTypes ? dtype : 0]; }

/// Values of the sizes of a contract; -1 is not known yet.
struct Sizes {
  int64_t at[Contract::kMaxSizes];
};

class Checker {
public:
  Checker(Context &c, const Contract &contract, const char *entries)
      : c(c), contract(contract), entries(entries) {
    for (uint32_t i = 0; i < Contract::kMaxSizes; ++i)
      sizes.at[i] = -1;
  }

  bool run() {
    if (c.inputs() > contract.maxInputs) {
      Sentence words;
      words.add("has ").add(c.inputs()).add(" inputs, expected at most ").add(contract.maxInputs);
      return refuse(words);
    }
    if (!readAttributes())
      return false;
    const uint32_t count = maximum(c.inputs(), 32 - uint32_t(__builtin_clz(contract.required | 1)));
    for (uint32_t i = 0; i < count; ++i)
      if (!presentAndTyped(i))
        return false;
    for (uint32_t i = 0; i < c.inputs(); ++i)
      if (const Contract::Operand *operand = contract.operandOf(i))
        if (c.in(i).kind() == Kind::Tensor && operand->forms && !hasForm(i, *operand))
          return false;
    // A size may be bound by an input behind the one with the range.
    for (uint32_t i = 0; i < c.inputs(); ++i)
      if (const Contract::Operand *operand = contract.operandOf(i))
        if (c.in(i).kind() == Kind::Tensor && operand->hasRange && !inRange(i, *operand))
          return false;
    return true;
  }

private:
  bool refuse(Sentence &words) {
    c.fail(words.c_str());
    return false;
  }
  bool readAttributes() {
    for (uint32_t i = 0; i < contract.sizeCount; ++i) {
      const char *name = contract.names[i];
      if (!contract.isAttribute[i] || !c.has(name))
        continue;
      sizes.at[i] = c.integer(name, 0);
      if (sizes.at[i] > 0)
        continue;
      Sentence words;
      words.add("has an attribute '").add(name).add("' of ").add(sizes.at[i]);
      words.add(", expected a positive number");
      return refuse(words);
    }
    return true;
  }

  /// Checks that the input is there, and its kind and element type.
  bool presentAndTyped(uint32_t i) {
    const Tensor input = c.in(i);
    const Contract::Operand *operand = contract.operandOf(i);
    const uint8_t kinds = operand ? operand->kinds : Contract::kTensor;
    const bool mayBeNone = kinds & (1 << uint8_t(Kind::None));
    if (!input) {
      const bool needed =
          contract.maxInputs > Contract::kMaxOperands || (i < 32 && contract.required >> i & 1);
      if (!needed || (input.get() && mayBeNone))
        return true;
      Sentence words;
      words.add("has no input ").add(i);
      return refuse(words);
    }
    if (!(kinds >> uint8_t(input.kind()) & 1)) {
      Sentence words;
      words.add("has ").add(nameOf(input.kind())).add(" as input ").add(i).add(", expected ");
      for (uint32_t kind = 0, named = 0; kind < kKinds; ++kind)
        if (kinds >> kind & 1)
          words.add(named++ ? " or " : "").add(nameOf(Kind(kind)));
      return refuse(words);
    }
    if (input.kind() != Kind::Tensor)
      return hasItems(i, operand->tensorItems);
    if (!contract.typeCount)
      return true;
    const Contract::Type &type = contract.types[minimum(i, contract.typeCount - 1)];
    if (input.dtype() >= kTypes || !(type.allowed >> input.dtype() & 1)) {
      Sentence words;
      words.add("has element type ").add(nameOf(input.dtype())).add(" in input ").add(i);
      words.add(", which it does not allow");
      return refuse(words);
    }
    if (type.variable == Contract::kNone)
      return true;
    uint8_t &bound = bounds[type.variable];
    if (bound && bound != input.dtype()) {
      Sentence words;
      words.add("has element type ").add(nameOf(input.dtype())).add(" in input ").add(i);
      words.add(", expected ").add(nameOf(bound)).add(" as in an input before it");
      return refuse(words);
    }
    bound = input.dtype();
    return true;
  }

  /// Checks the items of a map, which are two lists of one length, and with `tensors`
  /// those of a sequence.
  bool hasItems(uint32_t i, bool tensors) {
    const Tensor list = c.in(i);
    if (!list.known())
      return true;
    bool good = true;
    if (list.kind() == Kind::Map)
      good = list.size() == 2 && list.item(0).kind() == Kind::Tensor &&
             list.item(1).kind() == Kind::Tensor && list.item(0).count() == list.item(1).count();
    for (int64_t k = 0; good && tensors && k < list.size(); ++k)
      good = list.item(k).kind() == Kind::Tensor && list.item(k).dtype() == list.dtype();
    if (good)
      return true;
    Sentence words;
    words.add("has ").add(nameOf(list.kind())).add(" as input ").add(i);
    words.add(list.kind() == Kind::Map ? ", expected as many keys as values in it"
                                       : ", expected tensors of one element type in it");
    return refuse(words);
  }

  /// Binds the sizes of the first form that fits.
  bool hasForm(uint32_t i, const Contract::Operand &operand) {
    const Tensor input = c.in(i);
    for (uint32_t f = 0; f < operand.forms; ++f) {
      Sizes tried = sizes;
      if (fits(contract.forms[operand.firstForm + f], input, tried)) {
        sizes = tried;
        return true;
      }
    }
    Sentence words;
    words.add("has dims ").add(input.dims()).add(" in input ").add(i).add(", expected ");
    words.add(entries, operand.textBegin, operand.textEnd);
    bool named = false;
    for (uint32_t f = 0; f < operand.forms; ++f)
      for (uint32_t d = 0; d < contract.forms[operand.firstForm + f].dims; ++d) {
        const Contract::Dim &dim =
            contract.dims[contract.forms[operand.firstForm + f].firstDim + d];
        const uint8_t both[] = {dim.first, dim.second};
        for (uint8_t size : both)
          if (size != Contract::kNone && sizes.at[size] >= 0) {
            words.add(named ? ", " : " where ").add(contract.names[size]).add(" is ");
            words.add(sizes.at[size]);
            named = true;
          }
      }
    return refuse(words);
  }

  bool fits(const Contract::Form &form, Tensor input, Sizes &tried) const {
    const Contract::Dim *dims = contract.dims + form.firstDim;
    if (form.isCount)
      return fits(dims[0], input.count(), tried);
    const uint32_t rank = input.rank();
    const bool open = form.rest != Contract::kNone;
    if (open ? rank < form.dims : rank != form.dims)
      return false;
    for (uint32_t d = 0; d < form.dims; ++d)
      if (!fits(dims[d], input.dim(open && d >= form.rest ? rank - form.dims + d : d), tried))
        return false;
    return true;
  }

  static bool fits(const Contract::Dim &dim, int64_t size, Sizes &tried) {
    if (dim.any)
      return true;
    int64_t known = dim.number;
    uint8_t unknown = Contract::kNone;
    const uint8_t both[] = {dim.first, dim.second};
    for (uint8_t name : both) {
      if (name == Contract::kNone)
        continue;
      if (tried.at[name] < 0) {
        // With two unknown sizes only their product is known, which determines neither.
        if (unknown != Contract::kNone)
          return true;
        unknown = name;
      } else if (__builtin_mul_overflow(known, tried.at[name], &known)) {
        return false;
      }
    }
    if (unknown == Contract::kNone)
      return known == size;
    if (!known || size % known)
      return !known && !size;
    tried.at[unknown] = size / known;
    return true;
  }

  bool inRange(uint32_t i, const Contract::Operand &operand) {
    const Tensor input = c.in(i);
    const uint8_t both[] = {operand.range.first, operand.range.second};
    int64_t limit = operand.range.number;
    for (uint8_t name : both)
      if (name != Contract::kNone &&
          (sizes.at[name] < 0 || __builtin_mul_overflow(limit, sizes.at[name], &limit)))
        return true;
    if (!input.known())
      return true;
    const int64_t lowest = operand.fromEnd ? -limit : 0;
    for (int64_t at = 0, count = input.count(); at < count; ++at) {
      const int64_t index = integerAt(input, at);
      if (index >= lowest && index < limit)
        continue;
      Sentence words;
      words.add("has ").add(index).add(" in input ").add(i).add(", expected numbers from ");
      words.add(lowest).add(" to ").add(limit - 1);
      return refuse(words);
    }
    return true;
  }

  Context &c;
  const Contract &contract;
  const char *entries;
  Sizes sizes;
  uint8_t bounds[Contract::kMaxOperands] = {}; ///< element types of the type variables
};

} // namespace

bool meetsContract(Context &c, const Contract &contract, const char *entries) {
  return Checker(c, contract, entries).run();
}

} // namespace atc::kernels
