# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data-parallel training with openatc.train(ranks=...): the weights are those of one rank with the
joint batch, over threads and over MPI, and a run goes on from a checkpoint after a rank has died."""

import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import openatc
import pytest

from conftest import DIGITS, ROOT
from openatc import _runtime
from openatc._train_ranks import RankSessions

BATCH, RANKS = 8, 4
PLUGIN = ROOT / "build" / "lib" / "libopenatc_mpi.so"
needs_mpi = pytest.mark.skipif(not shutil.which("mpirun") or not PLUGIN.exists(),
                               reason="MPI is not installed (libopenmpi-dev)")
nightly = pytest.mark.skipif(not os.environ.get("OPENATC_NIGHTLY"), reason="takes a minute")
SETTINGS = {"optimizer": {"kind": "sgd", "momentum": 0.9}, "learning_rate": 0.05,
            "batch_statistics": False, "parameters": ["scores*", "head*"], "threads": 1}


def make(rows, **options):
    return openatc.train(DIGITS / "digits.onnx", input_shapes={"image": (rows, 1, 28, 28)},
                         **{**SETTINGS, **options})


@pytest.fixture(scope="module")
def batch():
    data = np.load(DIGITS / "heldout.npz")
    images = data["images"][:BATCH].astype(np.float32)[:, None] / np.float32(255)
    return images, data["labels"][:BATCH].astype(np.int64)


@pytest.fixture(scope="module")
def expected(batch):
    """The state and the losses of one rank."""
    trainer = make(BATCH)
    losses = [trainer.step(*batch) for _ in range(3)]
    return trainer.state_dict(), losses


def check(state, expected, tolerance):
    assert set(state) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(state[name], value, rtol=0, atol=tolerance, err_msg=name)


@pytest.fixture(scope="module")
def parallel():
    return make(BATCH // RANKS, ranks=RANKS, rank_timeout=30.0)


def test_four_ranks_have_the_weights_of_one_with_the_joint_batch(batch, expected, parallel):
    losses = [parallel.step(*batch) for _ in range(3)]
    check(parallel.state_dict(), expected[0], 1e-5)
    np.testing.assert_allclose(losses, expected[1], atol=1e-5)
    assert parallel.rank == 0
    # The state of all ranks is equal bit for bit.
    first = parallel.ranks.sessions[0].read_state()
    for session in parallel.ranks.sessions[1:]:
        for name, value in session.read_state().items():
            np.testing.assert_array_equal(value, first[name], err_msg=name)
    info = parallel.run(*batch)
    assert info.outputs["scores"].shape[0] == BATCH


def test_the_traffic_is_that_of_rings(batch, parallel):
    before = parallel.ranks.sent_bytes
    parallel.step(*batch)
    elements = sum(parallel.state_dict()[name].size for name in parallel.parameters)
    # Gradients and the loss, an f32 each: each rank sends 2 (n - 1) / n of them.
    sent = parallel.ranks.sent_bytes - before
    assert sent == 2 * (RANKS - 1) * 4 * (elements + 1)


@nightly
def test_narrow_gradients_halve_the_traffic_and_are_near(batch, expected):
    trainer = make(BATCH // RANKS, ranks=RANKS, compress="bf16")
    for _ in range(3):
        trainer.step(*batch)
    state = trainer.state_dict()
    check(state, expected[0], 2e-2)
    elements = sum(state[name].size for name in trainer.parameters)
    assert trainer.ranks.sent_bytes < 3 * 2 * (RANKS - 1) * 4 * elements * 0.55


def test_bytes_keep_what_rounding_leaves(batch, expected):
    trainer = make(BATCH // RANKS, ranks=RANKS, compress="int8")
    for _ in range(3):
        trainer.step(*batch)
    state = trainer.state_dict()
    errors = [value for name, value in state.items() if name.startswith("train.error")]
    assert errors and any(np.abs(error).max() > 0 for error in errors)
    check({name: state[name] for name in trainer.parameters},
          {name: expected[0][name] for name in trainer.parameters}, 2e-2)
    # n - 1 bytes per element and rank, and an f32 per bucket; the loss is an all_reduce of an f32.
    elements = sum(state[name].size for name in trainer.parameters)
    buckets = len(errors)
    per_step = RANKS * (RANKS - 1) * (elements + 4 * buckets) + 2 * (RANKS - 1) * 4
    assert trainer.ranks.sent_bytes == 3 * per_step


def test_the_largest_elements_are_sent_and_the_others_later(batch):
    settings = {"optimizer": {"kind": "sgd"}, "ranks": 2}
    whole, sparse = (make(BATCH // 2, compress=compress, **settings)
                     for compress in (None, {"kind": "topk", "ratio": 0.25}))
    first = whole.state_dict()
    for trainer in (whole, sparse):
        trainer.step(*batch)
    exact, state = whole.state_dict(), sparse.state_dict()
    moved = {name: (first[name] - exact[name]) for name in whole.parameters}
    sent = {name: (first[name] - state[name]) for name in whole.parameters}
    # What has been sent and what the ranks have left over is the whole gradient, by the rate 0.05.
    left = sum(session.read_state()["train.error0"] for session in sparse.ranks.sessions) * 0.05
    total = np.concatenate([sent[name].ravel() for name in moved])
    assert 0 < np.count_nonzero(total) <= np.ceil(0.25 * total.size) * 2
    np.testing.assert_allclose(total.sum() + left.sum(),
                               sum(value.sum() for value in moved.values()), atol=1e-5)
    # Per rank a quarter of the elements, each with 4 bytes and a position of 4; the loss.
    count = int(np.ceil(0.25 * total.size))
    assert sparse.ranks.sent_bytes == 2 * (count * 8) + 2 * 4


def check_shared(trainer, state, batch):
    """The trainer has the given state after three steps, and each rank holds its share of it."""
    losses = [trainer.step(*batch) for _ in range(3)]
    check(trainer.state_dict(), state, 1e-5)
    elements = sum(np.prod(shape, dtype=int) for shape in trainer.ranks.shared.values())
    held = [sum(session.read_state()[name].size for name in trainer.ranks.shared)
            for session in trainer.ranks.sessions]
    assert all(size < elements / trainer.ranks.count + 2 * len(trainer.ranks.shared)
               for size in held)
    return losses


@pytest.mark.parametrize("optimizer", [{"kind": "sgd", "momentum": 0.9}, "lamb"])
def test_ranks_share_the_parameters(batch, tmp_path, optimizer):
    # 8 rows for one rank, and for 4 ranks of which one has fewer elements than the others.
    options = {"optimizer": optimizer, "clip_norm": 0.5, "loss_scale": "dynamic"}
    alone, shared = make(BATCH, **options), make(BATCH // RANKS, ranks=RANKS, shard_parameters=11,
                                                 **options)
    assert shared.ranks.shared and set(shared.ranks.shared) < set(shared.model.states)
    losses = [alone.step(*batch) for _ in range(3)]
    np.testing.assert_allclose(check_shared(shared, alone.state_dict(), batch), losses,
                               atol=1e-5)
    # A checkpoint is that of one rank, and goes on on another number of ranks.
    checkpoint = tmp_path / "checkpoint.onnx"
    shared.save(checkpoint)
    alone.load(checkpoint)
    np.testing.assert_allclose(alone.step(*batch), shared.step(*batch), atol=1e-5)
    name = next(iter(shared.ranks.shared))
    with pytest.raises(openatc.Error, match=f"E10014: the state '{name}' has shape .*expected"):
        shared.load_state_dict({name: np.zeros(3, np.float32)}, strict=False)


def test_an_overflow_of_one_share_skips_the_update_of_all(batch):
    trainer = make(BATCH // 2, ranks=2, shard_parameters=11, loss_scale="dynamic")
    images = batch[0].copy()
    images[0] = np.inf
    before = trainer.state_dict()
    trainer.step(images, batch[1])
    state = trainer.state_dict()
    assert state["train.loss_scale"] == before["train.loss_scale"] / 2
    for name in trainer.parameters:
        np.testing.assert_array_equal(state[name], before[name], err_msg=name)


def test_batches_and_compressions_that_are_wrong_are_errors(batch, parallel):
    with pytest.raises(openatc.Error, match=r"'image' has shape \[3, 1, 28, 28\].*4 ranks"):
        parallel.step(batch[0][:3], batch[1][:3])
    with pytest.raises(openatc.Error, match="E15006: compress is 'zip'"):
        make(2, ranks=2, compress="zip")
    with pytest.raises(openatc.Error, match="E15006: 'compress'.*has no setting 'ration'"):
        make(2, ranks=2, compress={"kind": "topk", "ration": 0.1})
    with pytest.raises(openatc.Error, match="E15006: .*'compress' and 'shard_elements'"):
        make(2, ranks=2, compress="int8", shard_parameters=True)


def test_a_rank_does_not_wait_forever(batch, parallel):
    state = parallel.state_dict()
    ranks = RankSessions(parallel.model, RANKS, threads=1, max_memory=0, timeout=30.0)
    ranks.write_state(state)
    connections = _runtime.open_threads(RANKS, 1.0)
    ranks.sessions[0].connect(connections[0])
    inputs = {"image": batch[0][:2], "target": batch[1][:2], "learning_rate": np.float32(0.1)}
    with pytest.raises(openatc.Error, match="E10062: rank 0 has waited 1 s.*for rank 3"):
        ranks.sessions[0].run(inputs)
    # The other sessions of the model go on.
    assert np.isfinite(parallel.step(*batch))


SCRIPT = """
import os, sys
sys.path[:0] = [{python!r}, {tests!r}]
import numpy as np, openatc
from test_train_ranks import BATCH, make, DIGITS
data = np.load(DIGITS / "heldout.npz")
images = data["images"][:BATCH].astype(np.float32)[:, None] / np.float32(255)
labels = data["labels"][:BATCH].astype(np.int64)
trainer = make(BATCH // 2, ranks=2, rank_timeout=20.0, shard_parameters={share!r})
checkpoint, dies = {checkpoint!r}, int(sys.argv[1])
if os.path.exists(checkpoint):
    trainer.load(checkpoint)
while trainer.steps < 3:
    if dies == trainer.steps and trainer.rank == 1:
        os._exit(9)
    trainer.step(images, labels)
    # All ranks have to take part where they share the parameters.
    if trainer.rank == 0 or trainer.ranks.shared:
        trainer.save(checkpoint)
state = trainer.state_dict()
if trainer.rank == 0:
    np.savez({result!r}, **state)
"""


@nightly
@needs_mpi
@pytest.mark.parametrize("share", [False, 11])
def test_a_run_goes_on_from_the_checkpoint_after_a_rank_has_died(expected, tmp_path, share):
    script, checkpoint = tmp_path / "train.py", tmp_path / "checkpoint.onnx"
    result = tmp_path / "result.npz"
    script.write_text(textwrap.dedent(SCRIPT.format(
        python=str(ROOT / "build" / "python"), tests=str(ROOT / "test" / "python-bindings"),
        checkpoint=str(checkpoint), result=str(result), share=share)))

    def run(dies):
        return subprocess.run(["mpirun", "--oversubscribe", "--allow-run-as-root", "-np", "2",
                               sys.executable, str(script), str(dies)], capture_output=True,
                              text=True, timeout=240)

    died = run(2)
    assert died.returncode != 0 and not result.exists()
    assert checkpoint.exists(), died.stderr
    done = run(-1)
    assert done.returncode == 0, done.stderr
    with np.load(result) as state:
        check(dict(state), expected[0], 1e-5)
