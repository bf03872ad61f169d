//===-- Contract.h - what a kernel requires of its inputs -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels compute addresses from the dims of their inputs. The conditions that such arithmetic
// relies on stand in the kernel's row of Kernels.def, its contract, and are checked before the
// kernel runs by the code that ATC_KERNEL puts around each kernel. So no caller can forget the
// check, neither the runtime nor the compiler, and a model contains the checks of its kernels. The
// required inputs and the element types that an operator allows come from Signatures.def.
//
// A contract has one entry per input, separated by spaces:
//
//   _            a tensor of any dims
//   [n,c,..]     a tensor whose dims are n, c and any others. A letter or word stands
//                for a size: where it stands first it takes the dim's value, from then
//                on dims must be equal to it. `_` is any dim, `4` is 4, `..` any number
//                of dims. `2*h`, `heads*d` are products: a size that is not known yet
//                takes the quotient, which must be whole. `@heads` is the value of the
//                integer attribute `heads`; without the attribute it is a size as any.
//   {n}          a tensor of n elements, whatever its dims; `{1}` holds one element
//   a|b          a or b: the first one that fits is taken
//   seq map opt  a sequence; a map; a tensor, sequence or none. `any`: anything
//   tensors      a sequence of tensors of its element type
//
// An entry may end with
//
//   <n           its elements, integers, are in [0, n)
//   <~n          its elements are in [-n, n)
//   ...          the entry is that of all further inputs, too (sizes keep their values)
//
// Inputs without an entry are tensors of any dims. An input that may be left out, and is,
// meets its entry; those of operators with any number of inputs must all be there.

#ifndef OPENATC_KERNELS_CORE_CONTRACT_H
#define OPENATC_KERNELS_CORE_CONTRACT_H

#include "runtime-lite/abi/HostKernel.h"

namespace atc::kernels {

class Context;

/// A contract as a table. It is built at compile time, where malformed text is an error, and holds
/// no pointers.
struct Contract {
  static constexpr uint32_t kMaxOperands = 20, kMaxForms = 40, kMaxDims = 80, kMaxSizes = 14,
                            kMaxNameLength = 24;
  static constexpr uint8_t kNone = 255;
  static constexpr uint8_t kTensor = 1 << uint8_t(host::Kind::Tensor);

  /// Stands for number * sizes[first] * sizes[second], either of which may be kNone.
  struct Dim {
    int32_t number = 1;
    uint8_t first = kNone, second = kNone;
    bool any = false;
  };
  /// Stands for `[..]` or `{..}`: dims [firstDim, firstDim + dims). `rest` is the number of dims
  /// before `..`; kNone where there is no `..`.
  struct Form {
    bool isCount = false;
    uint8_t firstDim = 0, dims = 0, rest = kNone;
  };
  /// The entry of one input.
  struct Operand {
    uint8_t kinds = kTensor;          ///< a bit per host::Kind
    uint8_t firstForm = 0, forms = 0; ///< without forms, any dims are valid
    bool tensorItems = false;         ///< the items of a sequence are tensors of its type
    bool hasRange = false, fromEnd = false;
    Dim range;
    uint16_t textBegin = 0, textEnd = 0; ///< the entry, for messages
  };
  /// The element types of an input according to Signatures.def: a bit per type, and the type
  /// variable, which has one value for all inputs that share it.
  struct Type {
    uint32_t allowed = ~0u;
    uint8_t variable = kNone;
  };

  Operand operands[kMaxOperands];
  Form forms[kMaxForms];
  Dim dims[kMaxDims];
  Type types[kMaxOperands];
  char names[kMaxSizes][kMaxNameLength] = {}; ///< names of the sizes
  bool isAttribute[kMaxSizes] = {};           ///< the size has the value of the attribute
  uint32_t operandCount = 0, formCount = 0, dimCount = 0, sizeCount = 0, typeCount = 0;
  uint32_t required = 0;  ///< a bit per required input
  uint32_t maxInputs = 0; ///< more than kMaxOperands: any number, none of them omitted
  bool repeats = false;   ///< the last entry holds for all further inputs

  /// Returns the entry of input `i`; null where it has none.
  constexpr const Operand *operandOf(uint64_t i) const {
    if (i < operandCount)
      return &operands[i];
    return repeats ? &operands[operandCount - 1] : nullptr;
  }
};

/// Is neither defined nor constant: where the parser reaches a call of it, the compiler reports an
/// error and shows `why`.
void malformedContract(const char *why);

/// Parses the texts of a row at compile time.
class ContractParser {
public:
  /// Returns the table for `entries`; `types` and `required` are as in Signatures.def.
  static consteval Contract parse(const char *entries, const char *types, uint32_t required,
                                  uint32_t maxInputs) {
    ContractParser parser(entries);
    parser.readEntries();
    parser.readTypes(types);
    parser.result.required = required;
    parser.result.maxInputs = maxInputs;
    return parser.result;
  }

private:
  constexpr explicit ContractParser(const char *text) : text(text) {}

  static constexpr bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }
  constexpr bool take(const char *word) {
    uint32_t i = 0;
    while (word[i] && text[at + i] == word[i])
      ++i;
    if (word[i])
      return false;
    at += i;
    return true;
  }
  constexpr void expect(const char *word) {
    if (!take(word))
      malformedContract("a contract has another character than expected");
  }
  static constexpr void require(bool good) {
    if (!good)
      malformedContract("a contract has more entries, dims or sizes than its table holds");
  }

  constexpr void readEntries() {
    while (text[at]) {
      if (take(" "))
        continue;
      if (result.repeats)
        malformedContract("an entry follows one that stands for all further inputs");
      require(result.operandCount < Contract::kMaxOperands);
      readOperand(result.operands[result.operandCount++]);
    }
  }

  constexpr void readOperand(Contract::Operand &operand) {
    operand.textBegin = uint16_t(at);
    operand.firstForm = uint8_t(result.formCount);
    constexpr uint8_t none = 1 << uint8_t(host::Kind::None), map = 1 << uint8_t(host::Kind::Map),
                      sequence = 1 << uint8_t(host::Kind::Sequence);
    if ((operand.tensorItems = take("tensors")) || take("seq"))
      operand.kinds = sequence;
    else if (take("map"))
      operand.kinds = map;
    else if (take("opt"))
      operand.kinds = none | sequence | Contract::kTensor;
    else if (take("any"))
      operand.kinds = none | sequence | map | Contract::kTensor;
    else if (!take("_"))
      do
        readForm(operand);
      while (take("|"));
    operand.textEnd = uint16_t(at);
    if (take("<")) {
      operand.hasRange = true;
      operand.fromEnd = take("~");
      operand.range = readDim();
    }
    result.repeats = take("...");
    if (text[at] && text[at] != ' ')
      malformedContract("an entry of a contract does not end where it should");
  }

  constexpr void readForm(Contract::Operand &operand) {
    require(result.formCount < Contract::kMaxForms);
    Contract::Form &form = result.forms[result.formCount++];
    ++operand.forms;
    form.isCount = take("{");
    if (!form.isCount)
      expect("[");
    form.firstDim = uint8_t(result.dimCount);
    const char *end = form.isCount ? "}" : "]";
    while (!take(end)) {
      if (take("..")) {
        if (form.rest != Contract::kNone)
          malformedContract("`..` stands twice");
        form.rest = form.dims;
      } else {
        require(result.dimCount < Contract::kMaxDims);
        result.dims[result.dimCount++] = readDim();
        ++form.dims;
      }
      take(",");
    }
    if (form.isCount && (form.dims != 1 || form.rest != Contract::kNone))
      malformedContract("`{}` holds one number");
  }

  constexpr Contract::Dim readDim() {
    Contract::Dim dim;
    if (take("_")) {
      dim.any = true;
      return dim;
    }
    do {
      if (isDigit(text[at])) {
        int32_t number = 0;
        while (isDigit(text[at]))
          number = number * 10 + (text[at++] - '0');
        dim.number *= number;
        continue;
      }
      const bool attribute = take("@");
      const uint8_t size = readSize(attribute);
      if (dim.first == Contract::kNone)
        dim.first = size;
      else if (dim.second == Contract::kNone)
        dim.second = size;
      else
        malformedContract("a product has more than two sizes");
    } while (take("*"));
    return dim;
  }

  constexpr uint8_t readSize(bool attribute) {
    char name[Contract::kMaxNameLength] = {};
    uint32_t length = 0;
    while (isLetter(text[at]) || (length && isDigit(text[at]))) {
      require(length + 1 < Contract::kMaxNameLength);
      name[length++] = text[at++];
    }
    if (!length)
      malformedContract("a size has no name");
    for (uint32_t i = 0; i < result.sizeCount; ++i)
      if (same(name, result.names[i]))
        return uint8_t(i);
    require(result.sizeCount < Contract::kMaxSizes);
    for (uint32_t i = 0; i < Contract::kMaxNameLength; ++i)
      result.names[result.sizeCount][i] = name[i];
    result.isAttribute[result.sizeCount] = attribute;
    return uint8_t(result.sizeCount++);
  }
  static constexpr bool same(const char *a, const char *b) {
    for (; *a && *a == *b; ++a, ++b) {
    }
    return *a == *b;
  }

  /// Parses the type list, such as `A=1,10,11 A *`.
  constexpr void readTypes(const char *types) {
    uint32_t allowed['Z' - 'A' + 1] = {};
    for (const char *p = types; *p;) {
      if (*p == ' ') {
        ++p;
        continue;
      }
      require(result.typeCount < Contract::kMaxOperands);
      Contract::Type &type = result.types[result.typeCount++];
      if (*p == '*') {
        ++p;
        continue;
      }
      type.variable = uint8_t(*p++ - 'A');
      require(type.variable < Contract::kMaxOperands);
      if (*p == '=')
        do {
          uint32_t number = 0;
          for (++p; isDigit(*p); ++p)
            number = number * 10 + uint32_t(*p - '0');
          allowed[type.variable] |= 1u << number;
        } while (*p == ',');
      type.allowed = allowed[type.variable];
    }
  }

  const char *text;
  uint32_t at = 0;
  Contract result;
};

/// Returns whether the inputs of the call meet the contract. Otherwise fails the call with a
/// sentence that names the input, what it is and what `entries` (the text of `contract`) expects.
/// Ranges are not checked for inputs whose elements are not known, as when shapes are inferred.
/// Takes tens of nanoseconds, and time in proportion to the elements of inputs with a range.
bool meetsContract(Context &context, const Contract &contract,
                   const char *entries) asm("atc_call_meets_contract");

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_CONTRACT_H
