//===-- Errors.cpp ------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Errors.h"
#include "ascend/src/Integer.h"

#include "support/PrintableText.h"

#include "acl/acl.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace atc::ascend {
namespace {

/// The messages of a thread. They have room of their own: a string would need memory, for its
/// characters and for its destructor at the end of the thread, when there is none.
struct Messages {
  char last[4096];  ///< "" where there is none
  char taken[4096]; ///< what aclGetRecentErrMsg has returned
  aclError code;

  /// Keeps what fits of a message.
  void set(std::string_view message) {
    const size_t size = std::min(message.size(), sizeof(last) - 1);
    memcpy(last, message.data(), size);
    last[size] = 0;
    if (size < message.size())
      memcpy(last + size - 3, "...", 3);
  }
  void setPlain() { snprintf(last, sizeof(last), "[%d] no memory for a message", code); }
};

Messages &messages() {
  constinit thread_local Messages result = {};
  return result;
}

std::string formatted(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0)
    return format;
  std::string text(static_cast<size_t>(length) + 1, '\0');
  vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  return text;
}

} // namespace

aclError fail(aclError code, const char *function, const char *format, ...) noexcept {
  Messages &own = messages();
  own.code = code;
  va_list arguments;
  va_start(arguments, format);
  try {
    // Names in it may come from files that anybody has written.
    own.set("[" + std::to_string(code) + "] " + function + ": " +
            printable(formatted(format, arguments)));
  } catch (const std::bad_alloc &) {
    own.setPlain();
  }
  va_end(arguments);
  return code;
}

aclError failWithoutMemory(const char *function) noexcept {
  return fail(ACL_ERROR_BAD_ALLOC, function,
              "there is no memory for what it keeps; free some, or give the process more");
}

void setMessage(const std::string &message, aclError code) noexcept {
  Messages &own = messages();
  own.code = code;
  own.set(message);
  if (message.empty())
    own.setPlain();
}

std::string takeMessage() noexcept {
  Messages &own = messages();
  try {
    std::string result(own.last);
    *own.last = 0;
    return result;
  } catch (const std::bad_alloc &) {
    return {};
  }
}

aclError lastCode() { return messages().code; }

aclError takeLastCode() { return std::exchange(messages().code, ACL_SUCCESS); }

} // namespace atc::ascend

using namespace atc::ascend;

const char *aclGetRecentErrMsg() {
  Messages &own = messages();
  if (!*own.last)
    return nullptr;
  memcpy(own.taken, own.last, sizeof(own.taken));
  *own.last = 0;
  return own.taken;
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
               const char *fmt, ...) {
  static const int lowest = environmentInteger("ASCEND_GLOBAL_LOG_LEVEL").value_or(ACL_ERROR);
  if (!fmt || int(logLevel) < lowest)
    return;
  static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  const char *name = unsigned(logLevel) < 4 ? names[logLevel] : "LOG";
  va_list arguments;
  va_start(arguments, fmt);
  // Its open arguments leave it without an entry (ascend/entry/Entries.h).
  try {
    const std::string text = formatted(fmt, arguments);
    fprintf(stderr, "[%s] %s:%u %s: %s\n", name, file ? file : "", line, func ? func : "",
            text.c_str());
  } catch (const std::bad_alloc &) {
  }
  va_end(arguments);
}
