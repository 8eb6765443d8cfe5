#!/usr/bin/python3
"""The speed and memory of `lockstep bench` beside PyTorch's on the same machine, alternating.

    tests/bench/against_pytorch.py [--only resnet18-cifar lenet5] [--rounds 5] [--devices cpu:1 cpu:2x1] [--python VENV/bin/python]

PyTorch is what a user would install today (../shared/peers/setup_torch2 VENV brings 2.15), at its best: eager or compiled, fp32 or bf16
(autocast), two threads or two processes (DDP over gloo); ours in fp32 and bf16, on each of --devices. All of these are measured once;
the best of each side in fp32 and the best of all go through the rounds, one after the other. Prints the rounds, then a table: the ratio
in fp32 and the ratio of the best precisions (minimum, median, maximum), what was best, the share of the processors' fp32 multiply-add
rate of the moment that ours reached, and both peaks of resident memory. The machine must be idle: another busy process halves what two
threads get. Without PyTorch and its scripts (--peers) ours is measured alone.
"""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRECISIONS = 'fp32', 'bf16'
ALLOCATOR = '/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4'  # with which PyTorch is faster


@dataclass(frozen=True)
class Theirs:
    precision: str
    compiled: bool
    processes: int

    def __str__(self):
        return f'{self.precision} {"compiled" if self.compiled else "eager"}, {["", "two threads", "two processes"][self.processes]}'


@dataclass(frozen=True)
class Ours:
    precision: str
    devices: str

    def __str__(self):
        return f'{self.precision}, {self.devices}'


@dataclass
class Row:
    model: str
    peer: str
    batch: int
    inference: bool = False
    chosen: dict = field(default_factory=dict)  # (side, precision or 'best'): a variant
    rates: dict = field(default_factory=dict)   # by variant: samples per second of each round
    memory: dict = field(default_factory=dict)  # by variant: MB
    shares: list = field(default_factory=list)

    def name(self):
        return f'{self.model} b{self.batch}' + (' inference' if self.inference else '')

    def add(self, variant, rate, memory):
        self.rates.setdefault(variant, []).append(rate)
        self.memory.setdefault(variant, []).append(memory)

    def ratios(self, precision):
        own, peer = (self.rates[self.chosen[side, precision]] for side in ('ours', 'theirs'))
        return [a / b for a, b in zip(own, peer)]


ROWS = [Row('resnet18-cifar', 'resnet18c', 128), Row('vgg19-bn-cifar', 'vgg19bn', 128), Row('small-cnn', 'smallcnn', 128),
        Row('resnet164', 'resnet164', 64), Row('resnet50', 'resnet50', 16), Row('lenet5', 'lenet5', 64), Row('lenet5', 'lenet5', 256),
        Row('gpt', 'gpt', 16), Row('vit', 'vit', 64), Row('resnet18-cifar', 'resnet18c', 128, inference=True)]


# The last line of what it prints. Torch's gloo sometimes hangs as it ends: what takes too long is ended, and done again.
def json_of(command, limit=600, tries=3, **options):
    for _ in range(tries):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
        try:
            out, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            continue
        if process.returncode:
            sys.exit(' '.join(command) + ' failed:\n' + errors[-2000:])
        return json.loads(out.strip().splitlines()[-1])
    sys.exit(' '.join(command) + f' took more than {limit} seconds, {tries} times')


def run_theirs(args, row, variant, seconds):
    command = [args.python, 'peer_torch2.py', '--model', row.peer, '--batch', str(row.batch), '--layout', 'nhwc', '--dtype', variant.precision,
               '--threads', '2' if variant.processes == 1 else '1', '--procs', str(variant.processes), '--seconds', str(seconds),
               '--min-chunks', '3', '--mode', 'infer' if row.inference else 'train']
    if variant.compiled:
        command += ['--compile', 'default']
    env = dict(os.environ, LD_PRELOAD=ALLOCATOR if os.path.exists(ALLOCATOR) else '')
    said = json_of(command, limit=(1200 if variant.compiled else 240) + 10 * seconds, cwd=args.peers, env=env)
    return said['img_s'], said['rss_mb'] * variant.processes, None


def run_ours(args, row, variant, seconds):
    command = [args.lockstep, 'bench', '--model', row.model, '--batch', str(row.batch), '--devices', variant.devices, '--precision',
               variant.precision, '--json'] + (['--inference'] if row.inference else [])
    brief = json_of(command + ['--steps', '3'])
    steps = max(3, round(seconds * brief['samples_per_second'] / row.batch))
    before = ceiling(args)
    said = json_of(command + ['--steps', str(steps)], limit=120 + 10 * seconds)
    rate = said['flops_per_step'] * said['steps'] / said['seconds'] * 1e-9
    return said['samples_per_second'], said['peak_bytes'] / 2**20, rate / ((before + ceiling(args)) / 2) if before else None


def ceiling(args):
    probe = os.path.join(os.path.dirname(os.path.dirname(args.lockstep)), 'tests', 'lockstep_fma_bench')
    return float(subprocess.run([probe], capture_output=True, text=True, check=True).stdout) if os.path.exists(probe) else None


RUN = {'ours': run_ours, 'theirs': run_theirs}


def variants(args, row):
    def number_of(devices):
        return int(re.match(r'\w+:(\d+)', devices)[1])

    ours = [Ours(precision, devices) for precision in PRECISIONS for devices in args.devices if number_of(devices) <= row.batch]
    theirs = [Theirs(precision, compiled, processes) for precision in PRECISIONS for compiled in (False, True)
              for processes in ((1,) if row.inference else (1, 2))]
    return {'ours': ours, 'theirs': theirs if args.has_peer else []}


# A batch has at least one sample for each device.
def fits(args, row):
    if variants(args, row)['ours']:
        return True
    print(f'{row.name()}: none of --devices {" ".join(args.devices)} is few enough for batch {row.batch}; add cpu:1')
    return False


# Each variant once, for a moment: which of them are the best.
def choose(args, row):
    for side, all_of in variants(args, row).items():
        rates = {variant: RUN[side](args, row, variant, args.seconds / 2)[0] for variant in all_of}
        for variant, rate in rates.items():
            print(f'{row.name()}: {side} {variant}: {rate:.1f} samples/s', flush=True)
        for precision in ('fp32', 'best'):
            fitting = [each for each in all_of if precision in (each.precision, 'best')]
            if fitting:
                row.chosen[side, precision] = max(fitting, key=rates.get)


def measure(args, row):
    said = []
    for side in RUN:
        for variant in dict.fromkeys(row.chosen[key] for key in row.chosen if key[0] == side):
            rate, memory, share = RUN[side](args, row, variant, args.seconds)
            row.add(variant, rate, memory)
            if share and variant == row.chosen['ours', 'fp32']:
                row.shares.append(share)
            said.append(f'{side} {variant} {rate:.1f}')
    if args.has_peer:
        said.append('ratio ' + ', '.join(f'{row.ratios(precision)[-1]:.2f} {precision}' for precision in ('fp32', 'best')))
    print(f'{row.name()}: ' + '; '.join(said), flush=True)


def print_table(rows):
    print(f'\n{"":30} {"ours fp32":>10} {"best":>10}  {"ratio fp32":>18}  {"ratio best":>18} {"of FMA":>7} {"MB":>6} {"theirs":>7}  best of each')
    for row in rows:
        fp32, best = row.chosen['ours', 'fp32'], row.chosen['ours', 'best']
        line = f'{row.name():30} {statistics.median(row.rates[fp32]):10.1f} {statistics.median(row.rates[best]):10.1f}  '
        has_peer = ('theirs', 'best') in row.chosen
        for precision in ('fp32', 'best') if has_peer else ():
            ratios = row.ratios(precision)
            line += f'{min(ratios):5.2f} {statistics.median(ratios):6.2f} {max(ratios):5.2f}  '
        line += f'{statistics.median(row.shares):7.2f} ' if row.shares else f'{"":8}'
        line += f'{statistics.median(row.memory[best]):6.0f} '
        if has_peer:
            theirs = row.chosen['theirs', 'best']
            line += f'{statistics.median(row.memory[theirs]):7.0f}  {best} | {theirs}'
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', nargs='+', metavar='MODEL', default=[], choices=sorted({row.model for row in ROWS}))
    parser.add_argument('--row', nargs=3, action='append', metavar=('MODEL', 'PEER', 'BATCH'), default=[],
                        help='another row: our model, theirs of models2.py, and the batch')
    parser.add_argument('--inference-row', nargs=3, action='append', metavar=('MODEL', 'PEER', 'BATCH'), default=[],
                        help='another row, of inference')
    parser.add_argument('--devices', nargs='+', default=['cpu:1', 'cpu:2x1'])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=8, help='of each measurement')
    parser.add_argument('--peers', default=os.path.join(ROOT, '..', 'shared', 'peers'))
    parser.add_argument('--python', default='python3', help='that has PyTorch')
    parser.add_argument('--lockstep', default=os.path.join(ROOT, 'build', 'bin', 'lockstep'))
    args = parser.parse_args()

    if not os.access(args.lockstep, os.X_OK):
        sys.exit(f'{args.lockstep} is no program. packaging/run builds it; --lockstep names another.')
    has_torch = subprocess.run([args.python, '-c', 'import torch; print("PyTorch", torch.__version__)']).returncode == 0
    args.has_peer = has_torch and os.path.exists(os.path.join(args.peers, 'peer_torch2.py'))
    known = subprocess.run([args.lockstep, 'models'], capture_output=True, text=True, check=True).stdout.split()
    asked = [Row(model, peer, int(batch), inference) for inference, some in ((False, args.row), (True, args.inference_row))
             for model, peer, batch in some]
    rows = [row for row in ROWS if not args.only or row.model in args.only] if args.only or not asked else []
    rows += asked
    for row in [row for row in rows if row.model not in known]:
        print(f'{row.name()}: no such model')
        rows.remove(row)
    rows = [row for row in rows if fits(args, row)]
    for row in rows:
        choose(args, row)
    for number in range(1, args.rounds + 1):
        print(f'round {number}')
        for row in rows:
            measure(args, row)
    print_table(rows)


if __name__ == '__main__':
    main()
