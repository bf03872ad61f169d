# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

from openatc_toolkit import end_on_signals

end_on_signals("ais_bench")

from ais_bench.infer.command import main  # noqa: E402 signals may come while it is read

sys.exit(main())
