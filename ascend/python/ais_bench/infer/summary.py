# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of runs, and what is said of them."""

import json

import numpy as np

from openatc_toolkit import write_file


class ListInfo:
    """Minimum, maximum, mean, median and 99th percentile of times in milliseconds."""

    def __init__(self, times):
        values = np.asarray(list(times) or [0.0], dtype=np.float64)
        self.min, self.max = float(values.min()), float(values.max())
        self.mean, self.median = float(values.mean()), float(np.median(values))
        self.percentile = float(np.percentile(values, 99))

    def as_dict(self, times):
        return {"min": self.min, "max": self.max, "mean": self.mean, "median": self.median,
                "percentile(99%)": self.percentile, "count": len(times)}

    def __str__(self):
        return (f"min = {self.min:.6g}, max = {self.max:.6g}, mean = {self.mean:.6g}, "
                f"median = {self.median:.6g}, percentile(99%) = {self.percentile:.6g}")


class MemorySummary:
    """Times of copies to and from the device in this process."""

    h2d, d2h = [], []

    @classmethod
    def get_h2d_time_list(cls):
        return list(cls.h2d)

    @classmethod
    def get_d2h_time_list(cls):
        return list(cls.d2h)

    # As older versions write them.
    get_H2D_time_list, get_D2H_time_list = get_h2d_time_list, get_d2h_time_list

    @classmethod
    def reset(cls):
        cls.h2d.clear()
        cls.d2h.clear()


class RunTimes:
    """What InferSession.summary returns; times are milliseconds."""

    def __init__(self):
        self.exec_time_list = []


class Report:
    """Times and files of a command, for the lines at its end and the summary file."""

    def __init__(self, runs, batch):
        self.runs, self.batch = runs, max(batch, 1)
        self.files = []

    def add_files(self, inputs, outputs):
        self.files.append({"infiles": inputs, "outfiles": outputs})

    def lines(self, everything):
        compute = ListInfo(self.runs)
        yield "-----------------Performance Summary------------------"
        if everything:
            yield f"H2D_latency (ms): {ListInfo(MemorySummary.h2d)}"
        yield f"NPU_compute_time (ms): {compute}"
        if everything:
            yield f"D2H_latency (ms): {ListInfo(MemorySummary.d2h)}"
        yield (f"throughput 1000*batchsize.mean({self.batch})/NPU_compute_time.mean"
               f"({compute.mean:.6g}): {self.throughput():.6g}")
        yield "------------------------------------------------------"

    def throughput(self):
        mean = ListInfo(self.runs).mean
        return 1000 * self.batch / mean if mean else 0.0

    def write(self, path):
        data = {"filesinfo": {str(i): entry for i, entry in enumerate(self.files)},
                "NPU_compute_time": ListInfo(self.runs).as_dict(self.runs),
                "H2D_latency": ListInfo(MemorySummary.h2d).as_dict(MemorySummary.h2d),
                "D2H_latency": ListInfo(MemorySummary.d2h).as_dict(MemorySummary.d2h),
                "throughput": self.throughput()}
        write_file(path, json.dumps(data, indent=2) + "\n")
