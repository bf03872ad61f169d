//===-- Request.h - what a client asks a tool server for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_TOOL_SERVER_REQUEST_H
#define OPENATC_TEST_TOOL_SERVER_REQUEST_H

#include <cstdint>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace atc::test {

/// The exit code of a run that could not begin.
inline constexpr int kBrokenRequest = 125;

/// The arguments, the environment and the limits of a process. The text holds strings that end with
/// a zero: the current folder, the arguments, and the variables of the environment.
struct Request {
  uint32_t arguments = 0;
  mode_t mask = 0;
  rlimit limits[RLIM_NLIMITS] = {};
  std::string text;

  void add(const char *string) { text.append(string, strlen(string) + 1); }
};

/// The fixed part of a request, which is sent before the text, together with the standard streams.
struct RequestHead {
  uint32_t arguments;
  uint32_t mask;
  uint64_t bytes;
  rlimit limits[RLIM_NLIMITS];
};

inline sockaddr_un addressOf(const char *path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  return address;
}

/// Returns a listening socket, or -1. The path appears when clients can connect.
inline int listenAt(const char *path) {
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::string early = std::string(path) + ".new";
  const sockaddr_un address = addressOf(early.c_str());
  if (listener < 0 ||
      bind(listener, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0 ||
      listen(listener, 64) != 0 || rename(early.c_str(), path) != 0)
    return -1;
  return listener;
}

/// Returns a connection, or -1.
inline int connectTo(const char *path) {
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = addressOf(path);
  if (connection >= 0 &&
      connect(connection, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0)
    return connection;
  if (connection >= 0)
    close(connection);
  return -1;
}

/// A message of one head and three file descriptors.
struct Envelope {
  RequestHead head = {};
  iovec part = {&head, sizeof head};
  alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
  msghdr message = {};

  Envelope() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
};

/// Sends a request with the standard streams of this process; false where one of them is closed.
inline bool send(int connection, const Request &request) {
  Envelope envelope;
  envelope.head.arguments = request.arguments;
  envelope.head.mask = request.mask;
  envelope.head.bytes = request.text.size();
  memcpy(envelope.head.limits, request.limits, sizeof request.limits);
  cmsghdr *part = CMSG_FIRSTHDR(&envelope.message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(3 * sizeof(int));
  const int streams[3] = {0, 1, 2};
  memcpy(CMSG_DATA(part), streams, sizeof streams);
  if (sendmsg(connection, &envelope.message, MSG_NOSIGNAL) != sizeof envelope.head)
    return false;
  for (size_t at = 0; at < request.text.size();) {
    const ssize_t sent =
        ::send(connection, request.text.data() + at, request.text.size() - at, MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    at += sent;
  }
  return true;
}

/// Receives a request. The streams belong to the caller, also those of a request that is not whole.
inline bool receive(int connection, Request &request, int (&streams)[3]) {
  Envelope envelope;
  if (recvmsg(connection, &envelope.message, MSG_CMSG_CLOEXEC) != sizeof envelope.head)
    return false;
  const cmsghdr *part = CMSG_FIRSTHDR(&envelope.message);
  if (!part || part->cmsg_len != CMSG_LEN(3 * sizeof(int)))
    return false;
  memcpy(streams, CMSG_DATA(part), sizeof streams);
  request.arguments = envelope.head.arguments;
  request.mask = envelope.head.mask;
  memcpy(request.limits, envelope.head.limits, sizeof request.limits);
  request.text.resize(envelope.head.bytes);
  for (size_t at = 0; at < request.text.size();) {
    const ssize_t got = recv(connection, request.text.data() + at, request.text.size() - at, 0);
    if (got <= 0)
      return false;
    at += got;
  }
  return true;
}

} // namespace atc::test

#endif // OPENATC_TEST_TOOL_SERVER_REQUEST_H
