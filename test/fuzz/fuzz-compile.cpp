//===-- fuzz-compile.cpp - hostile models through the whole compiler ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The importers' programs stop at the module; here what they accept is compiled, for a CPU level
// or an NPU as the bytes decide; the file that comes out must load, and runs on hostile inputs.
// ONNX, TensorFlow and TensorFlow Lite are told apart as far as they can be. Models with a large
// tensor are left out: they take long for good reasons.

#include <onnx/onnx_pb.h>

#include "driver/Compiler.h"
#include "driver/targets/MakeTarget.h"
#include "openatc/om.hpp"
#include "test/fuzz/MemoryFile.h"
#include "test/fuzz/Outcome.h"
#include "test/fuzz/mutators/Mutators.h"
#include "test/fuzz/om/RunModel.h"

#include "google/protobuf/stubs/logging.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

using namespace atc;

namespace {

constexpr int64_t kMaxElements = 1 << 18;

/// Not LLVM's hash, which another process may seed otherwise.
uint32_t sumOf(const uint8_t *data, size_t size) { return std::accumulate(data, data + size, 0u); }

driver::TargetRequest targetOf(const uint8_t *data, size_t size) {
  driver::TargetRequest request;
  request.cpuLevels = "x86-64-v3";
  if (sumOf(data, size) % 2) {
    request.target = "npu";
    request.soc = "Ascend310P3";
  } else {
    request.target = "cpu";
  }
  return request;
}

/// Counts in memory that the processes of the replayer share; the first one prints the sum, so that
/// a campaign shows whether it has run anything.
class Counts {
public:
  Counts()
      : shared(static_cast<std::atomic<uint64_t> *>(mmap(nullptr, 2 * sizeof(uint64_t),
                                                         PROT_READ | PROT_WRITE,
                                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (shared == MAP_FAILED)
      std::abort();
  }
  Counts(const Counts &) = delete;
  Counts &operator=(const Counts &) = delete;
  ~Counts() {
    if (getpid() == maker)
      std::fprintf(stderr, "%llu compiled models were run, %llu runs succeeded\n",
                   static_cast<unsigned long long>(shared[0]),
                   static_cast<unsigned long long>(shared[1]));
  }
  void add(unsigned succeeded) {
    ++shared[0];
    shared[1] += succeeded;
  }

private:
  std::atomic<uint64_t> *shared;
  pid_t maker = getpid();
};

Counts counts;

bool isSmall(mlir::ModuleOp module) {
  return !module
              .walk([](mlir::Operation *op) {
                for (mlir::Value result : op->getResults()) {
                  auto type = llvm::dyn_cast<mlir::RankedTensorType>(result.getType());
                  int64_t elements = 1;
                  for (int64_t dim : type ? type.getShape() : llvm::ArrayRef<int64_t>())
                    if (dim > 0 && (elements *= std::min(dim, kMaxElements + 1)) > kMaxElements)
                      return mlir::WalkResult::interrupt();
                }
                return mlir::WalkResult::advance();
              })
              .wasInterrupted();
}

/// Returns whether the importer of `format` takes the model; then it is compiled as well.
bool compile(driver::ModelFormat format, const fuzz::MemoryFile &file, const uint8_t *data,
             size_t size) {
  Diagnostics diagnostics;
  driver::CompilerOptions options;
  options.source.path = file.path();
  options.source.format = format;
  options.target = driver::makeTarget(targetOf(data, size), diagnostics);
  options.limits.threads = 1;
  if (!options.target)
    std::abort();
  {
    auto context = driver::makeCompilerContext();
    Diagnostics importing;
    driver::Compiler importer(*context, options, importing);
    if (!importer.lower(driver::Phase::Import)) {
      fuzz::checkOutcome(false, importing);
      return false;
    }
    if (!isSmall(importer.module()))
      return true;
  }
  auto context = driver::makeCompilerContext();
  driver::Compiler compiler(*context, options, diagnostics);
  const std::optional<::om::Buffer> bytes = compiler.emitBytes();
  if (fuzz::checkOutcome(bytes.has_value(), diagnostics) != 0)
    return true;
  ::om::Error error;
  const ::om::Model model = ::om::Model::loadMemory(bytes->data(), bytes->size(), error);
  if (!model) {
    std::fprintf(stderr, "the compiled model does not load: %s\n", error.message());
    std::abort();
  }
  counts.add(fuzz::runModel(model, sumOf(data, size)));
  return true;
}

bool isTfLite(const uint8_t *data, size_t size) {
  return size >= 8 && llvm::StringRef(reinterpret_cast<const char *>(data) + 4, 4) == "TFL3";
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  google::protobuf::LogSilencer silencer;
  if (isTfLite(data, size))
    return fuzz::mutateTfLite(data, size, maxSize, seed);
  onnx::ModelProto model;
  const bool isOnnx =
      model.ParseFromArray(data, static_cast<int>(size)) && model.graph().node_size() > 0;
  return (isOnnx ? fuzz::mutateOnnx : fuzz::mutateGraphDef)(data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  google::protobuf::LogSilencer silencer;
  const fuzz::MemoryFile file(data, size);
  if (isTfLite(data, size))
    return compile(driver::ModelFormat::TfLite, file, data, size) ? 0 : -1;
  return compile(driver::ModelFormat::Onnx, file, data, size) ||
                 compile(driver::ModelFormat::TensorFlow, file, data, size)
             ? 0
             : -1;
}
