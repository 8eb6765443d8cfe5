#!/usr/bin/python3
"""The ratio of two `lockstep` rates, alternating in one run; used for figures that compare the engine with itself.

    tests/bench/compare.py scaling [--batch 256]    cpu:2x1 over cpu:1x1, ResNet-18, the same global batch
    tests/bench/compare.py loading [--rounds 3]     `train` (real loader, history on) over `bench`, ResNet-18 on CIFAR-shaped data

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


def bench(args, devices, batch):
    return last_line([args.lockstep, 'bench', '--model', 'resnet18-cifar', '--batch', str(batch), '--devices', devices,
                      '--steps', str(args.steps), '--json'])['samples_per_second']


def train(args, devices, batch):
    with tempfile.TemporaryDirectory() as home:
        samples = batch * args.steps
        return last_line([args.lockstep, 'train', '--dataset', 'synthetic', '--set', f'dataset.samples={samples}',
                          'dataset.channels=3', 'dataset.height=32', 'dataset.width=32', 'dataset.classes=10',
                          'dataset.test_samples=256', '--model', 'resnet18-cifar', '--devices', devices, '--batch', str(batch),
                          '--epochs', '1', '--set', 'augmentation.crop_padding=4', 'augmentation.flip=true', '--json'],
                         dict(os.environ, LOCKSTEP_HOME=home))['train_samples_per_second']


COMPARISONS = {
    'scaling': ('cpu:2x1', lambda args: bench(args, "cpu:2x1", args.batch), 'cpu:1x1', lambda args: bench(args, "cpu:1x1", args.batch)),
    'loading': ('train', lambda args: train(args, 'cpu:2', args.batch), 'bench', lambda args: bench(args, 'cpu:2', args.batch)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=sorted(COMPARISONS))
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--batch', type=int, default=128, help='global')
    parser.add_argument('--steps', type=int, default=12)
    parser.add_argument('--lockstep', default=os.path.join(ROOT, 'build', 'bin', 'lockstep'))
    args = parser.parse_args()
    over_name, over, under_name, under = COMPARISONS[args.what]
    ratios = []
    for number in range(1, args.rounds + 1):
        a, b = over(args), under(args)
        ratios.append(a / b)
        print(f'round {number}: {over_name} {a:.1f}, {under_name} {b:.1f} samples/s, ratio {ratios[-1]:.3f}', flush=True)
    print(f'{over_name} over {under_name}: ratio min {min(ratios):.3f}, median {statistics.median(ratios):.3f}, max {max(ratios):.3f}')


if __name__ == '__main__':
    main()
