#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Talks with a language model in a terminal.

    chat.py llama.om --tokenizer tokenizer.json --template "User: {}\nAssistant:" --stop 2

Without a tokenizer, prompts and answers are numbers of tokens. The conversation stays in the
model's cache: each answer continues it. An empty line ends the program, "/reset" begins anew.
"""

import argparse
import sys

import openatc
import openatc.lm


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="an .om file, or an .onnx file to compile first")
    parser.add_argument("--tokenizer", help="tokenizer.json; needs the package 'tokenizers'")
    parser.add_argument("--template", default="{}", help="the text around a line, with {} for it")
    parser.add_argument("--stop", type=int, action="append", default=[], help="a token that ends "
                        "an answer; may be repeated")
    parser.add_argument("--max-new-tokens", type=int, default=256)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--top-k", type=int, default=0)
    parser.add_argument("--top-p", type=float, default=0.95)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    template = args.template.encode().decode("unicode_escape")
    try:
        model = openatc.lm.load(args.model, tokenizer=args.tokenizer, threads=args.threads)
        started = False
        while True:
            print("> ", end="", flush=True)
            line = sys.stdin.readline().strip()
            if not line:
                return 0
            if line == "/reset":
                started = False
                continue
            prompt = (template.replace("{}", line) if args.tokenizer
                      else [int(word) for word in line.split()])
            for piece in model.stream(
                    prompt, max_new_tokens=args.max_new_tokens, temperature=args.temperature,
                    top_k=args.top_k, top_p=args.top_p, seed=args.seed, stop_tokens=args.stop,
                    continued=started):
                print(piece, end="" if args.tokenizer else " ", flush=True)
            started = True
            timing = model.timing
            print(f"\n[{timing.prompt_tokens} tokens in {timing.prefill_seconds:.2f} s, then "
                  f"{timing.tokens_per_second:.1f} tokens per second]")
    except (openatc.Error, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
