#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports a small T5 with seeded weights as encoder and decoders, in the forms and with the names
that exporters of transformers write.

    make_encoder_decoder.py OUT

writes OUT/encoder_model.onnx.xz; decoder_model.onnx.xz, which takes no cache;
decoder_with_past_model.onnx.xz; decoder_model_merged.onnx.xz, which is both in an If; and
expected.json: a batch of prompts and the tokens that `transformers` generates greedily.
test/lm/encoder_decoder is made so. Needs torch, transformers and onnx.
"""

import io
import json
import lzma
import sys
from pathlib import Path

import onnx
import torch
from make_forms import seeded, t5
from onnx import AttributeProto, TensorProto, helper
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

BATCH, LENGTH = {0: "batch", 1: "length"}, {0: "batch", 1: "sequence"}


class Parts:
    """The encoder and the decoders as modules of tensors."""

    def __init__(self, model):
        self.model, self.layers = model, model.config.num_decoder_layers
        self.names = [f"{i}.{part}.{kind}" for i in range(self.layers)
                      for part in ("decoder", "encoder") for kind in ("key", "value")]

    def encode(self, input_ids, attention_mask):
        return self.model.get_encoder()(input_ids=input_ids, attention_mask=attention_mask)[0]

    def first(self, mask, ids, hidden):
        result = self.model(attention_mask=mask, decoder_input_ids=ids, encoder_outputs=(hidden,),
                            use_cache=True)
        cache = result.past_key_values
        return (result.logits, *(each for i in range(self.layers) for each in (
            cache.self_attention_cache.layers[i].keys, cache.self_attention_cache.layers[i].values,
            cache.cross_attention_cache.layers[i].keys,
            cache.cross_attention_cache.layers[i].values)))

    def later(self, mask, ids, *past):
        own, cross = DynamicCache(), DynamicCache()
        for i in range(self.layers):
            own.update(past[4 * i], past[4 * i + 1], i)
            cross.update(past[4 * i + 2], past[4 * i + 3], i)
        cache = EncoderDecoderCache(own, cross)
        for i in range(self.layers):
            cache.is_updated[i] = True
        hidden = torch.zeros(ids.shape[0], mask.shape[1], self.model.config.d_model)
        result = self.model(attention_mask=mask, decoder_input_ids=ids, encoder_outputs=(hidden,),
                            past_key_values=cache, use_cache=True)
        own = result.past_key_values.self_attention_cache
        return (result.logits, *(each for i in range(self.layers)
                                 for each in (own.layers[i].keys, own.layers[i].values)))


class Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def export(function, args, inputs, outputs):
    """Returns a function in ONNX; `inputs` are the dynamic dims by name."""
    file = io.BytesIO()
    torch.onnx.export(Call(function), tuple(args), file, input_names=list(inputs),
                      output_names=outputs, dynamic_axes=inputs, dynamo=False, opset_version=17)
    model = onnx.load_from_string(file.getvalue())
    for node in model.graph.node:
        node.doc_string = ""
    return model


def branch(model, name, outputs):
    """Returns a model's graph as a branch, with a constant without elements for each output that it
    lacks."""
    graph, given = model.graph, {value.name for value in model.graph.input}

    def rename(text):
        return text if not text or text in given else f"{name}_{text}"

    def rename_node(node):
        node.name = rename(node.name)
        node.input[:], node.output[:] = map(rename, node.input), map(rename, node.output)
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                for inner in attribute.g.node:
                    rename_node(inner)
                for value in attribute.g.output:
                    value.name = rename(value.name)

    for node in graph.node:
        rename_node(node)
    for tensor in graph.initializer:
        tensor.name = rename(tensor.name)
    nodes, values = list(graph.node), []
    own = {value.name for value in graph.output}
    for output in outputs:
        if output not in own:
            empty = helper.make_tensor("empty", TensorProto.FLOAT, [0, 4, 1, 8], [])
            nodes.append(helper.make_node("Constant", [], [rename(output)], value=empty))
        shape = None if output in own else [0, 4, 1, 8]
        values.append(helper.make_tensor_value_info(rename(output), TensorProto.FLOAT, shape))
    return helper.make_graph(nodes, name, [], values, initializer=list(graph.initializer))


def merge(first, later, caches):
    outputs = ["logits"] + [f"present.{name}" for name in caches]

    def value(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    inputs = [value("encoder_attention_mask", TensorProto.INT64, ["batch", "length"]),
              value("input_ids", TensorProto.INT64, ["batch", "sequence"]),
              value("encoder_hidden_states", TensorProto.FLOAT, ["batch", "length", 32]),
              *(value(f"past_key_values.{name}", TensorProto.FLOAT,
                      ["batch", 4, "past" if "decoder" in name else "past_length", 8])
                for name in caches),
              value("use_cache_branch", TensorProto.BOOL, [1])]
    results = [value("logits", TensorProto.FLOAT, ["batch", "sequence", 48])]
    results += [value(name, TensorProto.FLOAT, ["any_batch", 4, "any", 8]) for name in outputs[1:]]
    node = helper.make_node("If", ["use_cache_branch"], outputs,
                            then_branch=branch(later, "later", outputs),
                            else_branch=branch(first, "first", outputs))
    model = helper.make_model(helper.make_graph([node], "merged", inputs, results),
                              opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    model = seeded(t5, "eager").requires_grad_(False)
    parts = Parts(model)
    ids = torch.randint(3, 40, (2, 7))
    mask = torch.ones_like(ids)
    mask[0, 5:] = 0
    tokens = torch.randint(3, 40, (2, 3))
    hidden = parts.encode(ids, mask)
    presents = [f"present.{name}" for name in parts.names]
    _, *caches = parts.first(mask, tokens, hidden)
    past = {f"past_key_values.{name}": {0: "batch", 2: "past" if "decoder" in name else "length"}
            for name in parts.names}
    models = {
        "encoder_model": export(parts.encode, (ids, mask), {
            "input_ids": BATCH, "attention_mask": BATCH}, ["last_hidden_state"]),
        "decoder_model": export(parts.first, (mask, tokens, hidden), {
            "encoder_attention_mask": BATCH, "input_ids": LENGTH, "encoder_hidden_states": BATCH},
            ["logits", *presents]),
        "decoder_with_past_model": export(parts.later, (mask, tokens[:, :1], *caches), {
            "encoder_attention_mask": BATCH, "input_ids": {0: "batch"}, **past},
            ["logits", *(name for name in presents if "decoder" in name)])}
    answers = model.generate(input_ids=ids, attention_mask=mask, max_new_tokens=24,
                             do_sample=False, eos_token_id=None, pad_token_id=0)[:, 1:]
    copies = [onnx.load_from_string(models[name].SerializeToString())
              for name in ("decoder_model", "decoder_with_past_model")]
    models["decoder_model_merged"] = merge(*copies, parts.names)
    for name, made in models.items():
        with lzma.open(out / f"{name}.onnx.xz", "wb") as file:
            file.write(made.SerializeToString())
    prompts = [[token for token, kept in zip(*row) if kept]
               for row in zip(ids.tolist(), mask.tolist())]
    with open(out / "expected.json", "w", encoding="utf-8") as file:
        json.dump({"prompts": prompts, "tokens": answers.tolist()}, file)
        file.write("\n")


if __name__ == "__main__":
    main()
