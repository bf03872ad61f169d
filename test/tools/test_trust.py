# om-sign and what om-run refuses: each refusal has an error of its own, ends with 1 and
# runs nothing. Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import pathlib
import stat
import struct
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "common"), str(HERE.parent / "robustness")]

from om_file import OmFile, xxh64  # noqa: E402
from openatc_tools import call, tool  # noqa: E402

OM_SIGN = pathlib.Path(tool("om-run")).with_name("om-sign")
pytestmark = pytest.mark.skipif(not OM_SIGN.exists(), reason="built without libsodium: no om-sign")

# Weights, code and NPU programs.
GOLDEN = HERE.parent / "runtime-lite" / "golden" / "schema-1.2.om"
# Field numbers of om.fbs.
SCHEMA_MAJOR, SCHEMA_MINOR = 0, 1


def sign(*args):
    return call(OM_SIGN, *args)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A folder with the key pairs `vendor` and `other`."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("vendor", "other"):
        assert sign("keygen", folder / name) == (0, "", "")
    return folder


@pytest.fixture
def model(tmp_path, keys):
    """The golden model, signed by the vendor."""
    path = tmp_path / "net.om"
    assert sign("sign", GOLDEN, "--key", keys / "vendor", "-o", path) == (0, "", "")
    return path


def trusting(keys, name="vendor"):
    return ["--require_signature", f"--trusted_key={keys / name}.pub"]


class Run:
    """om-run; its outputs are there only when the model has run."""

    def __init__(self, path, *flags):
        self.outputs = path.parent / "outputs"
        self.code, self.out, self.err = call(tool("om-run"), path, "--output", self.outputs,
                                             *flags)

    def assert_refused(self, code, *words):
        assert self.code == 1
        line, = self.err.splitlines()
        assert line.startswith(code + ": "), line
        for word in words:
            assert word in line
        assert self.out == "" and not self.outputs.exists()
        return line

    def assert_ran(self):
        assert (self.code, self.err) == (0, "")
        sums, quadrupled = (np.load(self.outputs / f"{name}.npy")
                            for name in ("sums", "quadrupled"))
        assert (sums != 0).all() and (quadrupled == 4 * sums).all()


def segments(path):
    """(kind, offset, size, hash) as om-dump says it."""
    code, out, err = call(tool("om-dump"), path, "--json")
    assert code == 0, err
    return [(each["kind"], each["offset"], each["size"], each["hash"])
            for each in json.loads(out)["segments"]]


def flip(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x10
    path.write_bytes(data)


# --- what may run ----------------------------------------------------------------------------

def test_signed_model_runs(model, keys):
    Run(model, *trusting(keys)).assert_ran()
    Run(model, *trusting(keys, "other"), f"--trusted_key={keys}/vendor.pub").assert_ran()
    Run(model, *trusting(keys), "--no-verify").assert_ran()
    Run(model).assert_ran()
    code, out, err = sign("verify", model, "--key", keys / "vendor.pub")
    assert (code, err) == (0, "") and "good" in out


# --- what may not ----------------------------------------------------------------------------

@pytest.mark.parametrize("kind, words", [("weights", "the weights of segment 0"),
                                         ("code", "the code bytes of segment 1"),
                                         ("npu", "the NPU programs of segment 2")])
def test_flipped_byte_of_a_segment(model, keys, kind, words):
    offset, size = next(each[1:3] for each in segments(model) if each[0] == kind)
    good = model.read_bytes()
    for place in (offset, offset + size // 2, offset + size - 1):
        model.write_bytes(good)
        flip(model, place)
        for flags in ([], trusting(keys)):
            Run(model, *flags).assert_refused("E10041", "damaged", words)
        assert sign("verify", model, "--key", keys / "vendor.pub")[0] == 1
        code, _, err = sign("sign", model, "--key", keys / "vendor")
        assert code == 1 and words in err


@pytest.mark.parametrize("number", range(3))
def test_segment_changed_with_right_hashes(model, keys, number):
    _, offset, size, old = segments(model)[number]
    flip(model, offset)
    file = OmFile(model.read_bytes())
    place = file.data.index(struct.pack("<Q", old), 0, file.length)
    file.put("<Q", place, xxh64(bytes(file.data[offset:offset + size])))
    model.write_bytes(file.bytes())
    Run(model, *trusting(keys)).assert_refused("E10041", "signature is wrong")
    code, _, err = sign("verify", model, "--key", keys / "vendor.pub")
    assert code == 1 and "signature is wrong" in err


def test_flipped_byte_of_header_and_signature(model, keys):
    good = model.read_bytes()
    length = OmFile(good).length
    for place in (length // 2, length, length + 8 + 100):
        model.write_bytes(good)
        flip(model, place)
        Run(model).assert_refused("E10041", "damaged")


def test_missing_signature(tmp_path, keys):
    path = tmp_path / "net.om"
    path.write_bytes(GOLDEN.read_bytes())
    Run(path, *trusting(keys)).assert_refused("E10041", "not signed")
    code, _, err = sign("verify", path, "--key", keys / "vendor.pub")
    assert code == 1 and "not signed" in err


def test_foreign_signature(model, keys):
    Run(model, *trusting(keys, "other")).assert_refused("E10041", "not trusted")
    assert sign("sign", model, "--key", keys / "other")[0] == 0
    Run(model, *trusting(keys)).assert_refused("E10041", "not trusted")


@pytest.mark.parametrize("field, step", [(SCHEMA_MAJOR, 1), (SCHEMA_MINOR, 100), (SCHEMA_MAJOR, -1)])
def test_other_schema_version(model, keys, field, step):
    file = OmFile(model.read_bytes())
    place = file.model.place(field)
    value, = struct.unpack_from("<H", file.data, place)
    file.put("<H", place, value + step)
    model.write_bytes(file.bytes())
    for flags in ([], trusting(keys), ["--refuse_native_code"]):
        Run(model, *flags).assert_refused("E10041", "schema version", "compile the model again")


def test_native_code(model, keys):
    for flags in ([], trusting(keys)):
        Run(model, "--refuse_native_code", *flags).assert_refused("E10041", "native code", "refuse")


def test_network_on_the_npu_alone(tmp_path, keys):
    """A model compiled for an NPU has no native code where no launch is one of the CPU."""
    (tmp_path / "net.mlir").write_text("""
func.func @main(%a: tensor<32x64xf32> {om.name = "a"}) -> (tensor<32x64xf32> {om.name = "y"}) {
  %0 = graph.add %a, %a : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = graph.relu %0 : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}
""")
    code, out, err = call(tool("atc"), f"--model={tmp_path}/net.mlir", f"--output={tmp_path}/net",
                          "--soc_version=Ascend310P3")
    assert code == 0, out + err
    path = tmp_path / "net.om"
    assert sign("sign", path, "--key", keys / "vendor") == (0, "", "")
    assert {each[0] for each in segments(path)} <= {"weights", "npu"}
    a = np.arange(-1024, 1024, dtype=np.float32).reshape(32, 64) / 64
    np.save(tmp_path / "a.npy", a)
    run = Run(path, "--refuse_native_code", *trusting(keys), "--input", tmp_path / "a.npy")
    assert (run.code, run.err) == (0, "")
    np.testing.assert_array_equal(np.load(run.outputs / "y.npy"), np.maximum(a + a, 0))
    # In place of programs that were signed others do not run either.
    (run.outputs / "y.npy").unlink()
    run.outputs.rmdir()
    offset = next(each[1] for each in segments(path) if each[0] == "npu")
    flip(path, offset + 9)
    Run(path, "--refuse_native_code").assert_refused("E10041", "the NPU programs of segment")


def test_every_refusal_has_its_own_error(model, keys, tmp_path):
    unsigned = tmp_path / "unsigned.om"
    unsigned.write_bytes(GOLDEN.read_bytes())
    lines = [Run(unsigned, *trusting(keys)), Run(model, *trusting(keys, "other")),
             Run(model, "--refuse_native_code")]
    flip(model, segments(model)[2][1])
    lines.append(Run(model))
    errors = {run.err.replace(str(unsigned), "").replace(str(model), "") for run in lines}
    assert len(errors) == 4 and all(run.code == 1 for run in lines)


# --- wrong use -------------------------------------------------------------------------------

def test_options_that_go_together(model, keys):
    Run(model, "--require_signature").assert_refused("E10057", "--trusted_key")
    Run(model, f"--trusted_key={keys}/vendor.pub").assert_refused("E10057", "--require_signature")


def test_wrong_keys(model, keys, tmp_path):
    def refused(path, code, word):
        Run(model, "--require_signature", f"--trusted_key={path}").assert_refused(code, word)

    refused(keys / "none.pub", "E13001", "cannot open")
    refused(keys / "vendor", "E13005", "secret key")
    text = (keys / "vendor.pub").read_text()
    for wrong in ("", "hello", text[:-5], text + "more", text.replace("public", "pirate")):
        (tmp_path / "wrong.pub").write_text(wrong)
        refused(tmp_path / "wrong.pub", "E13005", "no public key file")


def test_keygen(keys, tmp_path):
    assert stat.S_IMODE((keys / "vendor").stat().st_mode) == 0o600
    mark, digits = (keys / "vendor.pub").read_text().split()
    assert mark == "openatc-ed25519-public" and len(bytes.fromhex(digits)) == 32
    before = (keys / "vendor").read_bytes()
    code, out, err = sign("keygen", keys / "vendor")
    assert (code, out) == (1, "") and err.startswith("E13004: ")
    assert (keys / "vendor").read_bytes() == before
    assert sign("keygen", tmp_path / "no" / "key")[2].startswith("E13004: ")


def test_sign_refuses(model, keys, tmp_path):
    good = model.read_bytes()

    def refused(path, key, code, word):
        status, out, err = sign("sign", path, "--key", key)
        assert (status, out) == (1, "") and err.startswith(code + ": ") and word in err

    refused(tmp_path / "none.om", keys / "vendor", "E10410", "does not exist")
    refused(model, keys / "none", "E10410", "does not exist")
    refused(model, keys / "vendor.pub", "E13001", "can be read by others")
    public = tmp_path / "public"
    public.write_bytes((keys / "vendor.pub").read_bytes())
    public.chmod(0o600)
    refused(model, public, "E13005", "no secret key file")
    old = HERE.parent / "runtime-lite" / "golden" / "schema-1.0.om"
    (tmp_path / "old.om").write_bytes(old.read_bytes())
    refused(tmp_path / "old.om", keys / "vendor", "E10041", "no place for a signature")
    assert model.read_bytes() == good
    assert sign("frobnicate")[0] != 0 and sign("sign", model)[0] != 0


def test_signing_again_replaces(model, keys):
    good = model.read_bytes()
    assert sign("sign", model, "--key", keys / "other")[0] == 0
    Run(model, *trusting(keys, "other")).assert_ran()
    assert sign("sign", model, "--key", keys / "vendor")[0] == 0
    assert model.read_bytes() == good  # Ed25519 needs no chance
