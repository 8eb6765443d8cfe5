#!/usr/bin/python3
"""How well the GPT of the preset text-gpt foretells a text, trained by Lockstep and by PyTorch: bits per byte of its held-out end.

    tests/bench/bits_per_byte.py TEXT [--lockstep build/bin/lockstep] [--peers ../shared/peers] [--seed 1]

Both take the same first weights (PyTorch's, handed over as safetensors), batches of windows of 128 bytes (in Lockstep's order, as
lockstep_sample_order of the build's tests prints it), model, AdamW and one-cycle schedule for one epoch. PyTorch's side needs python3-torch
and the peer scripts; without them Lockstep starts from weights of its own.
"""
import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYERS = {'n1': 'norm1', 'n2': 'norm2', 'o': 'out', 'f1': 'dense1', 'f2': 'dense2'}     # the peer's names, ours
WINDOW, BATCH, RATE, RISE, DECAY, HELD_OUT = 128, 16, 1e-3, 0.3, 0.1, 0.05


def windows(torch, part):
    x = torch.tensor(list(part), dtype=torch.long)
    count = (len(x) - 1 + WINDOW - 1) // WINDOW
    tokens, targets = torch.zeros(count, WINDOW, dtype=torch.long), torch.full((count, WINDOW), -1, dtype=torch.long)
    for i in range(count):
        begin = i * WINDOW
        these, next_ones = x[begin:begin + WINDOW], x[begin + 1:begin + 1 + WINDOW]
        tokens[i, :len(these)], targets[i, :len(next_ones)] = these, next_ones
    return tokens, targets


def make_model(torch, models):
    """The peer's GPT with the head tied to the table; which of its parameters decay, and which do not."""
    model = models.GPT()
    torch.nn.init.normal_(model.tok.weight, std=0.02)
    model.head.weight = model.tok.weight
    tables = {id(model.tok.weight), id(model.pos)}
    decayed = [p for p in model.parameters() if p.dim() >= 2 and id(p) not in tables]
    plain = [p for p in model.parameters() if p.dim() < 2 or id(p) in tables]
    return model, [dict(params=decayed, weight_decay=DECAY), dict(params=plain, weight_decay=0.0)]


def our_name(theirs):
    """blocks.0.qkv.weight -> block1/qkv/weight"""
    if not theirs.startswith('blocks.'):
        return {'tok.weight': 'embedding/weight', 'pos': 'position/weight'}.get(theirs, theirs.replace('n.', 'norm/'))
    _, block, layer, kind = theirs.split('.')
    return f'block{int(block) + 1}/{LAYERS.get(layer, layer)}/{kind}'


def write_weights(model, path):
    """As safetensors, by Lockstep's names."""
    header, data = {}, b''
    for name, value in model.named_parameters():
        these = value.detach().numpy().tobytes()
        header[our_name(name)] = dict(dtype='F32', shape=list(value.shape), data_offsets=[len(data), len(data) + len(these)])
        data += these
    text = json.dumps(header).encode()
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + data)


def rate_at(step, steps):
    rise = math.floor(RISE * steps)
    return RATE * ((step + 1) / rise if step < rise else (1 + math.cos(math.pi * (step - rise) / (steps - rise))) / 2)


def sample_order(args, count):
    command = [os.path.join(os.path.dirname(args.lockstep), '..', 'tests', 'lockstep_sample_order'), str(count), str(args.seed)]
    return [int(line) for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]


def in_pytorch(torch, model, groups, train, test, order):
    tokens, targets = train
    optimizer = torch.optim.AdamW(groups, lr=RATE)
    order, steps = torch.tensor(order), (len(tokens) + BATCH - 1) // BATCH
    for step in range(steps):
        for group in optimizer.param_groups:
            group['lr'] = rate_at(step, steps)
        these = order[step * BATCH:(step + 1) * BATCH]
        loss = torch.nn.functional.cross_entropy(model(tokens[these]), targets[these].flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    tokens, targets = test
    total = 0.0
    with torch.no_grad():
        for these, wanted in zip(tokens.split(64), targets.split(64)):
            total += float(torch.nn.functional.cross_entropy(model(these), wanted.flatten(), ignore_index=-1, reduction='sum'))
    return total / int((targets >= 0).sum()) / math.log(2)


def in_lockstep(args, home, weights):
    command = [args.lockstep, 'train', '--preset', 'text-gpt', '--data', args.text, '--seed', str(args.seed), '--json', '--no-steps', *weights]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ, LOCKSTEP_HOME=home)).stdout
    return json.loads(out.splitlines()[-1])['test_loss'] / math.log(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('text')
    parser.add_argument('--lockstep', default=os.path.join(ROOT, 'build', 'bin', 'lockstep'))
    parser.add_argument('--peers', default=os.path.join(ROOT, '..', 'shared', 'peers'))
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    has_peer = os.path.exists(os.path.join(args.peers, 'models.py'))
    with tempfile.TemporaryDirectory() as home:
        weights = []
        if has_peer:
            sys.path.insert(0, args.peers)
            import models
            import torch
            torch.manual_seed(args.seed)
            model, groups = make_model(torch, models)
            write_weights(model, os.path.join(home, 'first.safetensors'))
            with open(args.text, 'rb') as file:
                text = file.read()
            cut = len(text) - int(HELD_OUT * len(text))
            train, test = windows(torch, text[:cut]), windows(torch, text[cut:])
            order = sample_order(args, len(train[0]))
            weights = ['--set', 'weights=' + os.path.join(home, 'first.safetensors')]
        ours = in_lockstep(args, home, weights)
    print(f'Lockstep {ours:.4f} bits per byte', flush=True)
    if has_peer:
        theirs = in_pytorch(torch, model, groups, train, test, order)
        print(f'PyTorch {theirs:.4f}, ours over theirs {ours / theirs:.4f}')


if __name__ == '__main__':
    main()
