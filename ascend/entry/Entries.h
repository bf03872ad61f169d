//===-- Entries.h - the functions that programs call -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface is one of C, through which no exception may leave: a program that is not prepared
// for one ends. Nearly every function allocates something small, so each function of the libraries
// is called through an entry, which makes a code and a message of a failed allocation. No function
// has to be written for that, and none can be forgotten: the build takes the names from the
// preprocessed headers (entries.cmake). The functions themselves are compiled under other names
// (#pragma redefine_extname), and the name of the interface is an alias of an instance of Entry.

#ifndef ASCEND_ENTRY_ENTRIES_H
#define ASCEND_ENTRY_ENTRIES_H

#include "ascend/src/Errors.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace atc::ascend {

/// Returns what a function without memory returns: a code where it returns one, else nothing, as
/// of a handle that could not be made.
template <typename Result> Result resultWithoutMemory(const char *name) {
  const aclError code = failWithoutMemory(name);
  constexpr unsigned mediaCode = 0xA007800C; // HI_ERR_VPC_NO_MEM
  if constexpr (std::is_same_v<Result, aclError>)
    return std::strncmp(name, "hi_mpi", 6) ? code : aclError(mediaCode);
  else
    return Result();
}

template <auto Function, const char *Name> struct Entry;
template <typename Result, typename... Arguments, Result (*Function)(Arguments...),
          const char *Name>
struct Entry<Function, Name> {
  static Result call(Arguments... arguments) {
    try {
      return Function(arguments...);
    } catch (const std::bad_alloc &) {
      return resultWithoutMemory<Result>(Name);
    } catch (const std::length_error &) { // containers throw it where a size is beyond all memory
      return resultWithoutMemory<Result>(Name);
    }
  }
};

} // namespace atc::ascend

/// Makes `name` of the interface the entry of atc_entry_name. The dynamic linker asks the resolver
/// which function a name stands for.
#define ASCEND_ENTRY(name)                                                                         \
  extern "C" decltype(::name) atc_entry_##name;                                                    \
  static constexpr char atc_name_##name[] = #name;                                                 \
  extern "C" {                                                                                     \
  __attribute__((used)) static void *atc_resolve_##name() {                                        \
    return reinterpret_cast<void *>(                                                               \
        &::atc::ascend::Entry<atc_entry_##name, atc_name_##name>::call);                           \
  }                                                                                                \
  decltype(::name) name __attribute__((ifunc("atc_resolve_" #name)));                              \
  }

#endif
