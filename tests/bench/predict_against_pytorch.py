#!/usr/bin/python3
"""`lockstep predict` over a folder of images beside PyTorch's inference loop over the same, decoding included, alternating.

    tests/bench/predict_against_pytorch.py IMAGES [--models resnet18-cifar lenet5] [--rounds 5] [--python VENV/bin/python]

IMAGES: a folder of classes' folders of images of one size, such as CIFAR-10's as files. Of each model a trial is trained for an epoch
on some of them. A round times ours on one device with all cores and on one device a core, and PyTorch's loop in fp32 (torchvision's
ImageFolder, a DataLoader, channels last) as it is and compiled, with its loader in the loop and with one worker; each from its first
sample to its last answer, without opening the model and compiling. The ratio is ours over the best of theirs. Both say the classes,
from the same weights where torchvision has the model: how many are the same is printed, too. The machine must be idle.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORES = len(os.sched_getaffinity(0))

PEER = r'''
import json, sys, time
import torch, torchvision
from torch import nn
from torch.utils.data import DataLoader
from torchvision import transforms

folder, model, weights, mean, deviation, batch, workers, compiled, cores = json.loads(sys.argv[1])
torch.set_num_threads(cores)

def resnet18():
    net = torchvision.models.resnet18(num_classes=10)
    net.conv1, net.maxpool = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.Identity()
    return net

def lenet5():
    return nn.Sequential(nn.Conv2d(3, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(576, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))

def vgg11():
    net = torchvision.models.vgg11(num_classes=10)
    net.avgpool, net.classifier = nn.Identity(), nn.Linear(512, 10)
    return net

net = {'resnet18-cifar': resnet18, 'lenet5': lenet5, 'vgg11-cifar': vgg11}[model]()
if weights:
    from safetensors.torch import load_file
    net.load_state_dict(load_file(weights))
net = net.eval().to(memory_format=torch.channels_last)
if compiled:
    net = torch.compile(net)
data = torchvision.datasets.ImageFolder(folder, transforms.Compose([transforms.ToTensor(), transforms.Normalize(mean, deviation)]))
loader = DataLoader(data, batch_size=batch, num_workers=workers)
answers = []
with torch.inference_mode():
    for size in {batch, len(data) % batch or batch}:
        net(torch.zeros(size, 3, *data[0][0].shape[1:]).contiguous(memory_format=torch.channels_last))
    began = time.perf_counter()
    for images, _ in loader:
        answers += net(images.contiguous(memory_format=torch.channels_last)).softmax(1).topk(5).indices[:, 0].tolist()
    seconds = time.perf_counter() - began
names = [path for path, _ in data.samples]
print(json.dumps({'rate': len(data) / seconds, 'answers': dict(zip(names, (data.classes[each] for each in answers)))}))
'''


class Bench:
    def __init__(self, options, home):
        self.options, self.home = options, home
        self.env = dict(os.environ, LOCKSTEP_HOME=str(home / 'home'), XDG_RUNTIME_DIR=str(home))

    def ours(self, *words):
        done = subprocess.run([self.options.lockstep, *words], env=self.env, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'lockstep {" ".join(words)} failed:\n{done.stderr[-2000:]}')
        return done

    def some_images(self):
        folder = self.home / 'some'
        for kind in sorted(path for path in Path(self.options.images).iterdir() if path.is_dir()):
            (folder / kind.name).mkdir(parents=True)
            for image in sorted(kind.iterdir())[:200]:
                (folder / kind.name / image.name).symlink_to(image.resolve())
        return folder

    def train(self, model, folder):
        self.ours('train', '--dataset', 'image-folder', '--data', str(folder), '--model', model, '--epochs', '1', '--devices', 'cpu:1')
        return json.loads(self.ours('trials', '--json').stdout)['trials'][0]['trial']

    def predict(self, trial, devices):
        done = self.ours('predict', str(trial), self.options.images, '--devices', devices, '--json', '--top', '1',
                         '--batch', str(self.options.batch))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        answers = {line['sample']: line['answers'][0]['class'] for line in lines[:-1]}
        return lines[-1]['summary']['samples_per_second'], answers

    def peer(self, model, weights, norm, workers, compiled):
        request = [self.options.images, model, weights, *norm, self.options.batch, workers, compiled, CORES]
        done = subprocess.run([self.options.python, '-c', PEER, json.dumps(request)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'PyTorch failed:\n{done.stderr[-2000:]}')
        told = json.loads(done.stdout.splitlines()[-1])
        return told['rate'], told['answers']

    def compare(self, model, folder):
        trial = self.train(model, folder)
        weights = str(self.home / f'{model}.safetensors')
        self.ours('export-weights', str(trial), weights, *(['--names', 'torchvision'] if model == 'resnet18-cifar' else []))
        norm = norm_of(weights)
        ratios = []
        for number in range(self.options.rounds):
            own = {devices: self.predict(trial, devices) for devices in ('cpu:1', f'cpu:{CORES}x1')}
            theirs = {(compiled, workers): self.peer(model, weights if model == 'resnet18-cifar' else '', norm, workers, compiled)
                      for compiled in (False, True) for workers in (0, 1)}
            best, best_peer = max(rate for rate, _ in own.values()), max(rate for rate, _ in theirs.values())
            ratios.append(best / best_peer)
            said = ', '.join(f'{devices} {rate:.0f}' for devices, (rate, _) in own.items())
            said += '; PyTorch ' + ', '.join(f'{"compiled" if compiled else "eager"} {workers} workers {rate:.0f}'
                                             for (compiled, workers), (rate, _) in theirs.items())
            print(f'{model} round {number + 1}: images/s {said}; ratio {ratios[-1]:.2f}', flush=True)
        if model == 'resnet18-cifar':
            mine, their = own['cpu:1'][1], theirs[(False, 0)][1]
            print(f'{model}: the same class for {sum(mine[name] == their[name] for name in their)} of {len(their)}')
        print(f'{model}: ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})')
        return statistics.median(ratios)


def norm_of(weights):
    with open(weights, 'rb') as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), 'little')))
    trained = json.loads(head['__metadata__']['trained_on'])
    return trained['mean'], trained['deviation']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('images')
    parser.add_argument('--models', nargs='+', default=['resnet18-cifar', 'lenet5'], choices=['resnet18-cifar', 'lenet5', 'vgg11-cifar'])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--batch', type=int, default=64)
    parser.add_argument('--python', default=sys.executable)
    parser.add_argument('--lockstep', default=str(ROOT / 'build' / 'bin' / 'lockstep'))
    options = parser.parse_args()
    options.images = str(Path(options.images).resolve())
    if not os.access(options.lockstep, os.X_OK):
        sys.exit(f'{options.lockstep} is no program. packaging/run builds it; --lockstep names another.')
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(options, Path(home))
        folder = bench.some_images()
        ratios = [bench.compare(model, folder) for model in options.models]
    sys.exit(min(ratios) < 1.5)


if __name__ == '__main__':
    main()
