//===-- KernelRunner.cpp - runs one kernel on buffers of a test -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include "backends/cpu/KernelCompiler.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/om/Om.h"
#include "passes/cpu/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <sys/mman.h>

namespace atc::cpu::test {

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

static int64_t bytesOf(const std::string &element) {
  if (element == "i1" || element == "i8" || element == "ui8")
    return 1;
  if (element == "f16" || element == "bf16" || element == "i16")
    return 2;
  return element == "f64" || element == "i64" ? 8 : 4;
}

Numbers contiguous(const Numbers &shape) {
  Numbers strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

std::mt19937 &generator() {
  static std::mt19937 shared(20240521);
  return shared;
}

template <typename T> static T load(const char *memory, int64_t i) {
  T value;
  memcpy(&value, memory + i * sizeof(T), sizeof(T));
  return value;
}
template <typename T> static void store(char *memory, int64_t i, T value) {
  memcpy(memory + i * sizeof(T), &value, sizeof(T));
}

/// Returns the access to elements that are a `T` in C++.
template <typename T> static Buffer::Access plainAccess() {
  return {[](const char *memory, int64_t i) { return double(load<T>(memory, i)); },
          [](char *memory, int64_t i, double value) { store<T>(memory, i, T(value)); }};
}

/// Returns the access to elements of a type by its name.
static Buffer::Access accessTo(const std::string &name) {
  if (name == "f32")
    return plainAccess<float>();
  if (name == "f64")
    return plainAccess<double>();
  if (name == "f16")
    return plainAccess<_Float16>();
  if (name == "bf16")
    return {[](const char *memory, int64_t i) {
              return double(std::bit_cast<float>(uint32_t(load<uint16_t>(memory, i)) << 16));
            },
            [](char *memory, int64_t i, double value) {
              uint32_t bits = std::bit_cast<uint32_t>(float(value));
              store<uint16_t>(memory, i, (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
            }};
  if (name == "i1")
    return {plainAccess<uint8_t>().load,
            [](char *memory, int64_t i, double value) { store<uint8_t>(memory, i, value != 0); }};
  if (name == "ui8")
    return plainAccess<uint8_t>();
  if (name == "i8")
    return plainAccess<int8_t>();
  if (name == "i16")
    return plainAccess<int16_t>();
  return name == "i32" ? plainAccess<int32_t>() : plainAccess<int64_t>();
}

Buffer::Buffer(std::string element, Numbers shape, Numbers strides)
    : name(std::move(element)), sizes(std::move(shape)),
      steps(strides.empty() ? contiguous(sizes) : std::move(strides)), elementBytes(bytesOf(name)),
      access(accessTo(name)) {
  elements = 1;
  for (size_t d = 0; d < sizes.size(); ++d)
    elements += (sizes[d] - 1) * steps[d];

  constexpr size_t page = 4096;
  size_t bytes = elements * elementBytes, inner = (bytes + page - 1) / page * page;
  mapped = inner + 2 * page;
  mapping =
      static_cast<char *>(mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(mapping != MAP_FAILED);
  REQUIRE(mprotect(mapping + page, inner, PROT_READ | PROT_WRITE) == 0);
  static bool atEnd = false;
  atEnd = !atEnd;
  memory = mapping + page + (atEnd ? inner - bytes : 0);
  memset(memory, 0x5a, bytes);
}

Buffer::Buffer(const Buffer &other) : Buffer(other.name, other.sizes, other.steps) {
  memcpy(memory, other.memory, elements * elementBytes);
}

Buffer::~Buffer() { munmap(mapping, mapped); }

Buffer Buffer::random(std::string element, Numbers shape, Numbers strides, double low,
                      double high) {
  Buffer buffer(std::move(element), std::move(shape), std::move(strides));
  bool isFloat = buffer.name[0] == 'f' || buffer.name[0] == 'b';
  std::uniform_real_distribution<double> real(low, high);
  std::uniform_int_distribution<int64_t> whole(std::ceil(low), std::floor(high));
  for (int64_t i = 0; i < buffer.elements; ++i)
    buffer.set(i, isFloat ? real(generator()) : double(whole(generator())));
  return buffer;
}

std::string Buffer::type() const {
  std::string text = "memref<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  text += name;
  if (steps != contiguous(sizes)) {
    text += ", strided<[";
    for (size_t d = 0; d < steps.size(); ++d)
      text += (d ? ", " : "") + std::to_string(steps[d]);
    text += "]>";
  }
  return text + ">";
}

void forEachPosition(const Numbers &shape, const std::function<void(const Numbers &)> &body) {
  Numbers position(shape.size(), 0);
  for (int64_t size : shape)
    if (size == 0)
      return;
  while (true) {
    body(position);
    size_t d = shape.size();
    while (d > 0 && ++position[d - 1] == shape[d - 1])
      position[--d] = 0;
    if (d == 0)
      return;
  }
}

void OpText::add(const std::string &name, const Buffer &buffer) {
  text += " " + name + " %" + std::to_string(operands.size());
  operands.push_back(&buffer);
}

std::string OpText::with(const std::string &attributes) const {
  std::string whole = text + (attributes.empty() ? "" : " {" + attributes + "}") + " : ";
  for (size_t i = 0; i < operands.size(); ++i)
    whole += (i ? ", $" : "$") + std::to_string(i);
  return whole;
}

void runOp(const std::string &text, std::vector<const Buffer *> buffers, const CpuLevel &level,
           Buffer &result, const Buffer *replaced) {
  buffers.back() = &result;
  Kernel kernel(text, buffers, level);
  if (!replaced)
    return kernel.run();
  forEachPosition(result.shape(), [&](const Numbers &p) { result.set(p, replaced->get(p)); });
  std::vector<void *> arguments;
  for (const Buffer *buffer : buffers)
    arguments.push_back(buffer == replaced ? result.data() : buffer->data());
  kernel.run(arguments);
}

double largestError(const Buffer &actual, const Buffer &expected, double floor) {
  std::vector<bool> inside(actual.span(), false);
  double largest = 0;
  forEachPosition(actual.shape(), [&](const Numbers &position) {
    int64_t offset = actual.at(position);
    inside[offset] = true;
    double a = actual.get(offset), e = expected.get(offset);
    if (a == e || (std::isnan(a) && std::isnan(e)))
      return;
    double error = std::abs(a - e) / std::max(std::abs(e), floor);
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  });
  for (int64_t i = 0; i < actual.span(); ++i)
    if (!inside[i] && memcmp(static_cast<char *>(actual.data()) + i * bytesOf(actual.element()),
                             static_cast<char *>(expected.data()) + i * bytesOf(actual.element()),
                             bytesOf(actual.element())) != 0)
      FAIL("a kernel has written between the elements, at offset " << i << " of " << actual.type());
  return largest;
}

void checkClose(const Buffer &actual, const Buffer &expected, double tolerance, double floor) {
  CHECK(largestError(actual, expected, floor) <= tolerance);
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

const std::vector<CpuLevel> &levels() {
  static const std::vector<CpuLevel> all = [] {
    std::vector<CpuLevel> result;
    llvm::Expected<CpuLevel> host = hostCpuLevel();
    REQUIRE(bool(host));
    for (int64_t lanes : {host->lanes, int64_t(4), int64_t(16)}) {
      CpuLevel level = *host;
      if (lanes == 4)
        level = cpuLevels().front();
      level.lanes = lanes;
      level.name = level.name + " with " + std::to_string(lanes) + " lanes";
      if (result.empty() || lanes != host->lanes)
        result.push_back(level);
    }
    return result;
  }();
  return all;
}

static mlir::MLIRContext &context() {
  static std::unique_ptr<mlir::MLIRContext> shared = [] {
    mlir::DialectRegistry registry;
    registry
        .insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
    graph::registerGraphDialect(registry);
    registerCpuDialect(registry);
    om::registerOmDialect(registry);
    registerEmitterDialects(registry);
    return std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  }();
  return *shared;
}

static std::string moduleText(std::string op, const std::vector<const Buffer *> &buffers) {
  std::string arguments;
  for (size_t i = buffers.size(); i-- > 0;) {
    std::string mark = "$" + std::to_string(i);
    for (size_t at; (at = op.find(mark)) != std::string::npos;)
      op.replace(at, mark.size(), buffers[i]->type());
    arguments = "%" + std::to_string(i) + ": " + buffers[i]->type() + ", " + arguments;
  }
  return "func.func private @kernel(" + arguments +
         "%begin: index, %end: index) attributes {cpu.kernel} {\n" + op + "\nreturn\n}\n";
}

Kernel::Kernel(const std::string &text, std::vector<const Buffer *> buffers,
               const CpuLevel &level) {
  for (const Buffer *buffer : buffers)
    arguments.push_back(buffer->data());
  std::string source = moduleText(text, buffers);
  INFO(source);
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context());
  INFO(messages);
  REQUIRE(module);
  auto compiled = compileKernels(*module, level, {});
  if (!compiled)
    FAIL(llvm::toString(compiled.takeError()) + "\n" + messages);

  imageBytes = compiled->image.size();
  image = mmap(nullptr, imageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(image != MAP_FAILED);
  memcpy(image, compiled->image.data(), imageBytes);
  REQUIRE(mprotect(image, imageBytes, PROT_READ | PROT_EXEC) == 0);
  entry = reinterpret_cast<Entry>(static_cast<char *>(image) + compiled->entries.front());
  taskCount = compiled->tasks.front();
  scratch = std::make_unique<Buffer>("i8", Numbers{int64_t(compiled->scratchBytes)});
}

Kernel::~Kernel() {
  if (image)
    munmap(image, imageBytes);
}

void Kernel::run() const { run(arguments); }

void Kernel::run(const std::vector<void *> &given) const {
  int64_t middle = taskCount / 2;
  for (auto [begin, end] : {std::pair(middle, taskCount), {int64_t(0), middle}}) {
    // Calls find the scratch memory of others; as f32 these bytes are NaN.
    memset(scratch->data(), 0xff, scratch->span());
    entry(given.data(), scratch->data(), begin, end);
  }
}

} // namespace atc::cpu::test
