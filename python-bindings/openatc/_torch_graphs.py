# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites graphs that torch.compile has captured into what PyTorch's exporter takes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ._foreign import framework


def placeholders(graph: Any) -> list[Any]:
    """Returns the nodes that are the graph's arguments, in their order."""
    return [node for node in graph.graph.nodes if node.op == "placeholder"]


def number_positions(graph: Any) -> list[int]:
    """Returns the positions of the arguments that are Python floats, such as the epsilon of a
    normalization: torch.compile passes them as tensors of rank 0 where shapes vary."""
    return [i for i, node in enumerate(placeholders(graph))
            if getattr(node.meta.get("grapharg"), "pass_arg_as_tensor", False)
            and all(user.target == "item" for user in node.users)]


def prepare(graph: Any, numbers: Mapping[int, float]) -> Any:
    """Returns a copy of a graph without what the exporter cannot translate: the numbers at these
    positions are constants, and fused layers are written as their parts."""
    torch = framework("torch")
    graph = copy.deepcopy(graph)
    nodes = placeholders(graph)
    for position, number in numbers.items():
        for item in list(nodes[position].users):
            for user in list(item.users):
                user.args, user.kwargs = torch.fx.map_arg(
                    (user.args, user.kwargs),
                    lambda node, item=item, number=number: number if node is item else node)
            graph.graph.erase_node(item)
    for node in graph.graph.nodes:
        if node.target is torch._transformer_encoder_layer_fwd:
            node.target = encoder_layer
    graph.recompile()
    return graph


# The parameters are those of PyTorch's operator, which calls have by position.
def encoder_layer(x: Any, width: int, heads: int, qkv_weight: Any, qkv_bias: Any,
                  projection_weight: Any, projection_bias: Any, use_gelu: bool, norm_first: bool,
                  epsilon: float, norm1_weight: Any, norm1_bias: Any, norm2_weight: Any,
                  norm2_bias: Any, inner_weight: Any, inner_bias: Any, outer_weight: Any,
                  outer_bias: Any, mask: Any = None, mask_type: int | None = None) -> Any:
    """Computes what torch._transformer_encoder_layer_fwd does, which torch.nn.TransformerEncoder
    calls outside of training."""
    functional = framework("torch").nn.functional

    def norm(value: Any, weight: Any, bias: Any) -> Any:
        return functional.layer_norm(value, (width,), weight, bias, epsilon)

    def attention(value: Any) -> Any:
        batch, length = value.shape[0], value.shape[1]
        parts = functional.linear(value, qkv_weight, qkv_bias)
        query, key, values = parts.reshape(batch, length, 3, heads, width // heads) \
            .permute(2, 0, 3, 1, 4).unbind(0)
        allowed = None
        if mask is not None:
            allowed = ~mask.bool()
            if mask_type == 1:  # of the keys
                allowed = allowed.reshape(batch, 1, 1, length)
        mixed = functional.scaled_dot_product_attention(query, key, values, attn_mask=allowed)
        joined = mixed.transpose(1, 2).reshape(batch, length, width)
        return functional.linear(joined, projection_weight, projection_bias)

    def feed_forward(value: Any) -> Any:
        inner = functional.linear(value, inner_weight, inner_bias)
        inner = functional.gelu(inner) if use_gelu else functional.relu(inner)
        return functional.linear(inner, outer_weight, outer_bias)

    if norm_first:
        x = x + attention(norm(x, norm1_weight, norm1_bias))
        return x + feed_forward(norm(x, norm2_weight, norm2_bias))
    x = norm(x + attention(x), norm1_weight, norm1_bias)
    return norm(x + feed_forward(x), norm2_weight, norm2_bias)
