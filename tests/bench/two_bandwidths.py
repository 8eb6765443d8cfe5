#!/usr/bin/python3
"""What a run reaches of what its two bandwidths allow, where loading and training share the cores of one device; alternating.

    tests/bench/two_bandwidths.py IMAGES [--model lenet5] [--size 224] [--batch 32] [--rounds 5] [--build build-tests]

IMAGES: a folder of classes' folders of photographs, which are streamed, cut at random, flipped and their colours changed. A round
measures C, training alone (`lockstep bench`), and L, loading alone with a thread for each core (`lockstep bench --loader`), and what
`lockstep train` reaches, whose loader finds out how many threads it is worth. Cores that do both in turns would reach 1/(1/C + 1/L).
Also printed: what the run itself says of the two. The machine must be idle.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def lines(options, home, *words):
    env = dict(os.environ, LOCKSTEP_HOME=home, XDG_RUNTIME_DIR=home)
    out = subprocess.run([str(ROOT / options.build / 'bin' / 'lockstep'), *words], env=env, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def data(options, *settings):
    jitter = [f'augmentation.jitter_{each}=0.4' for each in ('brightness', 'contrast', 'saturation')]
    return ['--dataset', 'image-folder', '--data', options.images, '--model', options.model, '--batch', str(options.batch), '--set',
            f'dataset.size={options.size}', 'dataset.keep=stream', 'augmentation.random_resized_crop=0.08', 'augmentation.flip=true',
            *jitter, *options.settings, *settings]


def training(options, home):
    words = ['bench', '--json', '--model', options.model, '--batch', str(options.batch), '--devices', 'cpu:1', '--steps', str(options.steps)]
    shape = ['--input', f'3x{options.size}x{options.size}', '--classes', str(len(os.listdir(options.images)))]
    settings = ['--set', *options.settings] if options.settings else []
    return lines(options, home, *words, *shape, *settings)[-1]['samples_per_second']


def loading(options, home):
    words = ['bench', '--loader', '--json', '--seconds', str(options.seconds)]
    return lines(options, home, *words, *data(options, f'loader_threads={os.cpu_count()}'))[-1]['samples_per_second']


def run(options, home):
    events = lines(options, home, 'train', '--json', '--no-history', '--devices', 'cpu:1', '--epochs', str(options.epochs),
                   *data(options, 'check_every=0'))
    steps = [each for each in events if each['event'] == 'step_done']
    settled = steps[len(steps) // 3:]
    spent = sum(max(each['compute']) + max(each['wait']) + max(each['reduce']) for each in settled)
    last = steps[-1]
    return sum(each['samples'] for each in settled) / spent, last['training_rate'], last['loading_rate']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('images')
    parser.add_argument('--model', default='lenet5')
    parser.add_argument('--settings', nargs='*', default=[], help='of the model: width=8 as model.width=8')
    parser.add_argument('--size', type=int, default=224)
    parser.add_argument('--batch', type=int, default=32)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=4)
    parser.add_argument('--steps', type=int, default=60)
    parser.add_argument('--epochs', type=int, default=8)
    parser.add_argument('--build', default='build-tests')
    options = parser.parse_args()
    shares = []
    print('round  training C  loading L  in turns  reached  share | the run says C, L')
    with tempfile.TemporaryDirectory() as home:
        for each in range(options.rounds):
            c, l = training(options, home), loading(options, home)
            reached, said_c, said_l = run(options, home)
            turns = 1 / (1 / c + 1 / l)
            shares.append(reached / turns)
            print(f'{each + 1:5}  {c:10.1f}  {l:9.1f}  {turns:8.1f}  {reached:7.1f}  {shares[-1]:5.3f} | {said_c:.1f}, {said_l:.1f}')
    print(f'median share {statistics.median(shares):.3f}')


if __name__ == '__main__':
    main()
