//===-- Npy.h - reads and writes NumPy's .npy files -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_NPY_H
#define OPENATC_SUPPORT_NPY_H

#include "openatc/om.hpp"

#include <string>
#include <vector>

namespace atc {

/// Reads `path` into `data`, which must have room for the dense row-major elements of `tensor`. A
/// .npy file must have the tensor's type and dims, any other file exactly its bytes. On failure
/// returns false and sets `error` to one line with an error code.
bool readTensor(const std::string &path, const ::om::Tensor &tensor, void *data,
                std::string &error);

/// Writes a dense row-major tensor as a .npy file. On failure returns false and sets `error` to one
/// line with an error code.
bool writeNpy(const std::string &path, const ::om::Tensor &tensor, const void *data,
              std::string &error);

/// Read and write strings: NumPy's bytes ('S'), or text ('U'), which becomes UTF-8. `tensor` has
/// the dims. On failure they return false and set `error` to one line with an error code.
bool readStrings(const std::string &path, const ::om::Tensor &tensor,
                 std::vector<std::string> &texts, std::string &error);
bool writeStrings(const std::string &path, const ::om::Tensor &tensor,
                  const std::vector<std::string> &texts, std::string &error);

/// Reads the dims of a .npy file. Returns false for any other file.
bool readNpyDims(const std::string &path, std::vector<int64_t> &dims);

/// Returns whether a .npy file has elements of this type; false for any other file.
bool npyHasType(const std::string &path, om_dtype dtype);

/// Returns a tensor's name as a file name, without ".npy": "_" replaces unprintable characters and
/// those with a meaning for a file system or a shell. The end of a long name is replaced by its
/// hash, as file systems take 255 bytes.
std::string fileNameOf(const std::string &tensor);

} // namespace atc

#endif
