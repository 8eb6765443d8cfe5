#!/usr/bin/python3
"""Writes pytorch_losses.json: the first training steps of our models in PyTorch, float64, its own kernels, one thread.

    /usr/bin/python3 tests/golden/make_goldens.py          (Debian's python3-torch)

Everything starts from integers, so that tst_pytorch_golden makes the same weights, images and labels without sharing a file:
u(p, i): see uniform() below.
"""
import contextlib
import json
import math
import os

import torch
import torch.nn as nn

import texts
import zoo
from zoo import conv_norm

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
STEPS = 10


def uniform(stream, count):
    i = torch.arange(count, dtype=torch.int64)
    mixed = (i * 2654435761 + stream * 40503 + 12345) % (1 << 32)
    mixed = (mixed ^ (mixed >> 15)) * 2246822519 % (1 << 32)
    return mixed.double() / (1 << 32) - 0.5


def initialize(model):
    for stream, (name, p) in enumerate(model.named_parameters()):
        u = uniform(stream, p.numel()).reshape(p.shape)
        if p.dim() >= 2:
            fan_in = p.numel() // p.shape[0]
            p.data = u * math.sqrt(24.0 / fan_in)
        else:
            p.data = 0.2 * u + (1.0 if name.endswith('weight') else 0.0)


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.main = nn.Sequential(*conv_norm(i, o, 3, stride), nn.ReLU(), *conv_norm(o, o))
        self.shortcut = nn.Sequential() if stride == 1 and i == o else nn.Sequential(*conv_norm(i, o, 1, stride))

    def forward(self, x):
        return torch.relu(self.main(x) + self.shortcut(x))


def resnet18():
    layers, width = [*conv_norm(3, 64), nn.ReLU()], 64
    for w, s in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(width, w, s), Block(w, w, 1)]
        width = w
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def lenet5():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10))


def fashion_cnn():
    w = 16
    return nn.Sequential(*conv_norm(1, w), nn.ReLU(), nn.MaxPool2d(2),
                         *conv_norm(w, 2 * w), nn.ReLU(), *conv_norm(2 * w, 2 * w), nn.ReLU(), nn.MaxPool2d(2),
                         *conv_norm(2 * w, 4 * w), nn.ReLU(), *conv_norm(4 * w, 4 * w), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(4 * w * 9, 10))


class Position(nn.Module):
    def __init__(self, tokens, d):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(tokens, d))

    def forward(self, x):
        return x.flatten(2).transpose(1, 2) + self.weight


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        p = (q @ k.transpose(-1, -2) * (d // self.heads) ** -0.5).softmax(-1)
        return self.out((p @ v).transpose(1, 2).reshape(b, t, d))


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


class Mean(nn.Module):
    def forward(self, x):
        return x.mean(1)


def vit(layers=2, d=40, heads=2):
    blocks = [m for _ in range(layers) for m in (
        Residual(nn.LayerNorm(d), Attention(d, heads)),
        Residual(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d)))]
    return nn.Sequential(nn.Conv2d(3, d, 4, 4), Position(16, d), *blocks, nn.LayerNorm(d), Mean(), nn.Linear(d, 10))


CASES = [
    dict(model='mlp', params={'width': 32}, make=mlp, shape=[1, 28, 28], batch=16, optimizer='adamw', lr=0.001, decay=0.01, smoothing=0.1,
         clip=0.0),
    dict(model='lenet5', params={}, make=lenet5, shape=[1, 28, 28], batch=16, optimizer='sgd', nesterov=False, lr=0.02, decay=0.0005,
         smoothing=0.0, clip=0.0),
    dict(model='fashion-cnn', params={}, make=fashion_cnn, shape=[1, 28, 28], batch=8, optimizer='sgd', nesterov=True, lr=0.002,
         decay=0.0005, smoothing=0.0, clip=0.0),
    dict(model='resnet18-cifar', params={}, make=resnet18, shape=[3, 16, 16], batch=8, optimizer='sgd', nesterov=True, lr=0.0005,
         decay=0.0005, smoothing=0.0, clip=1.0),
    dict(model='vit', params={'layers': 2, 'width': 40, 'heads': 2}, make=vit, shape=[3, 16, 16], batch=8, optimizer='adamw', lr=0.001,
         decay=0.01, smoothing=0.0, clip=1.0),
    dict(model='lenet5', params={}, make=lenet5, shape=[1, 28, 28], batch=16, optimizer='lars', lr=0.02, trust=0.1,
         decay=0.0005, smoothing=0.0, clip=1.0),
    dict(model='lenet5', params={}, make=lenet5, shape=[1, 28, 28], batch=16, optimizer='muon', nesterov=True, lr=0.02,
         adam_share=0.05, decay=0.01, smoothing=0.0, clip=0.0),
    dict(model='fashion-cnn', params={}, make=fashion_cnn, shape=[1, 28, 28], batch=8, optimizer='muon', nesterov=False, lr=0.005,
         adam_share=0.1, decay=0.01, smoothing=0.0, clip=1.0),
]


class Lars:
    """You, Gitman & Ginsburg, arXiv 1708.03888, algorithm 1; biases and norms at the global rate, without decay."""

    def __init__(self, decayed, plain, case):
        self.case, self.params = case, [(p, case['decay']) for p in decayed] + [(p, None) for p in plain]
        self.velocity = [torch.zeros_like(p) for p, _ in self.params]

    def step(self):
        with torch.no_grad():
            for (w, decay), v in zip(self.params, self.velocity):
                local = 1.0
                if decay is not None:
                    local = self.case['trust'] * float(w.norm()) / (float(w.grad.norm()) + decay * float(w.norm()))
                v.mul_(0.9).add_(w.grad + (decay or 0) * w, alpha=self.case['lr'] * local)
                w.sub_(v)


def zeropower(g):
    """Newton-Schulz with Muon's quintic: Jordan et al., "Muon: an optimizer for hidden layers in neural networks"."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.T if g.shape[0] > g.shape[1] else g
    x = x / (x.norm() + 1e-7)
    for _ in range(5):
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return x.T if g.shape[0] > g.shape[1] else x


class Muon:
    """Matrices but the last by Muon, all others by AdamW with betas (0.9, 0.95), epsilon 1e-10."""

    def __init__(self, decayed, plain, case):
        self.case, self.matrices, head = case, decayed[:-1], decayed[-1]
        self.velocity = [torch.zeros_like(p) for p in self.matrices]
        groups = [dict(params=[head], weight_decay=case['decay']), dict(params=plain, weight_decay=0.0)]
        self.adam = torch.optim.AdamW(groups, lr=case['lr'] * case['adam_share'], betas=(0.9, 0.95), eps=1e-10)

    def step(self):
        self.adam.step()
        with torch.no_grad():
            for w, v in zip(self.matrices, self.velocity):
                v.mul_(0.95).add_(w.grad)
                g = w.grad + 0.95 * v if self.case['nesterov'] else v
                rows = g.reshape(g.shape[0], -1)
                scale = math.sqrt(max(1.0, rows.shape[0] / rows.shape[1]))
                w.mul_(1 - self.case['lr'] * self.case['decay'])
                w.sub_(zeropower(rows).reshape(w.shape), alpha=self.case['lr'] * scale)


def optimizer_of(case, model):
    tables = {id(m.weight) for m in model.modules() if isinstance(m, Position)}
    tables |= {id(p) for p in model.undecayed()} if hasattr(model, 'undecayed') else set()
    decayed = [p for p in model.parameters() if p.dim() >= 2 and id(p) not in tables]
    plain = [p for p in model.parameters() if p.dim() < 2 or id(p) in tables]
    if case['optimizer'] in ('lars', 'muon'):
        return dict(lars=Lars, muon=Muon)[case['optimizer']](decayed, plain, case)
    groups = [dict(params=decayed, weight_decay=case['decay']), dict(params=plain, weight_decay=0.0)]
    if case['optimizer'] == 'adamw':
        return torch.optim.AdamW(groups, lr=case['lr'])
    return torch.optim.SGD(groups, lr=case['lr'], momentum=0.9, nesterov=case['nesterov'])


def clip(model, limit):
    norm = math.sqrt(sum(float((p.grad ** 2).sum()) for p in model.parameters()))
    if 0 < limit < norm:
        for p in model.parameters():
            p.grad *= limit / norm
    return norm


def batch(case, step):
    c, h, w = case['shape']
    x = (2 * uniform(1000 + step, case['batch'] * c * h * w)).float().double().reshape(case['batch'], c, h, w)
    return (x,), (7 * torch.arange(case['batch']) + 3 * step) % 10


def train(case, dtype, precision=contextlib.nullcontext):
    """The model after STEPS steps in that precision; losses, gradient norms, and the norms of the first step's gradients."""
    torch.manual_seed(0)
    model = case['make']().double().train()
    initialize(model)
    model.to(dtype)
    optimizer = optimizer_of(case, model)
    losses, norms, gradients = [], [], []
    for step in range(STEPS):
        x, y = texts.batch(case, step, uniform) if 'tokens' in case else batch(case, step)
        model.zero_grad()
        with precision():
            outputs = model(*(each.to(dtype) if each.is_floating_point() else each for each in x))
        outputs = outputs.to(dtype)
        loss = nn.functional.cross_entropy(outputs, y, label_smoothing=case['smoothing'], ignore_index=-1)
        loss.backward()
        norms.append(clip(model, case['clip']))
        if case['decay'] == 0 and step == 0:
            gradients = [float(p.grad.norm()) for p in model.parameters()]
        optimizer.step()
        losses.append(float(loss))
    return model, losses, norms, gradients


def run(case):
    """Numbers in double, and how far PyTorch's own float is from its double: deep networks on noise enlarge rounding."""
    model, losses, norms, gradients = train(case, torch.float64)
    _, single, single_norms, _ = train(case, torch.float32)
    errors = [max(abs(a - b) / abs(b), abs(m - n) / abs(n) / 100) for a, b, m, n in zip(single, losses, single_norms, norms)]
    sums = {'parameters': sum(float(p.abs().sum()) for p in model.parameters()),
            'buffers': sum(float(b.abs().sum()) for b in model.buffers() if b.dtype == torch.float64)}
    shown = {key: value for key, value in case.items() if key != 'make'}
    return dict(shown, losses=losses, gradient_norms=norms, first_gradients=gradients, absolute_sums=sums, single_errors=errors)


def main():
    with torch.backends.mkldnn.flags(enabled=False):
        results = [run(case) for case in CASES + zoo.CASES + texts.CASES]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'pytorch_losses.json')
    with open(path, 'w') as out:
        json.dump(dict(torch=torch.__version__, cases=results), out, indent=1)
        out.write('\n')


if __name__ == '__main__':
    main()
