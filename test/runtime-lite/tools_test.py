#!/usr/bin/env python3
# ===-- tools_test.py - om-run and om-dump as a user calls them --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: tools_test.py <om-run> <om-dump> <golden .om>"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

OM_RUN, OM_DUMP, GOLDEN = sys.argv[1:4]
del sys.argv[1:4]


def call(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def expected(x):
    """What the golden model computes (TestModel.cpp)."""
    c = np.arange(48, dtype=np.float32)
    y = x * (0.5 + c) + -0.25 * c
    packed = y.reshape(-1)[:60].reshape(1, 5, 3, 4)
    return y, y.sum(axis=1), packed


class OmTools(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = Path(self.folder.name)
        self.x = (np.arange(64 * 48, dtype=np.float32).reshape(64, 48) % 29) - 14
        np.save(self.dir / "x.npy", self.x)

    def tearDown(self):
        self.folder.cleanup()

    def check_outputs(self, *args):
        code, out, err = call(OM_RUN, GOLDEN, "--output", self.dir / "out", *args)
        self.assertEqual((code, err), (0, ""))
        _, sums, packed = expected(self.x)
        np.testing.assert_allclose(np.load(self.dir / "out/sums.npy"), sums, rtol=1e-5)
        np.testing.assert_array_equal(np.load(self.dir / "out/picked_relu.npy"), np.maximum(packed, 0))
        return out

    def test_input_by_position(self):
        out = self.check_outputs("--input", self.dir / "x.npy")
        self.assertIn("output sums f32[64]", out)
        self.assertIn("latency, median", out)

    def test_input_by_name(self):
        self.check_outputs("--input", f"x={self.dir}/x.npy", "--threads", "2")

    def test_raw_input(self):
        self.x.tofile(self.dir / "x.bin")
        self.check_outputs("--input", self.dir / "x.bin", "--verify")

    def test_no_input_is_zeros(self):
        self.x[:] = 0
        self.check_outputs()

    def test_json(self):
        code, out, _ = call(OM_RUN, GOLDEN, "--loop", 7, "--warmup", 2, "--threads", 1, "--profile", "--json")
        self.assertEqual(code, 0)
        data = json.loads(out)
        self.assertEqual((data["model"], data["threads"], data["loop"]), ("test", 1, 7))
        self.assertEqual(data["cpu_level"], "x86-64")
        self.assertEqual(data["weights_bytes"], 448)
        self.assertGreater(data["peak_memory_bytes"], data["arena_bytes"])
        latency = data["latency_ms"]
        self.assertTrue(0 < latency["min"] <= latency["median"] <= latency["p90"])
        self.assertGreater(data["load_ms"], 0)
        self.assertGreater(data["first_run_ms"], 0)
        self.assertEqual([row["name"] for row in data["profile"]], ["scale", "sum", "pack", "relu"])
        self.assertAlmostEqual(sum(row["share"] for row in data["profile"]), 1, places=6)

    def test_profile_table(self):
        code, out, _ = call(OM_RUN, GOLDEN, "--profile")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^relu +unpack_relu +[\d.]+ +[\d.]+% +[\d.]+$")

    def test_dump(self):
        code, _, err = call(OM_RUN, GOLDEN, "--input", self.dir / "x.npy", "--dump", self.dir / "dump")
        self.assertEqual((code, err), (0, ""))
        y, sums, packed = expected(self.x)
        found = {path.name: np.load(path) for path in (self.dir / "dump").iterdir()}
        self.assertEqual(set(found), {"y.npy", "sums.npy", "packed.npy", "picked_relu.npy"})
        np.testing.assert_allclose(found["y.npy"], y, rtol=1e-6)
        np.testing.assert_allclose(found["packed.npy"], packed, rtol=1e-6)

    def refused(self, code_word, *args):
        code, out, err = call(OM_RUN, GOLDEN, "--output", self.dir / "out", *args)
        self.assertEqual(code, 1)
        self.assertRegex(err, "(?m)^" + code_word + ": .*[.]$")
        self.assertFalse((self.dir / "out").exists())
        return err

    def test_wrong_inputs(self):
        np.save(self.dir / "type.npy", self.x.astype(np.float64))
        np.save(self.dir / "shape.npy", self.x.reshape(48, 64))
        np.save(self.dir / "rank.npy", self.x.reshape(-1))
        np.save(self.dir / "fortran.npy", np.asfortranarray(self.x))
        np.save(self.dir / "big-endian.npy", self.x.astype(">f4"))
        (self.dir / "short.bin").write_bytes(b"abc")
        (self.dir / "text.npy").write_text("no array")
        (self.dir / "cut.npy").write_bytes((self.dir / "x.npy").read_bytes()[:1000])
        self.assertIn("'<f8'", self.refused("E10014", "--input", self.dir / "type.npy"))
        self.assertIn("[48,64]", self.refused("E10014", "--input", self.dir / "shape.npy"))
        self.refused("E10049", "--input", self.dir / "rank.npy")
        self.refused("E10014", "--input", self.dir / "fortran.npy")
        self.refused("E10014", "--input", self.dir / "big-endian.npy")
        self.refused("E10014", "--input", self.dir / "short.bin")
        self.refused("E13005", "--input", self.dir / "text.npy")
        self.refused("E10014", "--input", self.dir / "cut.npy")
        self.refused("E10410", "--input", self.dir / "none.npy")
        self.refused("E13001", "--input", self.dir)
        self.assertIn("'x'", self.refused("E10017", "--input", f"y={self.dir}/x.npy"))
        # All faults at once.
        err = self.refused("E10014", "--input", f"{self.dir}/shape.npy,{self.dir}/x.npy,z=a.npy")
        self.assertEqual(len(err.splitlines()), 3)

    def test_wrong_models(self):
        broken = self.dir / "broken.om"
        good = Path(GOLDEN).read_bytes()
        for tool in (OM_RUN, OM_DUMP):
            for data in (b"", b"IMOD" + bytes(100), good[:5000], b"\1" + good[1:], bytes(5000)):
                broken.write_bytes(data)
                code, out, err = call(tool, broken)
                self.assertEqual((code, out), (1, ""))
                self.assertRegex(err, "^E10041: .*[.]\n$")
            code, _, err = call(tool, self.dir / "none.om")
            self.assertEqual(code, 1)
            self.assertRegex(err, "^E10410: ")
        # Weights are checked by both tools, by one of them unless told not to.
        weights = bytearray(good)
        weights[4096] ^= 1
        broken.write_bytes(weights)
        self.assertEqual(call(OM_RUN, broken, "--no-verify")[0], 0)
        self.assertEqual(call(OM_RUN, broken)[0], 1)
        self.assertEqual(call(OM_DUMP, broken)[0], 1)

    def test_usage(self):
        for tool in (OM_RUN, OM_DUMP):
            self.assertEqual(call(tool, "--help")[0], 0)
            self.assertEqual(call(tool, "--version")[0], 0)
            self.assertEqual(call(tool)[0], 1)
            self.assertEqual(call(tool, GOLDEN, "--no-such-flag")[0], 1)
        self.assertEqual(call(OM_RUN, GOLDEN, "--threads", "0")[0], 1)
        self.assertEqual(call(OM_RUN, GOLDEN, "--loop", "-1")[0], 1)
        self.assertEqual(call(OM_RUN, GOLDEN, "--loop", "many")[0], 1)

    def test_dump_tool(self):
        code, out, _ = call(OM_DUMP, GOLDEN, "--tensors")
        self.assertEqual(code, 0)
        for words in ("model         test", "schema        1.0", "x  f32[64,48]", "blocked by 4",
                      "kernel scale_rows", "features: sse2"):
            self.assertIn(words, out)
        code, out, _ = call(OM_DUMP, GOLDEN, "--json")
        data = json.loads(out)
        self.assertEqual((code, data["schema"]), (0, {"major": 1, "minor": 0}))
        self.assertEqual([s["kind"] for s in data["segments"]], ["weights", "code"])
        self.assertEqual(data["file_bytes"], Path(GOLDEN).stat().st_size)
        self.assertEqual(data["tensors"][4]["strides"], [240, 120, 24, 4, 1])
        self.assertEqual(data["schedule"][0]["args"][2],
                         {"space": "weights", "index": 0, "offset": 256, "size": 192})


if __name__ == "__main__":
    unittest.main()
