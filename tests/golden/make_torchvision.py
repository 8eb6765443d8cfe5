#!/usr/bin/python3
"""Writes torchvision_names.txt and torchvision_logits.json: what torchvision calls the tensors of its networks, and what one says.

    /usr/bin/python3 tests/golden/make_torchvision.py      (Debian's python3-torchvision)

Weights and images start from integers, as in make_goldens.py: tst_torchvision makes the same.
"""
import json
import math
import os

import torch
import torchvision

from make_goldens import uniform

MODELS = ['resnet18', 'resnet34', 'resnet50', 'vgg11', 'vgg16', 'vgg19', 'vgg11_bn', 'vgg16_bn', 'vgg19_bn']
FOLDER = os.path.dirname(os.path.abspath(__file__))


def tensors(model):
    return [(name, tensor) for name, tensor in model.state_dict().items() if not name.endswith('num_batches_tracked')]


def write_names():
    with open(os.path.join(FOLDER, 'torchvision_names.txt'), 'w') as out:
        for name in MODELS:
            for tensor, value in tensors(getattr(torchvision.models, name)(weights=None)):
                print(name.replace('_', '-'), tensor, 'x'.join(map(str, value.shape)), file=out)


def fill(model):
    """In single precision, as in the file; variances stay above zero."""
    for stream, (name, tensor) in enumerate(tensors(model)):
        u = uniform(stream, tensor.numel()).reshape(tensor.shape)
        if tensor.dim() >= 2:
            tensor.copy_(u * math.sqrt(24.0 / (tensor.numel() // tensor.shape[0])))
        else:
            tensor.copy_(0.2 * u + (1.0 if name.endswith(('weight', 'running_var')) else 0.0))


def write_logits():
    model = torchvision.models.resnet18(weights=None, num_classes=10).eval()
    fill(model)
    x = (2 * uniform(1000, 2 * 3 * 64 * 64)).float().double().reshape(2, 3, 64, 64)
    with torch.no_grad():
        logits = model.double()(x)
    with open(os.path.join(FOLDER, 'torchvision_logits.json'), 'w') as out:
        json.dump(dict(torchvision=torchvision.__version__, model='resnet18', pixels=64, logits=logits.tolist()), out, indent=1)
        out.write('\n')


if __name__ == '__main__':
    write_names()
    write_logits()
