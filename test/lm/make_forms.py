#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports small transformers with seeded weights in the forms that PyTorch's exporters write.

    make_forms.py OUT

writes OUT/NAME.onnx.xz, and OUT/NAME.npz with inputs of two sizes and what torch computes from
them: `0.input_ids`, ... and `0.out.0`, ... in the order of the model's inputs and outputs. Names
are type-exporter-opset-attention, such as llama-dynamo-20-sdpa. Needs torch, transformers, onnx and
onnxscript; test/lm/forms is made so.
"""

import inspect
import io
import lzma
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
import transformers as hf
from make_models import WithCache

SIZES = dict(vocab_size=48, hidden_size=32, intermediate_size=48, num_hidden_layers=1,
             num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
             bos_token_id=1, eos_token_id=2, pad_token_id=0)


def decoders():
    return {
        "llama": lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**SIZES)),
        "qwen3": lambda: hf.Qwen3ForCausalLM(hf.Qwen3Config(**SIZES, head_dim=8)),
        "mistral": lambda: hf.MistralForCausalLM(hf.MistralConfig(**SIZES, sliding_window=6)),
        "gemma2": lambda: hf.Gemma2ForCausalLM(hf.Gemma2Config(
            **SIZES, head_dim=8, sliding_window=6, query_pre_attn_scalar=8)),
        "phi": lambda: hf.PhiForCausalLM(hf.PhiConfig(
            **dict(SIZES, num_key_value_heads=4), partial_rotary_factor=0.5)),
    }


def bert():
    sizes = {k: v for k, v in SIZES.items() if k not in ("num_key_value_heads",)}
    return hf.BertModel(hf.BertConfig(**sizes), add_pooling_layer=False)


def t5():
    return hf.T5ForConditionalGeneration(hf.T5Config(
        vocab_size=48, d_model=32, d_kv=8, d_ff=48, num_layers=1, num_decoder_layers=1,
        num_heads=4, feed_forward_proj="gated-gelu", decoder_start_token_id=0))


def whisper():
    return hf.WhisperForConditionalGeneration(hf.WhisperConfig(
        vocab_size=48, num_mel_bins=8, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=4, decoder_attention_heads=4, d_model=32, encoder_ffn_dim=48,
        decoder_ffn_dim=48, max_source_positions=10, max_target_positions=20, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=3))


def seeded(make, attention):
    torch.manual_seed(7)
    model = make().eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 2:
                weight.mul_(6.0)
            elif name.endswith("bias"):
                weight.normal_(0, 0.1)
            # Few different values, so that the file compresses.
            weight.copy_(torch.round(weight * 32) / 32)
    model.set_attn_implementation(attention)
    return model


class Encoder(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return (self.model(input_ids=input_ids, attention_mask=attention_mask)[0],)


class CrossDecoder(torch.nn.Module):
    """The decoder of an encoder-decoder, which reads what the encoder computed."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, decoder_input_ids, encoder_hidden_states):
        return (self.model(decoder_input_ids=decoder_input_ids,
                           encoder_outputs=(encoder_hidden_states,), use_cache=False)[0],)


def tokens(batch, length):
    return torch.randint(3, 40, (batch, length))


def mask(batch, length, padding=0):
    result = torch.ones(batch, length, dtype=torch.int64)
    result[0, :padding] = 0
    return result


def cached(model):
    config = model.config
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads

    def inputs(batch, past, length, padding=0):
        cache = [torch.randn(batch, config.num_key_value_heads, past, size)
                 for _ in range(2 * config.num_hidden_layers)]
        return [tokens(batch, length), mask(batch, past + length, padding),
                torch.arange(past, past + length).repeat(batch, 1), *cache]

    names = [f"past_key_values.{i}.{what}" for i in range(config.num_hidden_layers)
             for what in ("key", "value")]
    axes = {"input_ids": {0: "batch", 1: "sequence"}, "attention_mask": {0: "batch", 1: "total"},
            "position_ids": {0: "batch", 1: "sequence"},
            **{name: {0: "batch", 2: "past"} for name in names}}
    outputs = ["logits"] + [name.replace("past_key_values", "present") for name in names]
    return WithCache(model), axes, outputs, [inputs(2, 3, 4), inputs(1, 8, 1), inputs(2, 5, 9, 2)]


def encoder(model):
    axes = {"input_ids": {0: "batch", 1: "sequence"},
            "attention_mask": {0: "batch", 1: "sequence"}}
    return (Encoder(model), axes, ["y"],
            [[tokens(2, 7), mask(2, 7, 2)], [tokens(3, 12), mask(3, 12, 4)]])


def cross(model, length):
    axes = {"decoder_input_ids": {0: "batch", 1: "sequence"}, "encoder_hidden_states": {0: "batch"}}
    return (CrossDecoder(model), axes, ["y"],
            [[tokens(2, 4), torch.randn(2, length, 32)], [tokens(1, 9), torch.randn(1, length, 32)]])


def export(module, axes, outputs, feeds, exporter, opset):
    """Returns the model in ONNX, without names of Python frames."""
    inputs = list(axes)
    file = io.BytesIO()
    if exporter == "torchscript":
        torch.onnx.export(module, tuple(feeds[0]), file, input_names=inputs, output_names=outputs,
                          dynamic_axes=axes, dynamo=False, opset_version=opset)
        model = onnx.load_from_string(file.getvalue())
    else:
        shapes = [{dim: torch.export.Dim.DYNAMIC for dim in axes[name]} for name in inputs]
        kinds = [each.kind for each in inspect.signature(module.forward).parameters.values()]
        if inspect.Parameter.VAR_POSITIONAL in kinds:
            first = kinds.index(inspect.Parameter.VAR_POSITIONAL)
            shapes = [*shapes[:first], tuple(shapes[first:])]
        program = torch.onnx.export(module, tuple(feeds[0]), input_names=inputs,
                                    output_names=outputs, dynamo=True, opset_version=opset,
                                    dynamic_shapes=tuple(shapes), verbose=False)
        model = program.model_proto
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for each in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        del each.metadata_props[:]
    del model.graph.value_info[:], model.metadata_props[:], model.graph.metadata_props[:]
    return model


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    makers = decoders()
    forms = [(kind, exporter, opset, attention)
             for kind, exporter, opset, attention in (
                 ("llama", "dynamo", 20, "sdpa"), ("llama", "torchscript", 17, "sdpa"),
                 ("qwen3", "dynamo", 23, "sdpa"), ("mistral", "dynamo", 18, "sdpa"),
                 ("gemma2", "dynamo", 18, "eager"), ("phi", "torchscript", 14, "eager"),
                 ("bert", "dynamo", 20, "sdpa"), ("bert", "torchscript", 17, "eager"),
                 ("t5", "dynamo", 18, "sdpa"), ("whisper", "dynamo", 23, "sdpa"))]
    for kind, exporter, opset, attention in forms:
        name = f"{kind}-{exporter}-{opset}-{attention}"
        if kind in makers:
            parts = cached(seeded(makers[kind], attention))
        elif kind == "bert":
            parts = encoder(seeded(bert, attention))
        else:
            parts = cross(seeded(t5 if kind == "t5" else whisper, attention), 10)
        module, axes, outputs, feeds = parts
        arrays = {}
        with torch.no_grad():
            for i, feed in enumerate(feeds):
                arrays |= {f"{i}.{key}": value.numpy() for key, value in zip(axes, feed)}
                arrays |= {f"{i}.out.{j}": value.numpy() for j, value in enumerate(module(*feed))}
            model = export(module, axes, outputs, feeds, exporter, opset)
        with lzma.open(out / f"{name}.onnx.xz", "wb") as file:
            file.write(model.SerializeToString())
        np.savez_compressed(out / f"{name}.npz", **arrays)
        print(name, flush=True)


if __name__ == "__main__":
    main()
