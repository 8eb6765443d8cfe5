#!/usr/bin/python3
"""`lockstep bench --loader` beside torchvision: JPEG files to batches of random-resized crops, flipped and normalised; per core, alternating.

    tests/bench/loading_against_torchvision.py IMAGES [--size 224] [--batch 32] [--rounds 5] [--python VENV/bin/python] [--build build-tests]

IMAGES: a folder of classes' folders of photographs. A round times our loader's one thread, streaming (decode=fast and decode=exact) and
from the cache of pre-sized pictures, and torchvision's transforms in one thread: decoded by torchvision.io.decode_jpeg and by Pillow,
of which the faster counts. Files are in the page cache. The ratio is ours over theirs. The machine must be idle.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PEER = r'''
import io, json, random, sys, time
import torch
from PIL import Image
from pathlib import Path
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2

folder, size, batch, seconds, least = json.loads(sys.argv[1])
torch.set_num_threads(1)
files = sorted(str(file) for file in Path(folder).rglob('*') if file.suffix.lower() in ('.jpg', '.jpeg'))
after = v2.Compose([v2.RandomResizedCrop(size, scale=(least, 1), antialias=True), v2.RandomHorizontalFlip()])
finish = v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])

def by_torchvision(file):
    return finish(after(decode_jpeg(read_file(file), mode=ImageReadMode.RGB)))

def by_pillow(file):
    with open(file, 'rb') as opened:
        return finish(v2.functional.pil_to_tensor(after(Image.open(opened).convert('RGB'))))

rates = {}
for name, read in (('decode_jpeg', by_torchvision), ('Pillow', by_pillow)):
    random.seed(0)
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        torch.stack([read(random.choice(files)) for _ in range(batch)])
        done += batch
    rates[name] = done / (time.perf_counter() - began)
print(json.dumps(rates))
'''


def ours(options, home, keep, decode):
    words = ['bench', '--loader', '--json', '--dataset', 'image-folder', '--data', options.images, '--model', 'resnet18', '--batch',
             str(options.batch), '--seconds', str(options.seconds), '--set', f'dataset.size={options.size}', f'dataset.keep={keep}',
             f'dataset.decode={decode}', f'augmentation.random_resized_crop={options.least}', 'augmentation.flip=true', 'loader_threads=1']
    env = dict(os.environ, LOCKSTEP_HOME=home, XDG_RUNTIME_DIR=home)
    out = subprocess.run([str(ROOT / options.build / 'bin' / 'lockstep'), *words], env=env, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])['samples_per_second']


def theirs(options):
    request = json.dumps([options.images, options.size, options.batch, options.seconds, options.least])
    return json.loads(subprocess.run([options.python, '-c', PEER, request], check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('images')
    parser.add_argument('--size', type=int, default=224)
    parser.add_argument('--batch', type=int, default=32)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=4)
    parser.add_argument('--least', type=float, default=0.08, help='of the area that a crop shows')
    parser.add_argument('--python', default='python3')
    parser.add_argument('--build', default='build-tests')
    options = parser.parse_args()
    rows = {('stream', 'fast'): [], ('stream', 'exact'): [], ('cache', 'fast'): []}
    peers = []
    with tempfile.TemporaryDirectory() as home:
        for number in range(options.rounds):
            rates = {row: ours(options, home, *row) for row in rows}
            peer = theirs(options)
            for row, rate in rates.items():
                rows[row].append(rate / max(peer.values()))
            peers.append(max(peer.values()))
            said = ', '.join(f'{keep} {decode} {rate:.0f}' for (keep, decode), rate in rates.items())
            print(f'round {number + 1}: images/s a core: {said}; torchvision {peer["decode_jpeg"]:.0f}, Pillow {peer["Pillow"]:.0f}',
                  flush=True)
    for (keep, decode), ratios in rows.items():
        print(f'{keep} {decode}: {statistics.median(ratios):.2f} times torchvision ({min(ratios):.2f} to {max(ratios):.2f})')
    streamed, cached = (statistics.median(rows[row]) for row in (('stream', 'fast'), ('cache', 'fast')))
    print(f'from the cache: {cached / streamed:.2f} times streaming')


if __name__ == '__main__':
    main()
