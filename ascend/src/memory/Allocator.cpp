//===-- Allocator.cpp - allocators of the caller ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"

#include "acl/acl_rt_allocator.h"

#include <map>

using namespace atc::ascend;

namespace {

struct Allocator {
  aclrtAllocatorDesc description = nullptr;
  aclrtAllocator object = nullptr;
  aclrtAllocatorAllocFunc allocate = nullptr;
  aclrtAllocatorFreeFunc release = nullptr;
  aclrtAllocatorAllocAdviseFunc allocateAt = nullptr;
  aclrtAllocatorGetAddrFromBlockFunc address = nullptr;
};

HandleTable<Allocator> &allocators() {
  static auto &table = *new HandleTable<Allocator>(HandleKind::AllocatorDesc);
  return table;
}

/// Keeps the allocator that each stream, by its id, has registered.
struct Registered {
  std::mutex mutex;
  std::map<int32_t, Allocator> byStream;
};

Registered &registered() {
  static auto &only = *new Registered;
  return only;
}

/// Sets a member of a description to a value that must not be NULL.
template <typename T>
aclError setMember(const char *function, aclrtAllocatorDesc desc, T Allocator::*member, T value) {
  auto found = allocators().find(desc);
  if (!desc || !value)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL",
                desc ? "the value" : "allocatorDesc");
  if (!found)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "allocatorDesc (%p) was destroyed, or is no description of an allocator", desc);
  (*found).*member = value;
  return ACL_SUCCESS;
}

} // namespace

aclrtAllocatorDesc aclrtAllocatorCreateDesc() {
  auto made = std::make_shared<Allocator>();
  return made->description = allocators().add(made);
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
  ACL_FIND(found, allocators(), allocatorDesc);
  allocators().remove(allocatorDesc);
  return ACL_SUCCESS;
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
  return setMember(__func__, allocatorDesc, &Allocator::object, allocator);
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                          aclrtAllocatorAllocFunc func) {
  return setMember(__func__, allocatorDesc, &Allocator::allocate, func);
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                         aclrtAllocatorFreeFunc func) {
  return setMember(__func__, allocatorDesc, &Allocator::release, func);
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                aclrtAllocatorAllocAdviseFunc func) {
  return setMember(__func__, allocatorDesc, &Allocator::allocateAt, func);
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func) {
  return setMember(__func__, allocatorDesc, &Allocator::address, func);
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
  ACL_FIND(found, allocators(), allocatorDesc);
  std::shared_ptr<Stream> target;
  ACL_TRY(findStream(__func__, stream, target));
  if (!found->object || !found->allocate || !found->release || !found->address)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "the object or a function of the description was not set: it needs the object, those "
             "that allocate and free, and that of the address");
  std::lock_guard lock(registered().mutex);
  registered().byStream[target->id] = *found;
  return ACL_SUCCESS;
}

/// Writes a value where the program wants it.
template <typename T> static void writeTo(T *target, T value) {
  if (target)
    *target = value;
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc,
                                   aclrtAllocator *allocator, aclrtAllocatorAllocFunc *allocFunc,
                                   aclrtAllocatorFreeFunc *freeFunc,
                                   aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc) {
  std::shared_ptr<Stream> target;
  ACL_TRY(findStream(__func__, stream, target));
  std::lock_guard lock(registered().mutex);
  const auto found = registered().byStream.find(target->id);
  if (found == registered().byStream.end())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the stream has no allocator");
  writeTo(allocatorDesc, found->second.description);
  writeTo(allocator, found->second.object);
  writeTo(allocFunc, found->second.allocate);
  writeTo(freeFunc, found->second.release);
  writeTo(allocAdviseFunc, found->second.allocateAt);
  writeTo(getAddrFromBlockFunc, found->second.address);
  return ACL_SUCCESS;
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
  std::shared_ptr<Stream> target;
  ACL_TRY(findStream(__func__, stream, target));
  std::lock_guard lock(registered().mutex);
  if (registered().byStream.erase(target->id) == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the stream has no allocator");
  return ACL_SUCCESS;
}
