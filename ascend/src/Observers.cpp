//===-- Observers.cpp -----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Observers.h"
#include "ascend/src/Errors.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace atc::ascend {
namespace {

template <typename Function> struct Observer {
  aclRegisterCallbackType type;
  Function function;
  void *userData;
};

template <typename Function> struct Named {
  Function function;
  void *args;
};

/// Functions are called without the lock, so that they may register others.
struct Observers {
  std::mutex mutex;
  std::vector<Observer<aclInitCallbackFunc>> init;
  std::vector<Observer<aclFinalizeCallbackFunc>> finalize;
  std::map<std::string, Named<aclrtStreamStateCallback>> streams;
  std::map<std::string, Named<aclrtDeviceStateCallback>> devices;
};

Observers &observers() {
  static auto &only = *new Observers;
  return only;
}

template <typename List> List copyOf(const List &list) {
  std::lock_guard lock(observers().mutex);
  return list;
}

bool isType(aclRegisterCallbackType type) {
  return (type >= ACL_REG_TYPE_ACL_MODEL && type <= ACL_REG_TYPE_ACL_RETR) ||
         type == ACL_REG_TYPE_OTHER;
}

template <typename Function>
aclError add(const char *caller, std::vector<Observer<Function>> &list,
             aclRegisterCallbackType type, Function function, void *userData) {
  if (!isType(type) || !function)
    return fail(ACL_ERROR_INVALID_PARAM, caller,
                "type is %d, of 0 to 7 or 65535, or cbFunc is NULL", int(type));
  std::lock_guard lock(observers().mutex);
  for (const auto &observer : list)
    if (observer.type == type && observer.function == function)
      return fail(ACL_ERROR_INVALID_PARAM, caller, "cbFunc is registered for the type %d already",
                  int(type));
  list.push_back({type, function, userData});
  return ACL_SUCCESS;
}

template <typename Function>
aclError remove(const char *caller, std::vector<Observer<Function>> &list,
                aclRegisterCallbackType type, Function function) {
  std::lock_guard lock(observers().mutex);
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto &observer) {
    return observer.type == type && observer.function == function;
  });
  if (found == list.end())
    return fail(ACL_ERROR_INVALID_PARAM, caller, "cbFunc is not registered for the type %d",
                int(type));
  list.erase(found);
  return ACL_SUCCESS;
}

template <typename Function>
aclError name(const char *caller, std::map<std::string, Named<Function>> &list, const char *regName,
              Function function, void *args) {
  if (!regName || !*regName)
    return fail(ACL_ERROR_INVALID_PARAM, caller, "regName is NULL or empty");
  std::lock_guard lock(observers().mutex);
  if (function)
    list[regName] = {function, args};
  else if (list.erase(regName) == 0)
    return fail(ACL_ERROR_INVALID_PARAM, caller, "there is no function with the name %s", regName);
  return ACL_SUCCESS;
}

} // namespace

aclError callInitObservers(const std::string &settings) {
  for (const auto &observer : copyOf(observers().init))
    ACL_TRY(observer.function(settings.c_str(), settings.size(), observer.userData));
  return ACL_SUCCESS;
}

aclError callFinalizeObservers() {
  aclError first = ACL_SUCCESS;
  for (const auto &observer : copyOf(observers().finalize))
    if (aclError code = observer.function(observer.userData); code != ACL_SUCCESS && !first)
      first = code;
  return first;
}

void tellStreamState(aclrtStream stream, aclrtStreamState state) {
  for (const auto &[name, observer] : copyOf(observers().streams))
    observer.function(stream, state, observer.args);
}

void tellDeviceState(int32_t device, aclrtDeviceState state) {
  for (const auto &[name, observer] : copyOf(observers().devices))
    observer.function(device, state, observer.args);
}

} // namespace atc::ascend

using namespace atc::ascend;

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
                                 void *userData) {
  return add(__func__, observers().init, type, cbFunc, userData);
}
aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
  return remove(__func__, observers().init, type, cbFunc);
}
aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                     void *userData) {
  return add(__func__, observers().finalize, type, cbFunc, userData);
}
aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                       aclFinalizeCallbackFunc cbFunc) {
  return remove(__func__, observers().finalize, type, cbFunc);
}
aclError aclrtRegStreamStateCallback(const char *regName, aclrtStreamStateCallback callback,
                                     void *args) {
  return name(__func__, observers().streams, regName, callback, args);
}
aclError aclrtRegDeviceStateCallback(const char *regName, aclrtDeviceStateCallback callback,
                                     void *args) {
  return name(__func__, observers().devices, regName, callback, args);
}
