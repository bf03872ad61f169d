//===-- ValueFiles.h - values of any shape in .npy files ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_VALUEFILES_H
#define OPENATC_TOOLS_OMRUN_VALUEFILES_H

#include "openatc/om.hpp"
#include "tools/om-run/MemoryShare.h"

#include <set>
#include <string>
#include <vector>

namespace atc::tools {

/// A tensor among outputs: sequences and maps are flattened, with ".0", ".1" or ".keys", ".values"
/// appended to their name. Other values are skipped.
struct NamedTensor {
  om::Tensor tensor; ///< the description, with the actual dims
  om::Value value;
};
/// Returns all tensors in the outputs.
std::vector<NamedTensor> tensorsOf(const std::vector<om::Tensor> &outputs,
                                   const std::vector<om::Value> &values);

/// Reads a file as a tensor of the input's type. A .npy file has its own dims, as typed values
/// (isTyped) in place of a path have; any other file has the bytes of an input of static shape. On
/// failure, also where `memory` has no room, returns false and sets `error` to one line with an
/// error code.
bool readValue(const std::string &path, const om::Tensor &input, MemoryShare &memory,
               om::Value &value, std::string &error);

/// Returns zeros, or random values, for an input without a file.
om::Value makeValue(const om::Tensor &input, bool isRandom, uint64_t seed, om::Error &error);

/// Returns the message for an input without a value, given or of its own.
std::string missingValue(const om::Tensor &input);

/// Reads what the state that is input `input`, of `bytes` bytes, begins with. Returns false where
/// the input is no state, or one that begins with zeros.
bool readFirstValue(const om::Model &model, const om::Session &session, size_t input,
                    uint64_t bytes, void *memory);

/// Returns what a state begins with, or the same as makeValue() for another input.
om::Value makeFirstValue(const om::Model &model, const om::Session &session, size_t index,
                         const om::Tensor &input, bool isRandom, uint64_t seed, om::Error &error);

/// Lets the states of a session that keeps them begin with the values of their inputs, which it
/// takes over. On failure returns false and sets `error`.
bool setStates(const om::Model &model, om::Session &session, std::vector<om::Value> &inputs,
               om::Error &error);

/// Writes a tensor as .npy, strings as NumPy's bytes. On failure returns false and sets `errorText`
/// to one line with an error code.
bool writeValue(const std::string &path, const NamedTensor &named, std::string &error);

/// Creates a folder with those around it, unless it is there. On failure returns false and sets
/// `errorText` to one line with an error code.
bool makeFolder(const std::string &folder, std::string &errorText);

/// Returns the path of a tensor's file in `folder`; equal names get a numeric suffix.
std::string npyPath(const std::string &folder, const std::string &tensor,
                    std::set<std::string> &taken);

} // namespace atc::tools

#endif
