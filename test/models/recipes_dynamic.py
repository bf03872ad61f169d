"""Trained networks with open dims, and their inputs at three sizes each.

Both sides use this: the one that writes ONNX Runtime's answers and the test.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np

import recipes


def _pictures(count, channels, height, width, folder, scale, mean=0.5):
    """Parts of a picture, the first its whole, each mirrored from the one before."""
    picture = recipes.read_bmp(folder / "cat.bmp")
    batch = []
    for index in range(count):
        part = picture[index * 20:, index * 20:]
        rows = np.arange(height) * part.shape[0] // height
        columns = np.arange(width) * part.shape[1] // width
        part = part[rows][:, columns[:: 1 if index % 2 == 0 else -1], :channels]
        batch.append(part.astype(np.float32).transpose(2, 0, 1) / np.float32(255))
    return np.ascontiguousarray((np.stack(batch) - np.float32(mean)) * np.float32(scale))


def _noise(shape, deviation, seed=1):
    values = np.random.Generator(np.random.PCG64(seed)).random(shape, np.float32)
    return (values - np.float32(0.5)) * np.float32(np.sqrt(12) * deviation)


def _text(batch, length):
    text = ("The quick brown fox jumps over the lazy dog. Does it? It does, on Mondays. "
            "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. ").encode() * 4
    return np.frombuffer(b"".join(text[i:i + length] for i in range(batch)),
                         np.uint8).reshape(batch, length)


def _silero(batch, samples):
    return {"input": _noise((batch, samples), 0.1), "state": _noise((2, batch, 128), 0.3, seed=2),
            "sr": np.array(16000, np.int64)}


# name: inputs by name, for each of the sizes; `pictures` is the folder of the BMP files.
MODELS = {
    "byte-bidi-lstm": lambda pictures: [
        {"input": _text(batch, length)} for batch, length in ((1, 1), (2, 37), (5, 128))],
    "ppocr-rec-en-number": lambda pictures: [
        {"x": _pictures(batch, 3, 32, width, pictures, 2)}
        for batch, width in ((1, 100), (2, 320), (3, 64))],
    "silero-vad-16k-op15": lambda pictures: [
        _silero(batch, samples) for batch, samples in ((1, 512), (2, 576), (3, 640))],
    "super-resolution": lambda pictures: [
        {"input": _pictures(batch, 1, 224, 224, pictures, 1, mean=0)} for batch in (1, 2, 3)],
    "mobilenetv2-int8-maui": lambda pictures: [
        {"image": _pictures(batch, 3, 244, 244, pictures, 4)} for batch in (1, 2, 3)],
    # Its shapes are fixed, its numbers are float16: to be computed as float32 inside, for
    # the tolerance is that of one rounding. Noise has no single winner.
    "squeezenet-fp16": lambda pictures: [
        {"data_0": _noise((1, 3, 224, 224), 1).astype(np.float16)}],
}
# The scale of the scores, which this network quantizes last, and how many such steps an
# answer may be off: a sum that rounds to the next integer in an early layer changes many
# behind it. ONNX Runtime's own levels of optimization differ by six.
STEPS = {"mobilenetv2-int8-maui": (0.1530993, 5)}

CONTEXT, CHUNK = 64, 512


def chunks(wav):
    """The sound in pieces of a chunk, with the end of the one before in front."""
    data = np.frombuffer(wav.read_bytes(), np.uint8)
    assert bytes(data[:4]) == b"RIFF" and bytes(data[36:40]) == b"data"
    assert data[22:28].view("<u2").tolist()[:2] == [1, 16000]
    samples = data[44:44 + (len(data) - 44) // 2 * 2].view("<i2").astype(np.float32) / 32768
    samples = np.concatenate([np.zeros(CONTEXT, np.float32), samples])
    for begin in range(0, len(samples) - CONTEXT - CHUNK + 1, CHUNK):
        yield samples[None, begin:begin + CONTEXT + CHUNK]


def listen(run, wav):
    """The scores of all chunks; `run` makes outputs by name of inputs by name."""
    state, scores = np.zeros((2, 1, 128), np.float32), []
    for chunk in chunks(wav):
        outputs = run({"input": chunk, "state": state, "sr": np.array(16000, np.int64)})
        state = outputs["stateN"]
        scores.append(outputs["output"].item())
    return np.array(scores, np.float32), state
