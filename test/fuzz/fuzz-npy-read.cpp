//===-- fuzz-npy-read.cpp - no .npy or raw file crashes the readers -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/Npy.h"
#include "test/fuzz/MemoryFile.h"

#include <vector>

static om::Tensor describe(om_dtype dtype, std::vector<int64_t> dims, uint64_t elements) {
  om::Tensor tensor;
  tensor.name = "x";
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.elements = elements;
  tensor.bytes = (elements * om_dtype_bits(dtype) + 7) / 8;
  tensor.space = OM_INPUT;
  return tensor;
}

/// Returns 0 for bytes that some tensor accepts as its file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const atc::fuzz::MemoryFile file(data, size);
  static const om::Tensor tensors[] = {describe(OM_F32, {2, 3}, 6), describe(OM_I64, {4}, 4),
                                       describe(OM_U4, {2, 3}, 6),  describe(OM_BF16, {3}, 3),
                                       describe(OM_BOOL, {}, 1),    describe(OM_F32, {0, 7}, 0)};
  bool accepted = false;
  std::string error;
  for (const om::Tensor &tensor : tensors) {
    // As large as the tensor: what is written behind it is found.
    const std::vector<char> zeros(tensor.bytes);
    std::vector<char> elements(zeros);
    error.clear();
    const bool read = atc::readTensor(file.path(), tensor, elements.data(), error);
    if (read != error.empty())
      std::abort();
    accepted |= read;
  }
  std::vector<std::string> texts;
  accepted |= atc::readStrings(file.path(), describe(OM_STRING, {3}, 3), texts, error);
  std::vector<int64_t> dims;
  accepted |= atc::readNpyDims(file.path(), dims);
  return accepted ? 0 : -1;
}
