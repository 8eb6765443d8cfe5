#!/usr/bin/python3
"""The scripts of `lockstep export --pytorch` beside our own training: the losses from the same weights and the same batches.

    tests/bench/exported_pytorch.py [--only lenet5 gpt] [--python VENV/bin/python] [--build build-tests]

Of each row: a run that learns nothing leaves first weights; from them ours trains an epoch of five updates, the last one short, and so
does the exported script, in PyTorch, on the samples in our order. Compared are the losses of the updates and, behind them, that of the
test afterwards. Networks with many batch norms learn slowly here: at larger rates the rounding of either side grows twentyfold with
each update (in double precision the script lies between both). Rows with several devices start it under torchrun. Data are
Fashion-MNIST's first images, the same as records of CIFAR-10, our own documents as a text, and what the rest take. Ends with
status 1 where one differs by more than 1e-4. Needs PyTorch and Fashion-MNIST, so the suite does not run it.
"""
import argparse
import csv
import gzip
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-4
SGD = {'id': 'sgd', 'momentum': 0.9, 'nesterov': True, 'weight_decay': 5e-4}
ADAMW = {'id': 'adamw', 'weight_decay': 0.1, 'clip_norm': 1.0}


def row(model, dataset, batch, rate=0.05, devices='cpu:1', processes=1, params=None, **settings):
    return dict(model=model, dataset=dataset, batch=batch, processes=processes,
                spec=dict({'optimizer': SGD, 'learning_rate': rate, 'devices': devices, 'model': dict(id=model, **(params or {}))}, **settings))


def rows():
    small = {'layers': 2, 'width': 64, 'heads': 4}
    yield 'lenet5', row('lenet5', 'idx', 64)
    yield 'resnet18', row('resnet18-cifar', 'cifar10', 64, 0.0002)
    yield 'vgg11', row('vgg11-cifar', 'cifar10', 32, 0.01)
    yield 'vgg11-bn', row('vgg11-bn-cifar', 'cifar10', 64, 0.0002)
    yield 'gpt', row('gpt', 'text', 16, 1e-3, optimizer=ADAMW, params=small)
    # What else there is to agree about.
    yield 'resnet18 on 2', row('resnet18-cifar', 'cifar10', 64, 0.0002, 'cpu:2x1', 2)
    yield 'passes on 2', row('fashion-cnn', 'idx', 60, 0.002, 'cpu:2x1', 2, accumulation=3)
    yield 'shards on 2', row('fashion-cnn', 'idx', 60, 0.002, 'cpu:2x1', 2, mode='reproducible', shards=4)
    yield 'gpt on 2', row('gpt', 'text', 16, 1e-3, 'cpu:2x1', 2, optimizer=ADAMW, params=dict(small, tied=False))
    yield 'text-encoder', row('text-encoder', 'text-csv', 8, 1e-3, optimizer=ADAMW, params=small)
    yield 'vit', row('vit', 'cifar10', 16, 1e-3, optimizer=ADAMW, params=small, label_smoothing=0.1)
    yield 'pictures', row('small-cnn', 'image-folder', 8, 0.0003)
    yield 'folders', row('text-encoder', 'text-folder', 8, 1e-3, optimizer=ADAMW, params=small)
    yield 'cifar100', row('vgg11-cifar', 'cifar100', 32, 0.01)
    yield 'lars', row('lenet5', 'idx', 64, 1.0, optimizer={'id': 'lars', 'weight_decay': 1e-3, 'momentum': 0.9})
    yield 'muon', row('fashion-cnn', 'idx', 32, 0.002, optimizer={'id': 'muon', 'weight_decay': 0.01})
    yield 'warm-up', row('lenet5', 'idx', 64, schedule={'id': 'one-cycle', 'warmup': 0.4, 'rise': 0.5}, learning_rate_rule='linear',
                         learning_rate_batch=32, label_smoothing=0.1)
    yield 'steps', row('mlp', 'idx', 64, schedule={'id': 'step', 'warmup': 0.2, 'every': 0.4, 'gamma': 0.5}, optimizer={'id': 'sgd', 'momentum': 0})
    yield 'averages', row('fashion-cnn', 'idx', 64, 0.01, average_decay=0.9, optimizer=dict(SGD, clip_norm=0.5))
    yield 'frozen', row('resnet18-cifar', 'cifar10', 64, 0.0002, frozen='stem,block1')


FASHION = Path('/usr/share/datasets/fashion-mnist')


def fashion(split, kind, count, size, head):
    raw = gzip.decompress((FASHION / f'{split}-{kind}-ubyte.gz').read_bytes())
    return raw[:head], raw[head:head + count * size]


def write_idx(folder, counts):
    folder.mkdir()
    for split, count in counts.items():
        for kind, size, head in (('images-idx3', 784, 16), ('labels-idx1', 1, 8)):
            start, data = fashion(split, kind, count, size, head)
            (folder / f'{split}-{kind}-ubyte').write_bytes(start[:4] + struct.pack('>I', count) + start[8:] + data)


def write_cifar(folder, counts, files, before=b''):
    """Records as CIFAR's: the pictures with a border, upright, upside down and in half the light."""
    folder.mkdir()
    for file, (split, count) in zip(files, counts.items()):
        _, pixels = fashion(split, 'images-idx3', count, 784, 16)
        _, labels = fashion(split, 'labels-idx1', count, 1, 8)
        out = bytearray()
        for i in range(count):
            rows = [bytes(32)] * 2 + [bytes(2) + pixels[784 * i + 28 * y:784 * i + 28 * y + 28] + bytes(2) for y in range(28)] + [bytes(32)] * 2
            plane = b''.join(rows)
            out += before + labels[i:i + 1] + plane + b''.join(reversed(rows)) + bytes(pixel // 2 for pixel in plane)
        (folder / file).write_bytes(out)


def write_texts(file, count, made):
    with open(file, 'w', newline='') as out:
        table = csv.writer(out)
        table.writerow(['text', 'label'])
        for i in range(count):
            table.writerow([' '.join(made.choice(['good', 'bad', '"fine",', 'so\nso', 'naïve']) for _ in range(made.randrange(1, 60))),
                            made.choice(['no', 'yes'])])


def write_pictures(folder, python):
    subprocess.run([python, '-c', '''
import sys, numpy as np
from pathlib import Path
from PIL import Image
draw = np.random.default_rng(1)
for i in range(48):
    folder = Path(sys.argv[1], ["cats", "dogs"][i % 2])
    folder.mkdir(parents=True, exist_ok=True)
    size = draw.integers(40, 200, 2)
    pixels = draw.integers(0, 256, (4, 4, 3), dtype=np.uint8).repeat(size[0] // 4 + 1, 0).repeat(size[1] // 4 + 1, 1)
    Image.fromarray(pixels).save(folder / f"{i}.png")
''', str(folder)], check=True)


class Bench:
    def __init__(self, options, home):
        self.options, self.home = options, home
        self.lockstep = options.build / 'bin/lockstep'
        self.environment = dict(os.environ, LOCKSTEP_HOME=str(home / 'home'), XDG_RUNTIME_DIR=str(home / 'run'))
        (home / 'run').mkdir(mode=0o700)
        self.trials = 0

    def call(self, *words, **how):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=self.environment, **how)
        if done.returncode:
            sys.exit(' '.join(map(str, words)) + f' ended with {done.returncode}:\n' + done.stdout[-1000:] + done.stderr[-3000:])
        return done.stdout

    def dataset(self, kind, samples):
        made, place = random.Random(1), self.home / f'{kind}-{samples}'
        if kind == 'idx' and not place.exists():
            write_idx(place, {'train': samples, 't10k': 50})
        if kind == 'cifar10' and not place.exists():
            write_cifar(place, {'train': samples, 't10k': 20}, ('data_batch_1.bin', 'test_batch.bin'))
        if kind == 'cifar100' and not place.exists():
            write_cifar(place, {'train': samples, 't10k': 20}, ('train.bin', 'test.bin'), b'\x07')
        if kind == 'text-folder':
            for i in range(int(samples / 0.8)):
                folder = place / ('no', 'yes')[i % 2] / ('deep', '')[i % 3 > 0]
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f'{i}.txt').write_text(' '.join(made.choice(['good', 'bad', 'naïve']) for _ in range(made.randrange(1, 60))))
        if kind == 'text':
            place = place.with_suffix('.txt')
            text = b''.join((ROOT / name).read_bytes() for name in ('README.md', 'engine/README.md', 'tests/README.md', 'ui/README.md'))
            place.write_bytes(text[:int(samples * 128 / 0.95)])
        if kind == 'text-csv':
            place = place.with_suffix('.csv')
            write_texts(place, int(samples / 0.8), made)
        if kind == 'image-folder' and not place.exists():
            write_pictures(place, self.options.python)
        return {'id': kind, 'path': str(place)} | ({'size': 32} if kind == 'image-folder' else {})

    def train(self, spec, name):
        file = self.home / f'{name}.json'
        file.write_text(json.dumps(spec))
        self.call(self.lockstep, 'train', '--spec', file, '--json', '--no-steps')
        self.trials += 1
        return self.trials

    def ours(self, trial):
        table = list(csv.DictReader(io.StringIO(self.call(self.lockstep, 'export', trial, '--csv', '-'))))
        return [float(line[kind]) for kind in ('loss', 'test_loss') for line in table if line[kind]]

    def theirs(self, script, processes, *words):
        start = [self.options.python]
        if processes > 1:
            start += ['-m', 'torch.distributed.run', '--standalone', f'--nproc-per-node={processes}']
        said = self.call(*start, script, *words, timeout=600)
        losses = [float(line.split()[2]) for line in said.splitlines() if line.startswith('loss ')]
        return losses + [float(said.partition('test loss ')[2].partition(',')[0])]

    def compare(self, name, case):
        spec = dict(case['spec'], dataset=self.dataset(case['dataset'], 4 * case['batch'] + case['batch'] // 2 + 1), batch=case['batch'],
                    epochs=1, augmentation={}, sample_length=0, check_every=0)
        if case['model'] != 'gpt':
            del spec['sample_length']
        file = self.home / name.replace(' ', '-')
        first = self.train(dict(spec, learning_rate=0, devices='cpu:1', mode='fast', accumulation=1), 'first')
        weights, script, order = (file.with_suffix(end) for end in ('.safetensors', '.py', '.order'))
        self.call(self.lockstep, 'export-weights', first, weights, '--last')
        trial = self.train(dict(spec, weights=str(weights)), file.name)
        self.call(self.lockstep, 'export', trial, '--pytorch', script)
        samples = json.loads(self.call(self.lockstep, 'show', trial, '--json').splitlines()[-1]).get('train_samples')
        count = samples or self.samples_of(script)
        order.write_text(self.call(self.options.build / 'tests/lockstep_sample_order', count, 1))
        ours = self.ours(trial)
        theirs = self.theirs(script, case['processes'], '--weights', weights, '--order', order, '--print-losses', 6)
        worst = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
        print(f'{name:14} {worst:8.1e}  ' + '  '.join(f'{a:.6f} {b:.6f}' for a, b in zip(ours, theirs)), flush=True)
        return worst <= TOLERANCE and len(ours) == 6

    # As the script itself reads them.
    def samples_of(self, script):
        return int(self.call(self.options.python, '-c', 'import runpy, sys, pathlib; m = runpy.run_path(sys.argv[1]); '
                             'print(len(next(iter(m["read_data"](pathlib.Path(m["DATA"]))[0].values()))))', script))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', nargs='*', help='rows by their names')
    parser.add_argument('--python', default=sys.executable, help='one that has PyTorch')
    parser.add_argument('--build', type=Path, default=ROOT / 'build-tests')
    parser.add_argument('--keep', type=Path, help='a folder for what is made')
    options = parser.parse_args()
    home = options.keep or Path(tempfile.mkdtemp())
    home.mkdir(exist_ok=True)
    bench = Bench(options, home.resolve())
    print('row             largest  ours, PyTorch\'s: five times, then tested', flush=True)
    good = [bench.compare(name, case) for name, case in rows() if not options.only or name in options.only]
    if not options.keep:
        shutil.rmtree(home)
    return 0 if all(good) else 1


if __name__ == '__main__':
    sys.exit(main())
