#!/usr/bin/env bash
# Configures and builds into build/: scripts/build.sh [ninja targets]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh
if [ ! -f build/build.ninja ]; then
  # Debian's tools by name: several CMakes and Ninjas may be on the PATH.
  /usr/bin/cmake --preset release -DCMAKE_MAKE_PROGRAM=/usr/bin/ninja
fi
/usr/bin/ninja -C build "$@"
