#!/usr/bin/env python3
# ===-- tools_test.py - om-run and om-dump as a user calls them --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: tools_test.py <om-run> <om-dump> <golden .om> <runtime-golden-writer> <runtime library>"""

import json
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Map, Raw, Session  # noqa: E402

OM_RUN, OM_DUMP, GOLDEN, WRITER, LIBRARY = sys.argv[1:6]
del sys.argv[1:6]
# Python cannot load a library of a sanitizer build.
INSTRUMENTED = b"__asan_init" in Path(LIBRARY).read_bytes()


def call(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def blocks(pid, number):
    """Whether a process takes a signal by waiting for it: then no handler runs."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigBlk:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def expected(x):
    """What the golden model computes (TestModel.cpp)."""
    c = np.arange(48, dtype=np.float32)
    y = x * (0.5 + c) + -0.25 * c
    packed = y.reshape(-1)[:60].reshape(1, 5, 3, 4)
    return y, y.sum(axis=1), packed


class HostPrograms(unittest.TestCase):
    """A model with values of all kinds (valuesModel in GoldenWriter.cpp)."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = Path(cls.folder.name)
        cls.model = cls.dir / "values.om"
        assert call(WRITER, cls.model, "values") == (0, "", "")
        cls.x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.save(cls.dir / "x.npy", cls.x)
        np.save(cls.dir / "words.npy", np.array(["a", "häß", "", "x" * 9]))
        np.save(cls.dir / "bytes.npy", np.array([b"one", b"three"]))
        np.save(cls.dir / "half.npy", np.array([1, 2], "<u2"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def inputs(self, **files):
        files = {"x": "x", "words": "words", "half": "half", **files}
        return ",".join(f"{name}={self.dir}/{file}.npy" for name, file in files.items())

    def run_model(self, inputs, *args):
        out = self.dir / "out"
        code, text, err = call(OM_RUN, self.model, "--input", inputs, "--output", out, *args)
        self.assertEqual((code, err), (0, ""))
        return out, text

    def test_om_run(self):
        out, text = self.run_model(self.inputs() + f",s={self.dir}/x.npy,s={self.dir}/x.npy")
        np.testing.assert_array_equal(np.load(out / "y.npy"), self.x + 1)
        for i in range(3):
            np.testing.assert_array_equal(np.load(out / f"longer.{i}.npy"), self.x)
        self.assertFalse((out / "longer.3.npy").exists())
        twice = [word.decode() for word in np.load(out / "twice.npy")]
        self.assertEqual(twice, ["aa", "häßhäß", "", "x" * 18])
        self.assertEqual(np.load(out / "half.npy").tobytes(), b"\1\0\2\0")
        self.assertEqual(np.load(out / "nibbles.npy").tolist(), [1, 2, -1])
        self.assertIn("output y f32[2,3]  min 1  max 6", text)
        self.assertIn("output twice string[4]  'aa'", text)

    def test_om_run_json_says_shapes(self):
        _, text = self.run_model(self.inputs(words="bytes"), "--json", "--loop", "2", "--profile")
        figures = json.loads(text)
        self.assertEqual({each["name"]: each["dims"] for each in figures["outputs"]},
                         {"y": [2, 3], "twice": [2], "longer.0": [2, 3], "half": [2],
                          "nibbles": [3]})
        self.assertEqual([row["kernel"] for row in figures["profile"]],
                         ["host_add_one", "host_join", "host_append", "host_forward"])

    def test_om_run_errors(self):
        np.save(self.dir / "wide.npy", np.zeros((2, 4), np.float32))
        np.save(self.dir / "double.npy", np.zeros((2, 3)))
        for inputs, said in ((self.inputs(x="wide"), "E10014: input 0 ('x') must be a tensor of f32"
                              " with dims [?, 3]"),
                             (self.inputs(x="double"), "E10014"),
                             (self.inputs(words="x"), "E13005"),
                             (f"x={self.dir}/x.npy", "E10014: input 'words' has strings, and none are made up")):
            code, _, err = call(OM_RUN, self.model, "--input", inputs)
            self.assertEqual(code, 1)
            self.assertIn(said, err)
        code, _, err = call(OM_RUN, self.model, "--input", self.inputs(), "--dump", self.dir)
        self.assertEqual((code, err[:6]), (1, "E10057"))

    def test_om_run_ceilings(self):
        given = ["--input", self.inputs()]
        golden = Path(GOLDEN).parent / "schema-1.3.om"  # a loop of three iterations
        for model, *args, said in (
                (self.model, *given, "--max_memory=1", "E10058: '"),
                (self.model, *given, "--max-time=0.000001", "E10058: the run has taken longer"),
                (golden, "--max_iterations", "2", "E10058: the loop around node 'node_host_"),
                (self.model, "--max_memory=many", "E10001: "),
                (self.model, "--max_time=-1", "E10001: ")):
            code, _, err = call(OM_RUN, model, *args)
            self.assertEqual(code, 1)
            self.assertIn(said, err)
            self.assertEqual(err.count("\n"), 1)
        # The inputs of om-run itself, before they are made.
        np.save(self.dir / "large.npy", np.zeros((70000, 3), np.float32))
        for args, said in (
                (("--input", self.inputs(x="large"), "--max_memory=64KB"),
                 "E10058: 'x' f32[70000,3] needs 840.0 KB of memory beside"),
                (("--input", f"words={self.dir}/words.npy", "--shape=x:1000000000,3", "--random",
                  "--max_memory=64MB"), "E10058: 'x' f32[1000000000,3] needs 12.0 GB of memory")):
            code, _, err = call(OM_RUN, self.model, *args)
            self.assertEqual((code, err.count("\n")), (1, 1))
            self.assertIn(said, err)
        self.run_model(self.inputs(), "--max_memory=64MB", "--max_time", "100")
        self.assertEqual(call(OM_RUN, golden, "--max_iterations=3")[0], 0)

    def test_om_run_is_interrupted(self):
        run = subprocess.Popen([OM_RUN, GOLDEN, "--warmup", "4000000000"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        # It waits for the signal from its first instructions on.
        while not blocks(run.pid, signal.SIGINT):
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
        self.assertIn("E19998: om-run was ended by SIGINT", err)
        self.assertEqual(run.returncode, -signal.SIGINT)

    def test_om_dump(self):
        code, text, _ = call(OM_DUMP, self.model)
        self.assertEqual(code, 0)
        for line in ("input %0  x  f32[?,3]", "input %2  s  sequence of f32 or none",
                     "%6 = host_add_one(%0)  'node_host_add_one'", "output %6  y  f32[*]"):
            self.assertIn(line, text)
        host = json.loads(call(OM_DUMP, "--json", self.model)[1])["host"]
        self.assertEqual([step["kind"] for step in host["blocks"][0]], ["call"] * 4)
        self.assertEqual(host["inputs"][0]["dims"], [-1, 3])
        golden = Path(GOLDEN).parent / "schema-1.3.om"
        text = call(OM_DUMP, golden)[1]
        for line in ("  while %", "    if %", "    else\n      %", " = part 0(%", "    release %"):
            self.assertIn(line, text)

    @unittest.skipIf(INSTRUMENTED, "the runtime is instrumented")
    def test_run_values(self):
        session = Session(LIBRARY, self.model, threads=2)
        self.assertFalse(session.fixed)
        for rows in (1, 0, 7):
            x = np.arange(rows * 3, dtype="f4").reshape(rows, 3)
            half = Raw(16, np.array([7, 8, 9], "u2"), (3,))
            out = session.run_values({
                "x": x, "words": np.array(["ä", b"b\0c"], object), "half": half,
                "s": [x, x[:0]], "m": Map(np.array(["k"]), np.array([3], "i8"))})
            np.testing.assert_array_equal(out["y"], x + 1)
            self.assertEqual(out["twice"].tolist(), ["ää".encode(), b"b\0cb\0c"])
            self.assertEqual([each.shape for each in out["longer"]], [x.shape, (0, 3), x.shape])
            self.assertEqual((out["map"].keys.tolist(), out["map"].values.tolist()), ([b"k"], [3]))
            self.assertEqual((out["half"].dtype, out["half"].bits.tolist()), (16, [7, 8, 9]))
            self.assertEqual((out["nibbles"].dtype, out["nibbles"].dims), (22, (3,)))
        given = {"x": x, "words": np.array(["a"]), "half": half}
        self.assertIsNone(session.run_values(given)["map"])
        for wrong, said in (({"x": x[:, :2]}, "[7, 2]"), ({"half": x}, "bf16"),
                            ({"s": x}, "sequence"), ({"words": None}, "no value")):
            with self.assertRaisesRegex(RuntimeError, said.replace("[", r"\[")):
                session.run_values({**given, **wrong})
        with self.assertRaises(KeyError):
            session.run_values({"z": x})
        session.close()

    @unittest.skipIf(INSTRUMENTED, "the runtime is instrumented")
    def test_run_values_of_a_static_model(self):
        session = Session(LIBRARY, GOLDEN)
        x = np.ones((64, 48), np.float32)
        _, sums, packed = expected(x)
        out = session.run_values({"x": x})
        np.testing.assert_allclose(out["sums"], sums, rtol=1e-5)
        np.testing.assert_array_equal(out["picked/relu"], np.maximum(packed, 0))
        session.close()


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
        # All errors at once.
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
        code, out, err = call(WRITER, "--help")
        self.assertEqual((code, out.startswith("usage: "), err), (0, True, ""))
        self.assertEqual(call(WRITER, "--no-such-flag")[0], 1)
        self.assertFalse(Path("--help").exists() or Path("--no-such-flag").exists())
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
