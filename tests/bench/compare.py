#!/usr/bin/python3
"""The ratio of two `lockstep` rates, alternating in one run; used for figures that compare the engine with itself.

    tests/bench/compare.py scaling [--batch 256]    cpu:2x1 over cpu:1x1, ResNet-18, the same global batch
    tests/bench/compare.py lenet                    cpu:2x1 over cpu:1x1, LeNet-5 b256
    tests/bench/compare.py loading [--rounds 3]     `train` (real loader, history on) over `bench`, ResNet-18 on CIFAR-shaped data
    tests/bench/compare.py reproducible             the reproducible mode over the fast one, ResNet-18 on cpu:2x1
    tests/bench/compare.py tracing                  `train` with its history and traces over `train` without either; LeNet-5
                                                    b256, whose short steps give it much to write
    tests/bench/compare.py overlap                  what a simulated link between two devices costs that carries the gradients in
                                                    as long as the backward pass takes (two thirds of the computing), and as
                                                    long as all computing takes; the hidden share instead of a ratio

Prints each round and the ratio's minimum, median and maximum. The machine must be idle.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def last_line(command, env=None):
    out = subprocess.run(command, capture_output=True, text=True, env=env)
    if out.returncode:
        sys.exit(' '.join(command) + ' failed:\n' + out.stderr[-2000:])
    return json.loads(out.stdout.strip().splitlines()[-1])


def bench_result(args, devices, batch, *more, model='resnet18-cifar', steps=None):
    return last_line([args.lockstep, 'bench', '--model', model, '--batch', str(batch), '--devices', devices,
                      '--steps', str(steps or args.steps), *more, '--json'])


def bench(args, devices, batch, *more, **kinds):
    return bench_result(args, devices, batch, *more, **kinds)['samples_per_second']


def overlap(args):
    """The link's bandwidth follows from one run without links: 44.7 MB of gradients between two ranks are 2 x 22.35 MB."""
    for share in (2 / 3, 1):
        hidden = []
        for number in range(1, args.rounds + 1):
            compute = bench_result(args, 'cpu:2x1', args.batch)['compute_seconds']
            bandwidth = 44.7 / (share * compute)
            linked = bench_result(args, 'cpu:2x1', args.batch, '--set', f'link_bandwidth={bandwidth:.1f}', 'link_latency=50')
            hidden.append(1 - linked['reduce_seconds'] / linked['link_seconds'])
            print(f'round {number}: computing {compute:.3f} s, link {linked["link_seconds"]:.3f} s at {bandwidth:.1f} MB/s, '
                  f'waited for {linked["reduce_seconds"]:.3f} s, hidden {hidden[-1]:.3f}', flush=True)
        print(f'link = {share:.2f} of the computing: hidden min {min(hidden):.3f}, median {statistics.median(hidden):.3f}, '
              f'max {max(hidden):.3f}')


def train(args, devices, batch, *more, model='resnet18-cifar', steps=None):
    with tempfile.TemporaryDirectory() as home:
        samples = batch * (steps or args.steps)
        return last_line([args.lockstep, 'train', '--dataset', 'synthetic', '--set', f'dataset.samples={samples}',
                          'dataset.channels=3', 'dataset.height=32', 'dataset.width=32', 'dataset.classes=10',
                          'dataset.test_samples=256', '--model', model, '--devices', devices, '--batch', str(batch),
                          '--epochs', '1', '--set', 'augmentation.crop_padding=4', 'augmentation.flip=true', '--json', *more],
                         dict(os.environ, LOCKSTEP_HOME=home))['train_samples_per_second']


COMPARISONS = {
    'scaling': ('cpu:2x1', lambda args: bench(args, "cpu:2x1", args.batch), 'cpu:1x1', lambda args: bench(args, "cpu:1x1", args.batch)),
    'lenet': ('cpu:2x1', lambda args: bench(args, "cpu:2x1", 256, model='lenet5', steps=200),
              'cpu:1x1', lambda args: bench(args, "cpu:1x1", 256, model='lenet5', steps=200)),
    'reproducible': ('reproducible', lambda args: bench(args, 'cpu:2x1', args.batch, '--mode', 'reproducible'),
                     'fast', lambda args: bench(args, 'cpu:2x1', args.batch)),
    'tracing': ('with', lambda args: train(args, 'cpu:2', 256, model='lenet5', steps=400),
                'without', lambda args: train(args, 'cpu:2', 256, '--no-history', model='lenet5', steps=400)),
    'loading': ('train', lambda args: train(args, 'cpu:2', args.batch), 'bench', lambda args: bench(args, 'cpu:2', args.batch)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=sorted([*COMPARISONS, 'overlap']))
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--batch', type=int, default=128, help='global')
    parser.add_argument('--steps', type=int, default=12)
    parser.add_argument('--lockstep', default=os.path.join(ROOT, 'build', 'bin', 'lockstep'))
    args = parser.parse_args()
    if args.what == 'overlap':
        return overlap(args)
    over_name, over, under_name, under = COMPARISONS[args.what]
    ratios = []
    for number in range(1, args.rounds + 1):
        a, b = over(args), under(args)
        ratios.append(a / b)
        print(f'round {number}: {over_name} {a:.1f}, {under_name} {b:.1f} samples/s, ratio {ratios[-1]:.3f}', flush=True)
    print(f'{over_name} over {under_name}: ratio min {min(ratios):.3f}, median {statistics.median(ratios):.3f}, max {max(ratios):.3f}')


if __name__ == '__main__':
    main()
