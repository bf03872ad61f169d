# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

from ais_bench.infer.command import main

sys.exit(main())
