//===-- Support.h - the base of all host kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host kernels are compiled without a C and C++ library: into the compiler, and
// to bitcode that the compiler links into models. So they must not call libc
// (`__builtin_memcpy` is there, Math.h has the functions), hold no static data
// that needs a constructor or the address of something, and throw nothing.
//
// A kernel has the name and the meaning of the newest version of an ONNX operator:
//
//   ATC_KERNEL(Compress) {
//     const Tensor data = in(0), ...;
//     if (!data.known()) return;       // its result's shape depends on the elements
//     ...
//     char *out = make(0, data.dtype(), dims);
//     if (!out) return;
//     ...
//   }

#ifndef OPENATC_KERNELS_CORE_SUPPORT_H
#define OPENATC_KERNELS_CORE_SUPPORT_H

#include "kernels/core/Contracts.h"
#include "runtime-lite/abi/HostKernel.h"

namespace atc::kernels {

using host::Call;
using host::Kind;
using host::String;
using host::Value;

/// Element types, with the values of ONNX and of om_dtype.
enum DType : uint8_t {
#define OPENATC_ELEMENT_TYPE(OM, KERNEL, BITS, NAME, LONG, NUMPY) KERNEL,
#include "runtime-lite/abi/ElementTypes.def"
};

/// Returns the bits per element; 0 for an unknown type. A string is a pointer and a size.
constexpr int64_t bitsOf(uint8_t dtype) {
  switch (dtype) {
#define OPENATC_ELEMENT_TYPE(OM, KERNEL, BITS, NAME, LONG, NUMPY)                                  \
  case KERNEL:                                                                                     \
    return KERNEL == Str ? 128 : BITS;
#include "runtime-lite/abi/ElementTypes.def"
  default:
    return 0;
  }
}
/// Returns the bytes that `count` elements take.
constexpr int64_t bytesOf(uint8_t dtype, int64_t count) { return (count * bitsOf(dtype) + 7) / 8; }

/// Return the smaller or the larger of two values; `a` where they are equal or unordered.
template <typename T> constexpr T minimum(T a, T b) { return b < a ? b : a; }
template <typename T> constexpr T maximum(T a, T b) { return a < b ? b : a; }
/// Returns a / b rounded up, for b > 0.
constexpr int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/// The dims of a tensor, or any short list of integers. Its loops run a few times and are inlined
/// in many places: vectorized or unrolled they were a quarter of the code of a kernel.
struct Dims {
  int64_t at[host::kMaxRank] = {};
  uint32_t rank = 0;

  Dims() = default;
  template <typename... Ints>
    requires(sizeof...(Ints) > 0 && (__is_integral(Ints) && ...))
  explicit Dims(Ints... values) : at{int64_t(values)...}, rank(sizeof...(Ints)) {}
  Dims(const int64_t *values, uint32_t rank) : rank(rank) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (uint32_t i = 0; i < rank; ++i)
      at[i] = values[i];
  }
  int64_t &operator[](int64_t i) { return at[i]; }
  int64_t operator[](int64_t i) const { return at[i]; }
  /// Appends a value; returns false where the list is full.
  bool push(int64_t value) {
    if (rank == host::kMaxRank)
      return false;
    at[rank++] = value;
    return true;
  }
  /// Returns the product of dims [begin, end). It is 0 where one of them is, also when the others'
  /// product has more than 64 bits: that one wraps around.
  int64_t product(uint32_t begin, uint32_t end) const {
    uint64_t result = 1;
#pragma clang loop vectorize(disable) unroll(disable)
    for (uint32_t i = begin; i < end; ++i)
      result *= uint64_t(at[i]);
    return int64_t(result);
  }
  int64_t product() const { return product(0, rank); }
  bool operator==(const Dims &other) const {
    if (rank != other.rank)
      return false;
#pragma clang loop vectorize(disable) unroll(disable)
    for (uint32_t i = 0; i < rank; ++i)
      if (at[i] != other.at[i])
        return false;
    return true;
  }
};

/// A value in the view of a kernel, which may be omitted.
class Tensor {
public:
  Tensor(const Value *value = nullptr) : value(value) {}
  /// Returns whether the input has a value (an optional without a value has none).
  explicit operator bool() const { return value && value->kind != Kind::None; }
  /// Returns whether the elements can be read. Where they decide the shape of a result, a kernel
  /// returns if they are not known.
  bool known() const { return value && (value->data || count() == 0); }
  Kind kind() const { return value ? value->kind : Kind::None; }
  uint8_t dtype() const { return value->dtype; }
  uint32_t rank() const { return value->rank; }
  int64_t dim(int64_t i) const { return value->dims[i]; }
  Dims dims() const { return Dims(value->dims, value->rank); }
  /// Returns the number of elements of a tensor.
  int64_t count() const { return dims().product(); }
  /// Returns the elements as type T, which must match dtype().
  template <typename T> const T *as() const { return static_cast<const T *>(value->data); }
  const char *bytes() const { return static_cast<const char *>(value->data); }
  /// Return the number of items of a sequence, and item i.
  int64_t size() const { return value->dims[0]; }
  Tensor item(int64_t i) const { return static_cast<const Value *const *>(value->data)[i]; }
  const Value *get() const { return value; }

private:
  const Value *value;
};

/// A list that is an attribute or the elements of a tensor.
template <typename T> struct List {
  const T *data = nullptr;
  int64_t size = 0;
  bool given = false; ///< the attribute exists, maybe empty
  T operator[](int64_t i) const { return data[i]; }
};

/// Returns whether both have the same bytes.
inline bool equal(String a, String b) {
  return a.size == b.size && __builtin_memcmp(a.data, b.data, a.size) == 0;
}
inline bool equal(String a, const char *b) { return equal(a, String{b, __builtin_strlen(b)}); }

struct RecordedOutputs; // Generated.cpp

class Context;

// ATC_KERNEL puts these around the body of each kernel, with meetsContract. None of it depends on
// element types, so a model has it once: the compiler finds it by the names that the assembler sees
// (backends/cpu/HostKernelEmitter.cpp). As a part of each kernel it took half of the optimizer's
// time.

/// Returns whether the call has generated code, which is for inputs like its inputs
/// (kGeneratedFor). Code is for inputs with elements, but for those that are always empty.
bool hasFittingCode(const Context &c) asm("atc_call_has_fitting_code");

/// Calls run(c), which makes the outputs, and then the generated code of the call, which computes
/// their elements (GeneratedCode.h). Where `run` fails, or shares the elements of an input, there
/// is nothing to compute. The call must have code that fits (hasFittingCode).
void runGenerated(Context &c, void (*run)(Context &)) asm("atc_call_run_generated");

/// A call; the body of a kernel is a member function of a derived class.
class Context {
public:
  explicit Context(Call *call) : call(call) {}

  /// Returns input i; empty where it is omitted.
  Tensor in(uint32_t i) const { return i < call->inputCount ? Tensor(call->inputs[i]) : Tensor(); }
  uint32_t inputs() const { return call->inputCount; }
  uint32_t outputs() const { return call->outputCount; }
  /// Returns whether output i is used. Outputs beyond the bits of `wanted` are always made.
  bool wants(uint32_t i) const {
    return i < call->outputCount && (i >= 32 || (call->wanted >> i & 1));
  }

  // Attributes. `fallback` is the default of the operator.
  /// Returns the attribute, or null.
  const host::Attribute *find(const char *name) const {
    for (uint32_t i = 0; i < call->attributeCount; ++i)
      if (__builtin_strcmp(call->attributes[i].name, name) == 0)
        return &call->attributes[i];
    return nullptr;
  }
  bool has(const char *name) const { return find(name) != nullptr; }
  int64_t integer(const char *name, int64_t fallback) const {
    auto *found = find(name);
    return found && found->kind == host::AttributeKind::Ints && found->count
               ? *static_cast<const int64_t *>(found->data)
               : fallback;
  }
  double number(const char *name, double fallback) const {
    auto *found = find(name);
    return found && found->kind == host::AttributeKind::Floats && found->count
               ? *static_cast<const double *>(found->data)
               : fallback;
  }
  /// Returns a string attribute: `text("mode", "nearest")`.
  String text(const char *name, const char *fallback) const {
    auto *found = find(name);
    return found && found->kind == host::AttributeKind::Strings && found->count
               ? *static_cast<const String *>(found->data)
               : String{fallback, __builtin_strlen(fallback)};
  }
  /// Returns whether a string attribute is `wanted`.
  bool is(const char *name, const char *fallback, const char *wanted) const {
    return equal(text(name, fallback), wanted);
  }
  List<int64_t> integers(const char *name) const {
    return list<int64_t>(name, host::AttributeKind::Ints);
  }
  List<double> numbers(const char *name) const {
    return list<double>(name, host::AttributeKind::Floats);
  }
  List<String> strings(const char *name) const {
    return list<String>(name, host::AttributeKind::Strings);
  }
  Tensor tensor(const char *name) const {
    auto *found = find(name);
    return found && found->kind == host::AttributeKind::Tensors && found->count
               ? Tensor(static_cast<const Value *>(found->data))
               : Tensor();
  }

  // Results; see atc::host::Host for the rules. Null means that the kernel must return.
  /// Makes output i and returns its elements; fails the call for a negative dim. Where generated
  /// code computes the elements, returns null once all outputs are made, so that the kernel ends.
  void *makeBytes(uint32_t i, uint8_t dtype, const Dims &dims) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (uint32_t d = 0; d < dims.rank; ++d)
      if (dims[d] < 0) {
        fail("output % would have a dim of %", i, dims[d]);
        return nullptr;
      }
    void *made = call->host->makeTensor(call, i, dtype, dims.rank, dims.at);
    return made && recorded ? record(i, made, dtype, dims) : made;
  }
  template <typename T = char> T *make(uint32_t i, uint8_t dtype, const Dims &dims) {
    return static_cast<T *>(makeBytes(i, dtype, dims));
  }
  void share(uint32_t i, Tensor source, const Dims &dims) {
    call->host->share(call, i, source.get(), dims.rank, dims.at);
  }
  void forward(uint32_t i, Tensor source) { call->host->forward(call, i, source.get()); }
  void makeNone(uint32_t i) { call->host->makeNone(call, i); }
  void makeSequence(uint32_t i, uint8_t dtype, int64_t count, const Value *const *items,
                    Kind kind = Kind::Sequence) {
    call->host->makeSequence(call, i, kind, dtype, count, items);
  }
  const Value *makeItem(uint8_t dtype, const Dims &dims) {
    return call->host->makeItem(call, dtype, dims.rank, dims.at);
  }
  const Value *makeMapItem(const Value *keys, const Value *values) {
    return call->host->makeMapItem(call, keys, values);
  }
  char *makeText(int64_t bytes) { return call->host->makeText(call, bytes); }
  /// Returns scratch memory for `count` elements of type T, 64-byte aligned and not initialized.
  template <typename T> T *scratch(int64_t count) {
    return static_cast<T *>(call->host->scratch(call, uint64_t(count) * sizeof(T)));
  }
  /// Returns the generated code of the call, or null.
  host::GeneratedCode generatedCode() const {
    return reinterpret_cast<host::GeneratedCode>(const_cast<void *>(call->body));
  }
  uint64_t entropy() { return call->host->entropy(call); }

  /// Runs body(begin, end) over ranges of [0, tasks) on all threads and returns when all have
  /// ended. Does not return where the run is cancelled.
  template <typename Body> void parallel(int64_t tasks, Body &&body) {
    call->host->parallel(
        call, tasks,
        [](void *arg, int64_t begin, int64_t end) {
          (*static_cast<__remove_reference_t(Body) *>(arg))(begin, end);
        },
        const_cast<void *>(static_cast<const void *>(&body)));
  }

  /// Fails the call with a sentence for the user; each '%' stands for the next value. The host adds
  /// the name of the node. The kernel must return afterwards.
  template <typename... Ints> void fail(const char *text, Ints... values) {
    const int64_t numbers[sizeof...(Ints) + 1] = {int64_t(values)...};
    call->host->fail(call, text, numbers, sizeof...(Ints));
  }
  /// Fails the call because of an element type.
  void failType(uint8_t dtype) { fail("has no kernel for element type %", dtype); }

private:
  template <typename T> List<T> list(const char *name, host::AttributeKind kind) const {
    auto *found = find(name);
    if (!found || (found->kind != kind && found->count))
      return {};
    return {static_cast<const T *>(found->data), int64_t(found->count), true};
  }

protected:
  Call *call;

private:
  friend void runGenerated(Context &c, void (*run)(Context &));
  /// Records an output for generated code; returns `made` where outputs are still to be made, else
  /// null.
  void *record(uint32_t i, void *made, uint8_t dtype, const Dims &dims);

  RecordedOutputs *recorded = nullptr; ///< where generated code computes the elements
};

/// Defines the kernel `Name`. Its body can use all of Context, and its inputs meet the kernel's
/// contract (Contract.h). In a call with generated code that fits, the body only makes the outputs.
#define ATC_KERNEL(Name) ATC_KERNEL_OF(Name, /*callsCode=*/false)
/// Defines a kernel whose body calls the generated code itself.
#define ATC_KERNEL_OF_CODE(Name) ATC_KERNEL_OF(Name, /*callsCode=*/true)
#define ATC_KERNEL_OF(Name, callsCode)                                                             \
  namespace {                                                                                      \
  struct Name##Kernel : ::atc::kernels::Context {                                                  \
    using Context::Context;                                                                        \
    void run();                                                                                    \
  };                                                                                               \
  }                                                                                                \
  extern "C" void atc_kernel_##Name(::atc::host::Call *call) {                                     \
    Name##Kernel kernel(call);                                                                     \
    if (!::atc::kernels::meetsContract(                                                            \
            kernel,                                                                                \
            ::atc::kernels::ContractOf<::atc::kernels::Name##Signature,                            \
                                       ::atc::kernels::Name##Entries>::value,                      \
            ::atc::kernels::Name##Entries::text))                                                  \
      return;                                                                                      \
    if (callsCode || !::atc::kernels::hasFittingCode(kernel))                                      \
      kernel.run();                                                                                \
    else                                                                                           \
      ::atc::kernels::runGenerated(                                                                \
          kernel, [](::atc::kernels::Context &c) { static_cast<Name##Kernel &>(c).run(); });       \
  }                                                                                                \
  void Name##Kernel::run()

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Returns an axis in -rank <= axis < rank as 0 <= axis < rank; otherwise fails the call and
/// returns -1.
inline int64_t normalizeAxis(Context &c, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    c.fail("axis % is not one of a tensor of rank %", axis, rank);
    return -1;
  }
  return axis < 0 ? axis + rank : axis;
}

/// Returns the row-major strides in elements.
inline Dims stridesOf(const Dims &dims) {
  Dims strides;
  strides.rank = dims.rank;
  int64_t step = 1;
#pragma clang loop vectorize(disable) unroll(disable)
  for (int64_t i = int64_t(dims.rank) - 1; i >= 0; --i) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

/// Returns element `i` of an integer tensor (int32, int64, ...).
int64_t integerAt(Tensor tensor, int64_t i);
/// Returns element `i` of any real type as a double.
double numberAt(Tensor tensor, int64_t i);

/// Copies bytes between buffers that do not overlap.
inline void copyBytes(void *to, const void *from, int64_t bytes) {
  __builtin_memcpy(to, from, static_cast<uint64_t>(bytes));
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_SUPPORT_H
