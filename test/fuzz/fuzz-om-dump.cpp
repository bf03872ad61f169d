//===-- fuzz-om-dump.cpp - every file that is verified can be listed ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// om-dump reads headers itself, also those of files that no machine at hand can run: what the
// loader takes is listed in all forms.

#include "runtime-lite/src/Verify.h"
#include "test/fuzz/om/OmMutator.h"
#include "tools/om-dump/Dump.h"
#include "tools/om-dump/ModelGraph.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace {

/// Keeps what is printed meanwhile from the standard output.
class Silence {
public:
  Silence() : nothing(open("/dev/null", O_WRONLY | O_CLOEXEC)), kept(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    if (nothing < 0 || kept < 0 || dup2(nothing, STDOUT_FILENO) < 0)
      std::abort();
  }
  Silence(const Silence &) = delete;
  Silence &operator=(const Silence &) = delete;
  ~Silence() {
    std::fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(nothing);
  }

private:
  const int nothing, kept;
};

} // namespace

/// Returns 0 for files that are listed.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<char> file(data, data + size);
  atc::fuzz::repairHash(file);
  // Numbers of the header stand at their alignment, as in a mapped file.
  const std::unique_ptr<char, void (*)(void *)> memory(
      static_cast<char *>(std::aligned_alloc(4096, (file.size() / 4096 + 1) * 4096)), std::free);
  if (!file.empty())
    std::memcpy(memory.get(), file.data(), file.size());
  const atc::om::fb::Model *model = nullptr;
  om_error error;
  om_status status = atc::rt::verifyFile(memory.get(), file.size(), &model, &error);
  for (uint32_t i = 0; status == OM_OK && i < model->segments()->size(); ++i)
    status = atc::rt::verifySegment(*model, i, memory.get() + model->segments()->Get(i)->offset(),
                                    &error);
  if (status != OM_OK)
    return -1;
  const Silence silence;
  const atc::tools::Dump dump(*model, atc::rt::findSignature(memory.get(), *model), "fuzz.om",
                              /*showPositions=*/true);
  dump.show();
  dump.disassembly(memory.get());
  if (dump.json().empty())
    std::abort();
  const atc::tools::ModelGraph graph = atc::tools::collectGraph(*model);
  if (atc::tools::graphAsDot(graph).empty() || atc::tools::graphAsOnnx(graph).empty())
    std::abort();
  return 0;
}
