//===-- HostKernels.cpp - host kernels become objects ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/HostKernels.h"

#include "backends/cpu/CodeGenerator.h"
#include "backends/cpu/CommonKernels.h"
#include "backends/cpu/HostKernelEmitter.h"
#include "backends/cpu/KernelBitcode.h"
#include "backends/cpu/PrebuiltKernels.h"

#include "llvm/Support/BLAKE3.h"

using namespace llvm;

namespace atc::cpu {

HostKernelCode codeOf(StringRef symbol, uint64_t types, const CpuLevel &level) {
  for (const CommonKernel &common : commonKernels())
    if (common.symbol == symbol && (types & ~common.types) == 0)
      return {common.types, level.plain()};
  return {types, level};
}

Expected<std::vector<Object>> emitHostKernels(ArrayRef<HostKernel> kernels, const CpuLevel &level,
                                              const EmitOptions &options,
                                              const ObjectCache &cache) {
  const StringRef bitcode = kernelBitcode(level.arch);
  const auto source = BLAKE3::hash<16>(arrayRefFromStringRef(bitcode));
  const StringRef sourceText(reinterpret_cast<const char *>(source.data()), source.size());

  SmallVector<std::pair<std::string, uint64_t>> wanted = {{kLibraryObject.str(), 0}};
  if (!kernels.empty())
    wanted.push_back({kCallsObject.str(), 0});
  for (const HostKernel &kernel : kernels)
    wanted.push_back({kernel.symbol(), kernel.types});
  std::vector<Object> objects(wanted.size());
  Error error = forEachInParallel(objects.size(), options.threads, [&](size_t i) -> Error {
    const auto &[symbol, types] = wanted[i];
    const HostKernelCode code = codeOf(symbol, types, level);
    const std::string laneText = std::to_string(code.level.lanes);
    const std::string key =
        ObjectCache::key({sourceText, code.level.arch, code.level.cpu, code.level.features,
                          laneText, std::to_string(code.types), symbol});
    if (options.tempDir.empty()) {
      if (StringRef prebuilt = prebuiltKernel(symbol, code.types, code.level); !prebuilt.empty()) {
        objects[i].assign(prebuilt.begin(), prebuilt.end());
        return Error::success();
      }
      if (std::optional<Object> found = cache.find(key)) {
        objects[i] = std::move(*found);
        return Error::success();
      }
    }
    Expected<Object> object = emitHostKernel(symbol, code.types, code.level, options.tempDir);
    if (!object)
      return object.takeError();
    cache.store(key, *object);
    objects[i] = std::move(*object);
    return Error::success();
  });
  if (error)
    return error;
  return objects;
}

} // namespace atc::cpu
