# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Open Inference Protocol as clients see it."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from openatc.serve.__main__ import workers_refused

from conftest import BUILD, DIGITS, Server, request, scores

pytest.importorskip("mlserver", reason="needs MLServer (pip install mlserver)")


def error(answer):
    code, body = answer
    return code, json.loads(body)["error"]


def test_health_and_metadata(server):
    assert server.get("/v2/health/live")[0] == 200
    assert server.get("/v2/health/ready")[0] == 200
    body = json.loads(server.get("/v2/models/digits/versions/1")[1])
    assert body["inputs"] == [{"name": "image", "datatype": "FP32", "shape": [-1, 1, 28, 28]}]
    assert body["outputs"] == [{"name": "scores", "datatype": "FP32", "shape": [-1, 10]}]
    index = json.loads(server.post("/v2/repository/index", {})[1])
    assert {(m["name"], m.get("version")) for m in index} == {
        ("digits", "1"), ("digits", "2"), ("single", None)}


@pytest.mark.parametrize("model", ["digits", "digits/versions/2", "single"])
def test_answers_are_those_of_a_session(server, pictures, right, model):
    for picture, expected in zip(pictures, right):
        code, body = server.infer(picture, model)
        assert code == 200
        np.testing.assert_allclose(scores(body), expected, rtol=1e-5, atol=1e-4)


def test_nested_data_and_ids(server, pictures, right):
    body = request(pictures[3])
    body["id"] = "my own"
    body["inputs"][0]["data"] = pictures[3].tolist()
    code, answer = server.post("/v2/models/digits/infer", body)
    assert code == 200 and json.loads(answer)["id"] == "my own"
    np.testing.assert_allclose(scores(answer), right[3], rtol=1e-5, atol=1e-4)


def test_1000_requests_of_32_clients(server, pictures, right):
    def one(i):
        code, body = server.infer(pictures[i % 10])
        return code, float(abs(scores(body) - right[i % 10]).max()) if code == 200 else body
    with ThreadPoolExecutor(32) as clients:
        answers = list(clients.map(one, range(1000)))
    assert {code for code, _ in answers} == {200}
    assert max(difference for _, difference in answers) < 1e-3


def test_metrics_count_inferences_and_rows(server, pictures):
    def count():
        text = server.get("/metrics", server.metrics)[1].decode()
        found = re.search(r'openatc_batch_rows_sum\{model_name="single",model_version=""\} (\S+)', text)
        return float(found.group(1)) if found else 0.0
    before = count()
    for _ in range(3):
        server.infer(pictures[0], "single")
    assert count() == before + 3


BAD = {
    "unknown and missing": (lambda r: r["inputs"][0].update(name="picture"),
                            ["input 'picture' is unknown", "input 'image' is missing"]),
    "datatype": (lambda r: r["inputs"][0].update(datatype="INT64"),
                 ["has datatype INT64, expected FP32"]),
    "shape": (lambda r: r["inputs"][0].update(shape=[1, 784]),
              ["has shape [1, 784], expected [?, 1, 28, 28]"]),
    "negative": (lambda r: r["inputs"][0].update(shape=[-1, 1, 28, 28]), ["has shape [-1"]),
    "count": (lambda r: r["inputs"][0].update(data=[1.0]), ["has 1 values", "has 784"]),
    "text": (lambda r: r["inputs"][0].update(data=["a"] * 784), ["are not numbers"]),
    "ragged": (lambda r: r["inputs"][0].update(data=[[1.0], 2.0]), ["mixed"]),
    "output": (lambda r: r.update(outputs=[{"name": "score"}]), ["output 'score' is unknown"]),
    "many": (lambda r: r["inputs"].extend([{**r["inputs"][0], "data": [1.0]}] * 1000), ["given twice", "and 981 more errors"]),
    "twice": (lambda r: r["inputs"].append(r["inputs"][0]), ["given twice"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_requests_have_the_protocols_errors(server, pictures, case):
    body = request(pictures[0])
    change, expected = BAD[case]
    change(body)
    code, text = error(server.post("/v2/models/digits/infer", body))
    assert code == 400
    for part in expected:
        assert part in text
    assert server.infer(pictures[0])[0] == 200


def test_numbers_are_no_strings():
    """bytes() of a number would be as many zeros: ten digits of a request, gigabytes of memory."""
    from types import SimpleNamespace

    from mlserver.errors import InferenceError
    from mlserver.types import InferenceRequest, RequestInput

    from openatc.serve._tensors import decode
    port = SimpleNamespace(name="s", shape=(None,), numpy_dtype=np.dtype(object))

    def decoded(*values):
        given = RequestInput(name="s", shape=[len(values)], datatype="BYTES", data=list(values))
        return decode(InferenceRequest(inputs=[given]), [port])[0].tolist()
    assert decoded("a", "\u00e9") == [b"a", "\u00e9".encode()]
    for value in (10**10, 3, True, None, 1.5):
        with pytest.raises(InferenceError, match="input 's' has values that are not strings"):
            decoded("a", value)


def test_what_is_no_request(server):
    assert server.post("/v2/models/digits/infer", b"{")[0] in (400, 422)
    assert server.post("/v2/models/digits/infer", {"inputs": 7})[0] == 422
    assert error(server.infer(np.zeros((1, 1, 28, 28), np.float32), "none"))[0] == 404


def test_models_are_unloaded_and_loaded(server, pictures):
    assert server.post("/v2/repository/models/single/unload", {})[0] == 200
    assert error(server.infer(pictures[0], "single"))[0] in (400, 404)
    assert server.post("/v2/repository/models/single/load", {})[0] == 200
    assert server.infer(pictures[0], "single")[0] == 200


# MLServer's messages have the names of the client's: one process cannot hold both.
CLIENT = """
import sys
import numpy as np
import tritonclient.grpc as grpc

url, picture = sys.argv[1:]
with grpc.InferenceServerClient(url) as client:
    assert client.is_server_ready() and client.is_model_ready("digits")
    image = grpc.InferInput("image", [1, 1, 28, 28], "FP32")
    image.set_data_from_numpy(np.load(picture).reshape(1, 1, 28, 28))
    print(client.infer("digits", [image]).as_numpy("scores").reshape(-1).tolist())
    wrong = grpc.InferInput("image", [1, 1, 28, 27], "FP32")
    wrong.set_data_from_numpy(np.zeros((1, 1, 28, 27), np.float32))
    try:
        client.infer("digits", [wrong])
    except grpc.InferenceServerException as error:
        print(error.message())
"""


def test_a_client_that_people_have(server, right):
    if not importlib.util.find_spec("tritonclient"):
        pytest.skip("needs tritonclient[grpc]")
    run = subprocess.run(
        [sys.executable, "-c", CLIENT, f"127.0.0.1:{server.grpc}",
         str(DIGITS / "pictures" / "digit_3.npy")], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    answer, message = run.stdout.splitlines()
    np.testing.assert_allclose(json.loads(answer), right[3].reshape(-1), rtol=1e-5, atol=1e-4)
    assert "expected [?, 1, 28, 28]" in message


def test_settings_of_mlserver_with_a_model_that_is_compiled(tmp_path, pictures, right):
    folder = tmp_path / "models" / "fresh"
    folder.mkdir(parents=True)
    (folder / "model-settings.json").write_text(json.dumps({
        "name": "fresh", "implementation": "openatc.serve.Runtime",
        "parameters": {"uri": str(DIGITS / "digits.onnx"), "extra": {"sessions": 1}}}))
    server = Server(folder.parent, tmp_path / "log")
    try:
        code, body = server.wait_ready("fresh").infer(pictures[3], "fresh")
        assert code == 200
        np.testing.assert_allclose(scores(body), right[3], rtol=1e-5, atol=1e-4)
        assert server.stop() == 0
    finally:
        server.process.kill()


@pytest.mark.parametrize("extra,expected", [({"session": 1}, "session"), ({"threads": -1}, "threads")])
def test_bad_options_of_a_model_are_named(tmp_path, folder, extra, expected):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "model-settings.json").write_text(json.dumps({
        "name": "m", "implementation": "openatc.serve.Runtime",
        "parameters": {"uri": str(folder / "single.om"), "extra": extra}}))
    server = Server(tmp_path / "models", tmp_path / "log")
    server.process.wait(60)
    assert f"parameters.extra: {expected}" in server.log.read_text()


def test_folders_without_models(tmp_path):
    server = Server(tmp_path, tmp_path / "log")
    assert server.process.wait(60) == 1
    assert "no .om file" in server.log.read_text()


def children(pid):
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_killed_workers_are_replaced(folder, tmp_path, pictures, right):
    if workers_refused():
        pytest.skip(workers_refused())
    server = Server(folder, tmp_path / "log", "--workers=1")
    try:
        server.wait_ready()
        assert server.infer(pictures[3])[0] == 200
        before = {p for p in children(server.process.pid)
                  if b"spawn_main" in Path(f"/proc/{p}/cmdline").read_bytes()}
        assert before
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            code, body = server.infer(pictures[3])
            if code == 200:
                break
            time.sleep(0.2)
        assert code == 200
        np.testing.assert_allclose(scores(body), right[3], rtol=1e-5, atol=1e-4)
    finally:
        server.process.kill()


def test_the_package_is_built():
    assert (BUILD / "python" / "openatc" / "serve" / "__main__.py").is_file()
