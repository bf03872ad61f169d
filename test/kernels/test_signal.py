# ===-- test_signal.py - Fourier transforms, windows, random tensors -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest

from host_kernels import KernelError, call

rng = np.random.default_rng(8)


def parts(z):
    return np.stack([z.real, z.imag], -1)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13, 30, 64, 100, 127])
@pytest.mark.parametrize("axis", [0, 1, -2, -3])
@pytest.mark.parametrize("length", [None, 5, 40])
def test_dft(n, axis, length):
    z = rng.standard_normal((n, n, 2)).view("c16")
    at = axis if axis >= 0 else axis + 1  # numpy's has no dim of parts
    extra = None if length is None else np.array(length)
    missing = [1] if length is None else []
    x = parts(z[..., 0])
    got, = call("DFT", x, extra, np.array(axis), missing=missing)
    np.testing.assert_allclose(got, parts(np.fft.fft(z[..., 0], length, at)), atol=1e-10)
    got, = call("DFT", x, extra, np.array(axis), missing=missing, inverse=1)
    np.testing.assert_allclose(got, parts(np.fft.ifft(z[..., 0], length, at)), atol=1e-10)
    got, = call("DFT", x[..., :1], extra, np.array(axis), missing=missing, onesided=1)
    half = np.fft.rfft(x[..., 0], length, at)
    np.testing.assert_allclose(got, parts(half), atol=1e-10)
    if n > 1 and length is None:
        # The length of a real signal has to be told where it is odd.
        got, = call("DFT", parts(half), np.array(n), np.array(axis), inverse=1, onesided=1)
        np.testing.assert_allclose(got[..., 0], x[..., 0], atol=1e-10)
        assert call("DFT", parts(half), None, np.array(axis), missing=[1], inverse=1, onesided=1,
                    only_shapes=True)[0][axis] == 2 * (half.shape[at] - 1)


def test_dft_errors():
    x = np.zeros((4, 5, 2))
    for axis in (2, -1, 3, -4):
        with pytest.raises(KernelError):
            call("DFT", x, None, np.array(axis), missing=[1])
    with pytest.raises(KernelError):
        call("DFT", x, np.array(0), np.array(1))
    with pytest.raises(KernelError):
        call("DFT", np.zeros((4, 5, 3)), None, np.array(1), missing=[1])


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("windowed", [False, True])
def test_stft(onesided, windowed):
    x, window = rng.standard_normal((2, 50, 1)), rng.random(12)
    frames = np.stack([x[:, i:i + 12, 0] for i in range(0, 39, 5)], 1) * (window if windowed else 1)
    want = parts(np.fft.rfft(frames) if onesided else np.fft.fft(frames))
    got, = call("STFT",
                x,
                np.array(5),
                window,
                np.array(12),
                missing=[] if windowed else [2],
                onesided=onesided)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, atol=1e-11)
    with pytest.raises(KernelError):
        call("STFT", x, np.array(0), window)


@pytest.mark.parametrize("size", [0, 1, 2, 10, 13])
def test_windows(size):
    n = np.arange(size)
    for periodic in (0, 1):
        angle = 2 * np.pi * n / max(1, size if periodic else size - 1)
        for name, want in [("HannWindow", 0.5 - 0.5 * np.cos(angle)),
                           ("HammingWindow", 25 / 46 - 21 / 46 * np.cos(angle)),
                           ("BlackmanWindow", 0.42 - 0.5 * np.cos(angle) + 0.08 * np.cos(2 * angle))
                           ]:
            got, = call(name, np.array(size), periodic=periodic, output_datatype=11)
            assert got.dtype == np.float64
            np.testing.assert_allclose(got, want, atol=1e-14)
    with pytest.raises(KernelError):
        call("HannWindow", np.array(-1))


def test_windows_of_integers():
    """They are cast, which cuts; they were rounded."""
    for dtype, number in ((np.int32, 6), (np.int64, 7), (np.uint8, 2)):
        got, = call("HannWindow", np.array(10), output_datatype=number)
        assert got.dtype == dtype and got.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
        got, = call("MelWeightMatrix", np.array(4), np.array(64), np.array(8192), np.array(0.0),
                    np.array(4096.0), output_datatype=number)
        exact, = call("MelWeightMatrix", np.array(4), np.array(64), np.array(8192), np.array(0.0),
                      np.array(4096.0))
        assert np.any((exact > 0.5) & (exact < 1)) and np.array_equal(got, np.floor(exact))


def test_random_numbers():
    got, = call("RandomNormal", shape=[200, 500], mean=3.0, scale=2.0, seed=1.0)
    assert got.dtype == np.float32 and abs(got.mean() - 3) < 0.03 and abs(got.std() - 2) < 0.03
    assert (call("RandomNormal", shape=[200, 500], mean=3.0, scale=2.0, seed=1.0)[0] == got).all()
    assert (call("RandomNormal", shape=[200, 500], mean=3.0, scale=2.0, seed=2.0)[0] != got).any()
    # Neighbours do not depend on each other.
    assert abs(np.corrcoef(got[:, ::2].reshape(-1), got[:, 1::2].reshape(-1))[0, 1]) < 0.02
    got, = call("RandomUniform", shape=[1000], low=-1.0, high=3.0, dtype=11)
    assert got.dtype == np.float64 and got.min() >= -1 and got.max() < 3 and abs(got.mean() -
                                                                                 1) < 0.2
    assert (call("RandomUniform", shape=[9])[0] != call("RandomUniform", shape=[9])[0]).any()
    like = np.zeros((3, 0, 2), "f2")
    for name in ("RandomNormalLike", "RandomUniformLike"):
        assert call(name, like)[0].dtype == np.float16 and call(name, like)[0].shape == like.shape
        assert call(name, np.zeros(3, "i4"), dtype=1)[0].dtype == np.float32


def test_bernoulli_and_multinomial():
    p = np.array([0, 0.3, 1], "f4").repeat(2000)
    got, = call("Bernoulli", p, seed=3.0)
    means = got.reshape(3, -1).mean(1)
    assert got.dtype == p.dtype and means[0] == 0 and means[2] == 1 and abs(means[1] - 0.3) < 0.05
    assert call("Bernoulli", p, dtype=9)[0].dtype == np.bool_
    logits = np.log(np.array([[0.5, 0.25, 0.25], [1e-30, 1, 1e-30]], "f4"))
    got, = call("Multinomial", logits, sample_size=4000, seed=1.0, dtype=7)
    assert got.dtype == np.int64 and (got[1] == 1).all()
    np.testing.assert_allclose(np.bincount(got[0], minlength=3) / 4000, [0.5, 0.25, 0.25],
                               atol=0.05)


def test_dropout():
    x = rng.standard_normal((100, 100)).astype("f4") + 9
    for inputs in ([x], [x, np.float32(0.7)], [x, np.float32(0.7),
                                               np.array(False)], [x,
                                                                  np.float32(0),
                                                                  np.array(True)]):
        y, mask = call("Dropout", *inputs, outputs=2)
        assert (y == x).all() and mask.all()
    y, mask = call("Dropout", x, np.float32(0.25), np.array(True), outputs=2, seed=1)
    assert mask.dtype == np.bool_ and abs(mask.mean() - 0.75) < 0.03
    np.testing.assert_allclose(y, np.where(mask, x / 0.75, 0), rtol=1e-6)
    with pytest.raises(KernelError):
        call("Dropout", x, np.float32(1), np.array(True))


def test_mel_weights_are_triangles():
    got, = call("MelWeightMatrix", np.array(8), np.array(64), np.array(8192), np.float32(0),
                np.float32(4096))
    assert got.shape == (33, 8) and got.min() >= 0 and got.max() == 1
    for column in got.T:
        peak, inside = column.argmax(), np.nonzero(column)[0]
        assert (np.diff(column[inside[0]:peak + 1]) > 0).all() and (np.diff(
            column[peak:inside[-1] + 1]) < 0).all()
    with pytest.raises(KernelError):
        call("MelWeightMatrix", np.array(0), np.array(64), np.array(8192), np.float32(0),
             np.float32(4096))
