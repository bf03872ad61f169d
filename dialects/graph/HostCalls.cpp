//===-- HostCalls.cpp - host kernels on types and constants --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/HostCalls.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/FoldLimits.h"
#include "dialects/graph/HostContracts.h"
#include "dialects/graph/interpreter/ComputeHostCall.h"
#include "kernels/core/Support.h"
#include "kernels/native/NativeHost.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::graph {

using kernels::DType;
using kernels::native::Values;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

uint8_t dtypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return DType::Bool;
    case 2:
      return isUnsigned ? DType::U2 : DType::I2;
    case 4:
      return isUnsigned ? DType::U4 : DType::I4;
    case 8:
      return isUnsigned ? DType::U8 : DType::I8;
    case 16:
      return isUnsigned ? DType::U16 : DType::I16;
    case 32:
      return isUnsigned ? DType::U32 : DType::I32;
    case 64:
      return isUnsigned ? DType::U64 : DType::I64;
    default:
      return DType::Undefined;
    }
  }
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF64() ? DType::C128 : DType::C64;
  return llvm::TypeSwitch<Type, uint8_t>(type)
      .Case([](Float32Type) { return DType::F32; })
      .Case([](Float64Type) { return DType::F64; })
      .Case([](Float16Type) { return DType::F16; })
      .Case([](BFloat16Type) { return DType::BF16; })
      .Case([](Float8E4M3FNType) { return DType::F8E4M3FN; })
      .Case([](Float8E4M3FNUZType) { return DType::F8E4M3FNUZ; })
      .Case([](Float8E5M2Type) { return DType::F8E5M2; })
      .Case([](Float8E5M2FNUZType) { return DType::F8E5M2FNUZ; })
      .Case([](Float8E8M0FNUType) { return DType::F8E8M0; })
      .Case([](Float4E2M1FNType) { return DType::F4E2M1; })
      .Case([](StringType) { return DType::Str; })
      .Default([](Type) { return DType::Undefined; });
}

Type elementTypeOf(uint8_t dtype, MLIRContext *context) {
  auto integer = [&](unsigned width) { return IntegerType::get(context, width); };
  auto natural = [&](unsigned width) {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (dtype) {
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::I2:
    return integer(2);
  case DType::I4:
    return integer(4);
  case DType::I8:
    return integer(8);
  case DType::I16:
    return integer(16);
  case DType::I32:
    return integer(32);
  case DType::I64:
    return integer(64);
  case DType::U2:
    return natural(2);
  case DType::U4:
    return natural(4);
  case DType::U8:
    return natural(8);
  case DType::U16:
    return natural(16);
  case DType::U32:
    return natural(32);
  case DType::U64:
    return natural(64);
  case DType::Bool:
    return integer(1);
  case DType::C64:
    return ComplexType::get(Float32Type::get(context));
  case DType::C128:
    return ComplexType::get(Float64Type::get(context));
  case DType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DType::F8E8M0:
    return Float8E8M0FNUType::get(context);
  case DType::F4E2M1:
    return Float4E2M1FNType::get(context);
  case DType::Str:
    return StringType::get(context);
  default:
    return {};
  }
}

bool isPlainTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  Type element = tensor.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() == 1 || integer.getWidth() >= 8;
  return isa<Float32Type, Float64Type, Float16Type, BFloat16Type, mlir::quant::QuantizedType>(
      element);
}

static Type itemOf(Type type) {
  if (auto sequence = dyn_cast<SequenceType>(type))
    return sequence.getItem();
  if (auto optional = dyn_cast<OptionalType>(type))
    return optional.getItem();
  return type;
}

Type joinTypes(Type a, Type b) {
  if (a == b)
    return a;
  auto left = dyn_cast<TensorType>(a), right = dyn_cast<TensorType>(b);
  if (left && right && left.getElementType() == right.getElementType()) {
    if (!left.hasRank() || !right.hasRank() || left.getRank() != right.getRank())
      return UnrankedTensorType::get(left.getElementType());
    SmallVector<int64_t> shape(left.getShape());
    for (auto [dim, other] : llvm::zip_equal(shape, right.getShape()))
      if (dim != other)
        dim = ShapedType::kDynamic;
    return RankedTensorType::get(shape, left.getElementType());
  }
  const bool sequences = isa<SequenceType>(a) && isa<SequenceType>(b);
  // A branch may yield a value and the other one an optional.
  const bool optional = isa<OptionalType>(a) || isa<OptionalType>(b);
  if (!sequences && !optional)
    return {};
  auto inner = [&](Type type) {
    return sequences || isa<OptionalType>(type) ? itemOf(type) : type;
  };
  Type item = joinTypes(inner(a), inner(b));
  if (!item)
    return {};
  return sequences ? Type(SequenceType::get(a.getContext(), item))
                   : Type(OptionalType::get(a.getContext(), item));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {

/// A value with these elements, a byte or more each, which it packs where a kernel expects that;
/// null where there is no memory. `type` has a fixed shape and elements that are numbers.
host::Value *packElements(RankedTensorType type, ArrayRef<char> elements, Values &values) {
  const uint8_t dtype = dtypeOf(type.getElementType());
  host::Value *value = values.tensor(dtype, type.getRank(), type.getShape().data());
  if (!value)
    return nullptr;
  char *to = static_cast<char *>(value->data);
  const int64_t bits = kernels::bitsOf(dtype);
  if (bits >= 8) {
    llvm::copy(elements, to);
    return value;
  }
  const int64_t perByte = 8 / bits;
  for (auto [i, byte] : llvm::enumerate(elements))
    to[i / perByte] |= (byte & ((1 << bits) - 1)) << (i % perByte * bits);
  return value;
}

/// Returns the elements of a tensor of numbers, each in a byte or more of its own.
std::vector<char> unpackElements(const host::Value &value) {
  int64_t count = 1;
  for (int64_t dim : ArrayRef(value.dims, value.rank))
    count *= dim;
  const int64_t bits = kernels::bitsOf(value.dtype), perByte = std::max<int64_t>(1, 8 / bits);
  const bool isSigned = value.dtype == DType::I4 || value.dtype == DType::I2;
  auto *from = static_cast<const char *>(value.data);
  if (bits >= 8)
    return std::vector<char>(from, from + count * (bits / 8));
  std::vector<char> elements(count);
  for (int64_t i = 0; i < count; ++i) {
    elements[i] = from[i / perByte] >> (i % perByte * bits) & ((1 << bits) - 1);
    if (isSigned)
      elements[i] = static_cast<char>(llvm::SignExtend32(elements[i], bits));
  }
  return elements;
}

/// The value of a constant as kernels see it; null where it has none.
host::Value *valueOf(ElementsAttr attr, Values &values) {
  auto type = dyn_cast<RankedTensorType>(attr.getType());
  if (!type || type.getRank() > int64_t(host::kMaxRank))
    return nullptr;
  if (auto strings = dyn_cast<DenseStringElementsAttr>(attr)) {
    host::Value *value = values.tensor(DType::Str, type.getRank(), type.getShape().data());
    if (!value)
      return nullptr;
    auto *to = static_cast<host::String *>(value->data);
    for (StringRef text : strings.getRawStringData()) {
      char *copy = static_cast<char *>(values.bytes(text.size()));
      llvm::copy(text, copy);
      *to++ = {copy, text.size()};
    }
    // A splat has one string for all elements.
    if (strings.isSplat() && type.getNumElements() > 0)
      for (int64_t i = 1; i < type.getNumElements(); ++i)
        static_cast<host::String *>(value->data)[i] = static_cast<host::String *>(value->data)[0];
    return value;
  }
  auto bytes = ConstantBytes::get(attr);
  return succeeded(bytes) ? packElements(type, bytes->expanded(), values) : nullptr;
}

/// Attributes of the op as kernels see them.
class Parameters {
public:
  Parameters(DictionaryAttr dictionary, Values &values) {
    for (NamedAttribute named : dictionary)
      add(named.getName().getValue(), named.getValue(), values);
  }
  std::vector<host::Attribute> all;

private:
  void add(StringRef name, Attribute attribute, Values &values) {
    host::Attribute result = {};
    result.name = copyText(name, values).data;
    SmallVector<Attribute> items{attribute};
    if (auto list = dyn_cast<ArrayAttr>(attribute))
      items.assign(list.begin(), list.end());
    if (auto ints = dyn_cast<DenseI64ArrayAttr>(attribute)) {
      result.kind = host::AttributeKind::Ints;
      result.count = ints.size();
      result.data = copy(ints.asArrayRef(), values);
    } else if (auto floats = dyn_cast<DenseF64ArrayAttr>(attribute)) {
      result.kind = host::AttributeKind::Floats;
      result.count = floats.size();
      result.data = copy(floats.asArrayRef(), values);
    } else if (items.empty() || isa<StringAttr>(items.front())) {
      SmallVector<host::String> texts;
      for (Attribute item : items)
        texts.push_back(copyText(cast<StringAttr>(item).getValue(), values));
      result.kind = host::AttributeKind::Strings;
      result.count = texts.size();
      result.data = copy(ArrayRef(texts), values);
    } else if (isa<ElementsAttr>(items.front())) {
      SmallVector<host::Value> tensors;
      for (Attribute item : items)
        if (host::Value *value = valueOf(cast<ElementsAttr>(item), values))
          tensors.push_back(*value);
      result.kind = host::AttributeKind::Tensors;
      result.count = tensors.size();
      result.data = copy(ArrayRef(tensors), values);
    } else {
      return;
    }
    all.push_back(result);
  }
  static host::String copyText(StringRef text, Values &values) {
    char *to = static_cast<char *>(values.bytes(text.size() + 1));
    llvm::copy(text, to);
    return {to, text.size()};
  }
  template <typename T> static T *copy(ArrayRef<T> items, Values &values) {
    T *to = static_cast<T *>(values.bytes(items.size() * sizeof(T)));
    llvm::copy(items, to);
    return to;
  }
};

/// The inputs as values: constants whole, the others only as shapes.
bool collectInputs(const HostCall &call, Values &values, bool constantsOnly, int64_t max,
                   std::vector<const host::Value *> &inputs) {
  for (Value operand : call.inputs) {
    if (!operand) {
      inputs.push_back(nullptr);
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    ElementsAttr constant;
    if (!type || !type.hasStaticShape() || type.getRank() > int64_t(host::kMaxRank))
      return false;
    host::Value *value = nullptr;
    if (matchPattern(operand, m_Constant(&constant)) && type.getNumElements() <= max)
      value = valueOf(constant, values);
    if (!value && constantsOnly)
      return false;
    if (!value)
      value = values.tensor(dtypeOf(type.getElementType()), type.getRank(), type.getShape().data(),
                            /*withData=*/false);
    if (!value)
      return false;
    inputs.push_back(value);
  }
  return true;
}

/// Results past the bits of `wanted` always are.
bool isWanted(const HostCall &call, unsigned result) {
  return result >= 32 || (call.wanted >> result & 1);
}

/// Returns the type that a rule of Kernels.def yields; null where it does not apply.
Type typeByRule(StringRef rule, const HostCall &call, MLIRContext *context) {
  auto nested = [&](StringRef name) -> Type {
    StringRef inner = rule.drop_front(name.size() + 1).drop_back();
    return typeByRule(inner, call, context);
  };
  if (rule.starts_with("seq(")) {
    Type item = nested("seq");
    return item ? SequenceType::get(context, item) : Type();
  }
  if (rule.starts_with("opt(")) {
    Type item = nested("opt");
    return item && !isa<OptionalType>(item) ? OptionalType::get(context, item) : Type();
  }
  if (rule.starts_with("item(")) {
    Type list = nested("item");
    return list ? itemOf(list) : Type();
  }
  if (rule.starts_with("label(")) {
    auto keys = dyn_cast_or_null<TensorType>(nested("label"));
    Type number = IntegerType::get(context, 64), text = StringType::get(context);
    const bool hasText = keys && isa<StringType>(keys.getElementType());
    return keys ? UnrankedTensorType::get(hasText ? number : text) : Type();
  }
  if (rule.starts_with("value(")) {
    Type type = nested("value");
    auto optional = dyn_cast_or_null<OptionalType>(type);
    return optional ? optional.getItem() : type;
  }
  if (rule.starts_with("map("))
    return MapType::get(context, IntegerType::get(context, 64), Float32Type::get(context));
  // The first alternative that applies.
  while (rule.contains('|')) {
    auto [first, others] = rule.split('|');
    if (Type type = typeByRule(first, call, context))
      return type;
    rule = others;
  }
  if (rule.consume_front("@")) {
    StringRef name = rule;
    if (auto number = dyn_cast_or_null<DenseI64ArrayAttr>(call.parameters.get(name));
        number && number.size() == 1 && llvm::isUInt<8>(number[0]))
      if (Type element = elementTypeOf(number[0], context))
        return UnrankedTensorType::get(element);
    Attribute given = call.parameters.get(name);
    if (auto list = dyn_cast_or_null<ArrayAttr>(given); list && !list.empty())
      given = list[0];
    if (auto tensor = dyn_cast_or_null<ElementsAttr>(given))
      return UnrankedTensorType::get(tensor.getElementType());
    if (isa_and_nonnull<StringAttr>(given))
      return UnrankedTensorType::get(StringType::get(context));
    if (isa_and_nonnull<DenseF64ArrayAttr>(given))
      return UnrankedTensorType::get(Float32Type::get(context));
    return {};
  }
  unsigned index;
  if (!rule.getAsInteger(10, index)) {
    if (index >= call.inputs.size() || !call.inputs[index])
      return {};
    Type type = call.inputs[index].getType();
    if (auto tensor = dyn_cast<TensorType>(type))
      return UnrankedTensorType::get(tensor.getElementType());
    return type;
  }
  static constexpr std::pair<StringLiteral, DType> names[] = {
      {"f32", DType::F32},   {"f64", DType::F64}, {"f16", DType::F16}, {"bf16", DType::BF16},
      {"i8", DType::I8},     {"i16", DType::I16}, {"i32", DType::I32}, {"i64", DType::I64},
      {"u8", DType::U8},     {"u16", DType::U16}, {"u32", DType::U32}, {"u64", DType::U64},
      {"bool", DType::Bool}, {"str", DType::Str}};
  for (auto &[name, dtype] : names)
    if (rule == name)
      return UnrankedTensorType::get(elementTypeOf(dtype, context));
  return {};
}

/// By the rules of Kernels.def alone.
FailureOr<SmallVector<Type>> typesByRules(const HostCall &call, const kernels::native::Row &row,
                                          MLIRContext *context, std::string &error) {
  SmallVector<StringRef> rules;
  StringRef(row.results).split(rules, ' ', -1, /*KeepEmpty=*/false);
  SmallVector<Type> types;
  for (unsigned i = 0; i < call.results; ++i) {
    StringRef rule;
    if (i < rules.size())
      rule = rules[i];
    else if (!rules.empty() && rules.back().ends_with("*"))
      rule = rules.back();
    rule.consume_back("*");
    Type type = rule.empty() ? Type() : typeByRule(rule, call, context);
    if (!type) {
      // The type of an unused result does not matter.
      if (!isWanted(call, i)) {
        types.push_back(UnrankedTensorType::get(Float32Type::get(context)));
        continue;
      }
      error = "the type of its result " + std::to_string(i) + " cannot be determined";
      return failure();
    }
    types.push_back(type);
  }
  return types;
}

Type typeOfValue(const host::Value &value, Type fallback, MLIRContext *context) {
  Type element = elementTypeOf(value.dtype, context);
  if (value.kind != host::Kind::Tensor || !element)
    return fallback;
  return RankedTensorType::get(ArrayRef(value.dims, value.rank), element);
}

} // namespace

FailureOr<SmallVector<Type>> inferHostCallByRules(const HostCall &call, MLIRContext *context,
                                                  std::string &error) {
  const auto *row = kernels::native::find(std::string_view(call.kernel.data(), call.kernel.size()));
  if (!row) {
    error = "there is no kernel for it";
    return failure();
  }
  if (!hasTakenKinds(call, *row, error))
    return failure();
  return typesByRules(call, *row, context, error);
}

FailureOr<SmallVector<Type>> inferHostCall(const HostCall &call, MLIRContext *context,
                                           std::string &error, uint64_t maxBytes) {
  FailureOr<SmallVector<Type>> types = inferHostCallByRules(call, context, error);
  if (failed(types))
    return failure();
  const auto *row = kernels::native::find(std::string_view(call.kernel.data(), call.kernel.size()));
  if (!hasTakenRanks(call, *row, error))
    return failure();
  Values values;
  std::vector<const host::Value *> inputs;
  if (!collectInputs(call, values, /*constantsOnly=*/false, /*most=*/1 << 16, inputs))
    return types;
  Parameters parameters(call.parameters, values);
  auto outcome = kernels::native::run(*row, inputs, parameters.all, call.results, call.wanted,
                                      /*onlyShapes=*/true, values, /*body=*/nullptr,
                                      std::min(maxBytes, kernels::native::kDefaultCallBytes));
  if (!outcome.error.empty()) {
    error = outcome.error;
    return failure();
  }
  for (auto [type, value] : llvm::zip_equal(*types, outcome.outputs))
    if (value)
      type = typeOfValue(*value, type, context);
  return types;
}

bool isRandomKernel(StringRef kernel) {
  static constexpr StringLiteral random[] = {
      "Bernoulli",        "Dropout",       "Multinomial",      "RandomNormal",
      "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
  return llvm::is_contained(random, kernel);
}

/// Limits of a call that is folded. Without them a chain of calls, each of which doubles its
/// strings, would hold them all: a count of elements says nothing about the bytes of strings.
static constexpr uint64_t kMaxFoldedTextBytes = 1 << 20;

FailureOr<SmallVector<ElementsAttr>> foldHostCall(const HostCall &call, MLIRContext *context,
                                                  int64_t max, uint64_t maxBytes) {
  max = maxFoldedElements(call.kernel, max);
  // Checked before any kernel infers shapes.
  auto isConstant = [](Value input) { return !input || matchPattern(input, m_Constant()); };
  if (isRandomKernel(call.kernel) || !llvm::all_of(call.inputs, isConstant))
    return failure();
  const auto *row = kernels::native::find(std::string_view(call.kernel.data(), call.kernel.size()));
  std::string error;
  FailureOr<SmallVector<Type>> types = inferHostCall(call, context, error);
  if (!row || failed(types))
    return failure();
  for (auto [i, type] : llvm::enumerate(*types)) {
    auto tensor = dyn_cast<TensorType>(type);
    if (!tensor || (tensor.hasRank() && tensor.hasStaticShape() && tensor.getNumElements() > max))
      return failure();
  }
  Values values;
  std::vector<const host::Value *> inputs;
  if (!collectInputs(call, values, /*constantsOnly=*/true, max, inputs))
    return failure();
  Parameters parameters(call.parameters, values);
  auto outcome = kernels::native::run(*row, inputs, parameters.all, call.results, call.wanted,
                                      /*onlyShapes=*/false, values, /*body=*/nullptr, maxBytes);
  SmallVector<ElementsAttr> results;
  for (auto [i, value] : llvm::enumerate(outcome.outputs)) {
    // Nobody reads it.
    if (!value && !isWanted(call, i)) {
      results.push_back({});
      continue;
    }
    if (!value || value->kind != host::Kind::Tensor)
      return failure();
    auto type = RankedTensorType::get(ArrayRef(value->dims, value->rank),
                                      elementTypeOf(value->dtype, context));
    if (type.getNumElements() > max || isa<ComplexType>(type.getElementType()))
      return failure();
    if (value->dtype == DType::Str) {
      auto *texts = static_cast<const host::String *>(value->data);
      SmallVector<StringRef> strings;
      uint64_t textBytes = 0;
      for (int64_t k = 0; k < type.getNumElements(); ++k) {
        strings.emplace_back(texts[k].data, texts[k].size);
        textBytes += texts[k].size;
      }
      if (textBytes > kMaxFoldedTextBytes)
        return failure();
      results.push_back(DenseStringElementsAttr::get(type, strings));
      continue;
    }
    results.push_back(makeConstant(type, unpackElements(*value), "folded"));
  }
  return results;
}

FailureOr<SmallVector<Tensor>> computeHostCall(const HostCall &call,
                                               ArrayRef<const Tensor *> inputs,
                                               MLIRContext *context, std::string &error) {
  const auto *row = kernels::native::find(std::string_view(call.kernel.data(), call.kernel.size()));
  if (!row) {
    error = "there is no kernel for it";
    return failure();
  }
  Values values;
  std::vector<const host::Value *> operands;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    operands.push_back(nullptr);
    if (!input)
      continue;
    RankedTensorType type = input->getType();
    if (dtypeOf(type.getElementType()) == DType::Undefined ||
        !type.getElementType().isIntOrFloat() || type.getRank() > int64_t(host::kMaxRank)) {
      error = "its input " + std::to_string(i) + " is no tensor of numbers";
      return failure();
    }
    operands.back() = packElements(type, input->bytes(), values);
    if (!operands.back()) {
      error = "there is no memory for its inputs";
      return failure();
    }
  }
  Parameters parameters(call.parameters, values);
  auto outcome = kernels::native::run(*row, operands, parameters.all, call.results, call.wanted,
                                      /*onlyShapes=*/false, values);
  if (!outcome.error.empty()) {
    error = outcome.error;
    return failure();
  }
  SmallVector<Tensor> results;
  for (auto [i, value] : llvm::enumerate(outcome.outputs)) {
    results.emplace_back();
    if (!value && !isWanted(call, i))
      continue;
    Type element = value ? elementTypeOf(value->dtype, context) : Type();
    if (!element || value->kind != host::Kind::Tensor || !element.isIntOrFloat()) {
      error = "its result " + std::to_string(i) + " is no tensor of numbers";
      return failure();
    }
    results.back() = Tensor(RankedTensorType::get(ArrayRef(value->dims, value->rank), element),
                            unpackElements(*value));
  }
  return results;
}

} // namespace atc::graph
