#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes language models with seeded weights and exports them with their key-value cache.

    make_models.py OUT [--size small|full] [--types gpt2,llama,qwen] [--exporter dynamo|torchscript|none]

test/lm/models is made by

    make_models.py test/lm/models --types gpt2,llama --compress
    make_models.py test/lm/models --types qwen --exporter dynamo --compress
    make_models.py test/lm/models --exporter none --expected test/lm/expected.json

Needs torch, transformers, onnx and onnxscript. Writes OUT/TYPE.onnx, whose inputs are `input_ids`
[batch, sequence], `attention_mask` [batch, past + sequence], `position_ids` [batch, sequence] and
`past_key_values.N.key`/`.value` [batch, heads, past, size], and whose outputs are `logits` and
`present.N.key`/`.value`; batch, sequence and past are dynamic. `--expected FILE` writes the
tokens that `transformers` generates greedily in f32 from a few prompts.
"""

import argparse
import json
import lzma
import os

import torch
import transformers
from transformers.cache_utils import DynamicCache

SIZES = {
    "small": {
        "gpt2": dict(vocab_size=48, n_embd=32, n_layer=2, n_head=4, n_positions=128),
        "llama": dict(vocab_size=48, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                      num_attention_heads=4, num_key_value_heads=2),
        "qwen": dict(vocab_size=48, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                     num_attention_heads=4, num_key_value_heads=2),
    },
    # GPT-2 small, SmolLM 135M, Qwen2.5 0.5B.
    "full": {
        "gpt2": dict(),
        "llama": dict(vocab_size=49152, hidden_size=576, intermediate_size=1536,
                      num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3),
        "qwen": dict(vocab_size=151936, hidden_size=896, intermediate_size=4864,
                     num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2),
    },
}


def make(kind, size):
    """Returns a model of a type with weights from seed 7."""
    torch.manual_seed(7)
    options = dict(SIZES[size][kind], bos_token_id=1, eos_token_id=2)
    if kind == "gpt2":
        config = transformers.GPT2Config(**options)
        make_one = transformers.GPT2LMHeadModel
    elif kind == "llama":
        config = transformers.LlamaConfig(max_position_embeddings=2048, rms_norm_eps=1e-5,
                                          tie_word_embeddings=True, **options)
        make_one = transformers.LlamaForCausalLM
    else:
        config = transformers.Qwen2Config(max_position_embeddings=2048, tie_word_embeddings=True,
                                          **options)
        make_one = transformers.Qwen2ForCausalLM
    config._attn_implementation = "eager"
    model = make_one(config).eval()
    # Initial weights are so small that all tokens are nearly as likely: larger ones decide.
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 2:
                weight.mul_(2.0 if size == "full" else 9.0)
            elif name.endswith("bias"):
                weight.normal_(0, 0.1)
            if size == "small":
                # Few different values, so that the file compresses.
                weight.copy_(torch.round(weight * 64) / 64)
    return model


class WithCache(torch.nn.Module):
    """A model whose cache is a list of tensors."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, position_ids, *past):
        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        result = self.model(input_ids=input_ids, attention_mask=attention_mask,
                            position_ids=position_ids, past_key_values=cache, use_cache=True)
        present = []
        for layer in result.past_key_values.layers:
            present += [layer.keys, layer.values]
        return (result.logits, *present)


def export(model, path, exporter):
    config = model.config
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    size = config.hidden_size // config.num_attention_heads
    layers = config.num_hidden_layers
    batch, past, length = 2, 3, 4
    args = [torch.ones(batch, length, dtype=torch.int64),
            torch.ones(batch, past + length, dtype=torch.int64),
            torch.arange(past, past + length).repeat(batch, 1)]
    args += [torch.randn(batch, heads, past, size) for _ in range(2 * layers)]
    names = [f"{i}.{what}" for i in range(layers) for what in ("key", "value")]
    inputs = ["input_ids", "attention_mask", "position_ids"]
    inputs += [f"past_key_values.{n}" for n in names]
    outputs = ["logits"] + [f"present.{n}" for n in names]
    axes = {"input_ids": {0: "batch", 1: "sequence"},
            "attention_mask": {0: "batch", 1: "total"},
            "position_ids": {0: "batch", 1: "sequence"}}
    axes.update({f"past_key_values.{n}": {0: "batch", 2: "past"} for n in names})
    wrapped = WithCache(model)
    with torch.no_grad():
        if exporter == "torchscript":
            axes.update({f"present.{n}": {0: "batch", 2: "total"} for n in names})
            axes["logits"] = {0: "batch", 1: "sequence"}
            torch.onnx.export(wrapped, tuple(args), path, input_names=inputs,
                              output_names=outputs, dynamic_axes=axes, dynamo=False,
                              opset_version=17)
        else:
            shapes = [{d: torch.export.Dim.DYNAMIC for d in axes[n]} for n in inputs]
            torch.onnx.export(wrapped, tuple(args), path, input_names=inputs,
                              output_names=outputs, dynamo=True, external_data=False,
                              dynamic_shapes=(shapes[0], shapes[1], shapes[2], tuple(shapes[3:])))


def expected(model, prompts, count):
    """Returns the tokens that greedy generation appends to each prompt."""
    rows = []
    for prompt in prompts:
        ids = torch.tensor([prompt])
        with torch.no_grad():
            out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count,
                                 do_sample=False, eos_token_id=None, pad_token_id=0)
        rows.append(out[0, len(prompt):].tolist())
    return rows


PROMPTS = [[5, 17, 3, 42, 8], [40, 2, 2, 9, 31, 33, 20, 11, 44], [1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--types", default="gpt2,llama,qwen")
    parser.add_argument("--exporter", choices=("dynamo", "torchscript", "none"), default="torchscript")
    parser.add_argument("--compress", action="store_true", help="write OUT/TYPE.onnx.xz")
    parser.add_argument("--expected", help="writes prompts and greedy tokens as JSON")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    tokens = {"prompts": PROMPTS}
    for kind in args.types.split(","):
        model = make(kind, args.size)
        # Before the export, which may change the model: TorchScript's does so with GPT-2.
        if args.expected:
            tokens[kind] = expected(model, PROMPTS, 64)
        if args.exporter == "none":
            continue
        path = os.path.join(args.out, f"{kind}.onnx")
        export(model, path, args.exporter)
        if args.compress:
            with open(path, "rb") as file, lzma.open(path + ".xz", "wb") as packed:
                packed.write(file.read())
            os.remove(path)
    if args.expected:
        with open(args.expected, "w", encoding="utf-8") as file:
            json.dump(tokens, file)
            file.write("\n")


if __name__ == "__main__":
    main()
