#!/usr/bin/env python3
"""The speed and memory of `lockstep bench` on a card beside PyTorch's, alternating: eager, compiled, and captured in a CUDA graph.

    tests/gpu/table.py --lockstep build-gpu/bin/lockstep [--only resnet50 lenet5] [--rounds 5] [--seconds 3]

PyTorch computes under autocast to bf16 with channels_last, flash attention, a fused optimizer, and data that lie on the card. A
round measures PyTorch's three ways and ours, one after the other; its ratio is ours over the best of the three. Memory is what a
step takes at most: PyTorch's tensors in its most frugal way, and the arenas that ours plans. Without PyTorch ours is measured alone;
--dry prints what would be measured.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'golden'))

# Model, batch, the network in PyTorch, extents of a sample or tokens, classes; settings of ours.
GPT = ['model.layers=12', 'model.width=768', 'model.heads=12', 'model.context=1024']
ROWS = [('resnet50', 256, 'resnet50', (3, 224, 224), 1000), ('resnet18-cifar', 512, 'resnet18', (3, 32, 32), 10),
        ('vgg19-bn-cifar', 512, 'vgg19', (3, 32, 32), 10), ('lenet5', 128, 'lenet5', (1, 28, 28), 10),
        ('resnet164', 128, 'resnet164', (3, 32, 32), 10), ('gpt', 16, 'gpt', (1024,), 256, GPT)]


def gpt(layers, width, heads, context, vocabulary):
    import torch
    import torch.nn as nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.norm2, self.mlp = nn.LayerNorm(width), nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            b, t, d = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, heads, d // heads).permute(2, 0, 3, 1, 4)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
            return x + self.mlp(self.norm2(x))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
            self.blocks, self.norm = nn.Sequential(*(Block() for _ in range(layers))), nn.LayerNorm(width)

        def forward(self, tokens):
            x = self.norm(self.blocks(self.embedding(tokens) + self.position.weight[:tokens.shape[1]]))
            return (x @ self.embedding.weight.T).flatten(0, 1)

    return Gpt()


def network(name):
    import torch.nn as nn
    import make_goldens
    import zoo
    if name == 'vgg19':
        layers, i = [], 3
        for width, count in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
            for _ in range(count):
                layers += [*zoo.conv_norm(i, width), nn.ReLU()]
                i = width
            layers += [nn.MaxPool2d(2)]
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10))
    return {'resnet50': zoo.resnet50, 'resnet164': zoo.resnet164, 'resnet18': make_goldens.resnet18, 'lenet5': make_goldens.lenet5,
            'gpt': lambda: gpt(12, 768, 12, 1024, 256)}[name]()


class Peer:
    """One network's training step in one of the ways."""

    def __init__(self, row, way):
        import torch
        self.torch = torch
        _, batch, name, shape, classes = row[:5]
        torch.backends.cudnn.benchmark = True
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        self.net = network(name).cuda().to(memory_format=torch.channels_last)
        if classes == 1000 and list(self.net.modules())[-1].out_features != 1000:
            raise RuntimeError('the network has another head')
        if name == 'gpt':
            self.x, self.y = (torch.randint(classes, extents, device='cuda') for extents in ((batch, *shape), (batch * shape[0],)))
        else:
            self.x = torch.randn(batch, *shape, device='cuda').to(memory_format=torch.channels_last)
            self.y = torch.randint(classes, (batch,), device='cuda')
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, fused=True)
        self.loss = torch.nn.CrossEntropyLoss()
        self.run = self.step
        if way == 'compiled':
            self.net = torch.compile(self.net)
        if way == 'graph':
            self.capture()
        for _ in range(5):
            self.run()
        torch.cuda.synchronize()
        self.memory = torch.cuda.max_memory_allocated() - before

    def step(self):
        with self.torch.autocast('cuda', dtype=self.torch.bfloat16):
            loss = self.loss(self.net(self.x), self.y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()

    def capture(self):
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(4):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        self.run = graph.replay

    def rate(self, batch, seconds):
        self.torch.cuda.synchronize()
        begin, steps = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds:
            for _ in range(5):
                self.run()
            self.torch.cuda.synchronize()
            steps += 5
        return steps * batch / (time.perf_counter() - begin)


def ours(args, row, steps):
    command = [args.lockstep, 'bench', '--model', row[0], '--batch', str(row[1]), '--devices', 'cuda:0', '--precision', 'bf16',
               '--input', 'x'.join(map(str, row[3])), '--classes', str(row[4]), '--steps', str(steps), '--warmup', '5', '--json']
    if len(row) > 5:
        command += ['--set', *row[5]]
    out = subprocess.run(command, capture_output=True, text=True, timeout=200)
    if out.returncode:
        raise RuntimeError(out.stderr.strip()[-300:])
    return json.loads(out.stdout.strip().splitlines()[-1])


def measure(args, row):
    found = {'ours': [], 'eager': [], 'compiled': [], 'graph': [], 'memory': None}
    peers = {}
    if args.peer:
        for way in ('eager', 'compiled', 'graph'):
            try:
                peers[way] = Peer(row, way)
            except Exception as error:           # the table says which way did not work
                print(f'{row[0]}: PyTorch {way}: {str(error)[:200]}', file=sys.stderr)
    first = ours(args, row, 10)
    if peers:
        found['memory'] = first['device_bytes'] / min(peer.memory for peer in peers.values())
    steps = max(10, int(args.seconds / max(first['seconds'] / 10, 1e-4)))
    for _ in range(args.rounds):
        for way, peer in peers.items():
            found[way].append(peer.rate(row[1], args.seconds))
        found['ours'].append(ours(args, row, steps)['samples_per_second'])
    del peers
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--lockstep', required=True)
    parser.add_argument('--only', nargs='*')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=3)
    parser.add_argument('--dry', action='store_true')
    args = parser.parse_args()
    rows = [row for row in ROWS if not args.only or row[0] in args.only]
    if args.dry:
        print('| would measure | batch | PyTorch beside it |\n|---|---|---|')
        for row in rows:
            print(f'| {row[0]} | {row[1]} | eager, compiled, graph |')
        return
    try:
        import torch
        args.peer = torch.cuda.is_available()
        print(f'PyTorch {torch.__version__}, {torch.cuda.get_device_name()}\n' if args.peer else 'no card for PyTorch\n')
    except ImportError:
        args.peer = False
        print('no PyTorch: ours alone\n')
    print('| model | ours, samples/s | eager | compiled | graph | ours / best, min | median | max | memory, ours / least |')
    print('|---|---|---|---|---|---|---|---|---|', flush=True)
    for row in rows:
        try:
            found = measure(args, row)
        except Exception as error:
            print(f'| {row[0]} b{row[1]} | {str(error)[:200]} |', flush=True)
            continue
        memory = found.pop('memory')
        median = {way: statistics.median(rates) if rates else None for way, rates in found.items()}
        best = [max((found[way][i] for way in ('eager', 'compiled', 'graph') if found[way]), default=None) for i in range(args.rounds)]
        ratios = [own / peer for own, peer in zip(found['ours'], best) if peer]
        cells = [f'{median[way]:,.0f}' if median[way] else '-' for way in ('ours', 'eager', 'compiled', 'graph')]
        cells += [f'{value:.2f}' for value in (min(ratios), statistics.median(ratios), max(ratios))] if ratios else ['-'] * 3
        cells.append(f'{memory:.2f}' if memory else '-')
        print(f'| {row[0]} b{row[1]} | ' + ' | '.join(cells) + ' |', flush=True)


if __name__ == '__main__':
    main()
