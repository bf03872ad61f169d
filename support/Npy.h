//===-- Npy.h - reads and writes NumPy's .npy files -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_NPY_H
#define OPENATC_SUPPORT_NPY_H

#include "openatc/om.hpp"

#include <string>
#include <vector>

namespace atc {

/// Reads `path` into `data`, which has room for `tensor`. A .npy file must have
/// the tensor's type and dims, any other file exactly its bytes. On failure
/// returns false and `error` is one coded line.
bool readTensor(const std::string &path, const ::om::Tensor &tensor, void *data,
                std::string &error);

/// Writes a dense tensor as a .npy file. On failure returns false and `error` is one coded
/// line.
bool writeNpy(const std::string &path, const ::om::Tensor &tensor, const void *data,
              std::string &error);

/// Reads and writes strings: NumPy's bytes ('S'), or text ('U'), which becomes UTF-8. `tensor`
/// has the dims. On failure they return false and `error` is one coded line.
bool readStrings(const std::string &path, const ::om::Tensor &tensor,
                 std::vector<std::string> &texts, std::string &error);
bool writeStrings(const std::string &path, const ::om::Tensor &tensor,
                  const std::vector<std::string> &texts, std::string &error);

/// Reads the dims of a .npy file. Returns false for any other file.
bool readNpyDims(const std::string &path, std::vector<int64_t> &dims);

/// Returns a tensor's name as a file name, without ".npy": "_" stands for what cannot be
/// printed and for what a file system or a shell takes for something else.
std::string fileNameOf(const std::string &tensor);

} // namespace atc

#endif
