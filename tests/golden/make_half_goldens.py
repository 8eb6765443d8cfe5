#!/usr/bin/python3
"""Writes pytorch_bf16_losses.json: how far PyTorch's losses are from those of pytorch_losses.json, relative to them, where it
computes in bf16 (autocast on the CPU, parameters in fp32), step by step.

    PYTHON tests/golden/make_half_goldens.py          (PyTorch 2, on a processor with AVX512_BF16 or AMX)
"""
import functools
import json
import os

import torch

import make_goldens
import texts
import zoo


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, 'pytorch_losses.json')) as file:
        exact = json.load(file)['cases']
    results = []
    for case, known in zip(make_goldens.CASES + zoo.CASES + texts.CASES, exact):
        assert case['model'] == known['model']
        losses = make_goldens.train(case, torch.float32, functools.partial(torch.autocast, 'cpu', dtype=torch.bfloat16))[1]
        results.append([abs(a - b) / abs(b) for a, b in zip(losses, known['losses'])])
        print(case['model'], case['optimizer'], ' '.join(f'{each:.1e}' for each in results[-1]), flush=True)
    with open(os.path.join(folder, 'pytorch_bf16_losses.json'), 'w') as out:
        json.dump(dict(torch=torch.__version__, errors=results), out, indent=1)
        out.write('\n')


if __name__ == '__main__':
    main()
