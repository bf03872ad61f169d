//===-- TemporaryRun.cpp ------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/TemporaryRun.h"

#include "ascend/src/Integer.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace atc::ascend {

namespace {

/// The first argument is the pattern of the folder's name, the others are the program's. Standard
/// input and descriptor 3 are a socket, at whose other end this process is: it ends when the
/// process does, and then `read` fails. Nobody may be there to be told the exit code.
constexpr const char *script = R"(
trap : PIPE
folder=$(mktemp -d "$1") || exit 1
shift
echo "$folder" >&3
for argument; do
  shift
  case $argument in
  *@FOLDER@*) argument=${argument%%@FOLDER@*}$folder${argument#*@FOLDER@} ;;
  esac
  set -- "$@" "$argument"
done
if read -r line; then
  "$@" >"$folder/said" 2>&1 </dev/null 3>&-
  echo $? 2>/dev/null >&3
  read -r line
fi
rm -rf "$folder"
)";

} // namespace

TemporaryRun::TemporaryRun(const std::vector<std::string> &command) {
  auto failed = [&](int error) {
    // The command, which has the options of a program, is too long.
    reason = error == E2BIG ? "an option is longer than a program can be given"
                            : std::string("/bin/sh cannot be started: ") + std::strerror(error);
  };
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    failed(errno);
    return;
  }
  socket = ends[0];
  const char *base = getenv("TMPDIR");
  const std::string where = base && *base ? base : "/tmp";
  const std::string pattern = where + "/openatc-op-XXXXXX";
  std::vector<const char *> arguments{"sh", "-c", script, "sh", pattern.c_str()};
  for (const std::string &part : command)
    arguments.push_back(part.c_str());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
  // In a process group of its own the shell does not get what a terminal sends to this process.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawn(&shell, "/bin/sh", &actions, &attributes,
                                const_cast<char *const *>(arguments.data()), environ);
  if (error != 0) {
    shell = -1;
    failed(error);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  path = readLine();
  if (path.empty() && reason.empty())
    reason = "a temporary folder cannot be made in " + where;
}

TemporaryRun::~TemporaryRun() {
  if (socket >= 0)
    close(socket);
  // The program may have waited for all of its children, this one too.
  while (shell > 0 && waitpid(shell, nullptr, 0) < 0 && errno == EINTR)
    ;
}

std::string TemporaryRun::readLine() const {
  std::string line;
  for (char c; true;) {
    const ssize_t count = recv(socket, &c, 1, 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count != 1)
      return "";
    if (c == '\n')
      return line;
    line += c;
  }
}

int TemporaryRun::run() {
  while (send(socket, "\n", 1, MSG_NOSIGNAL) < 0)
    if (errno != EINTR)
      return 127;
  return integerOf<int>(readLine()).value_or(127);
}

} // namespace atc::ascend
