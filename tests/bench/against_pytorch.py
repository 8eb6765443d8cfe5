#!/usr/bin/python3
"""The speed and memory of `lockstep bench` beside PyTorch's on the same machine, alternating.

    tests/bench/against_pytorch.py [--only resnet18-cifar lenet5] [--rounds 10] [--devices cpu:1] [--peers ../shared/peers]

A round measures PyTorch with two threads, PyTorch with two processes (DDP over gloo) and ours, one after the other; its ratio is ours
over the better of the two. Prints the rounds, then a table: the ratio's minimum, median and maximum, the share of the processors'
multiply-add rate of the moment that ours reached, and both peaks of resident memory. The machine must be idle: another busy process
halves what two threads get. PyTorch's side needs python3-torch and the peer scripts, whose env.sh puts PyTorch at its best; without
them ours is measured alone.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@dataclass
class Row:
    model: str
    peer: str
    batch: int
    inference: bool = False
    ratios: list = field(default_factory=list)
    rates: list = field(default_factory=list)
    shares: list = field(default_factory=list)
    memory: list = field(default_factory=list)
    peer_memory: list = field(default_factory=list)

    def name(self):
        return f'{self.model} b{self.batch}' + (' inference' if self.inference else '')


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


def peer(args, row, extra):
    mode = '--mode infer --jit opt' if row.inference else ''
    return json_of(['bash', '-c', f'. ./env.sh; exec /usr/bin/python3 peer_torch.py --model {row.peer} --batch {row.batch} '
                                  f'--layout nhwc --seconds {args.seconds} --min-chunks 3 {mode} {extra}'],
                   limit=60 + 10 * args.seconds, cwd=args.peers)


def ours(args, row, steps):
    return json_of([args.lockstep, 'bench', '--model', row.model, '--batch', str(row.batch), '--devices', args.devices,
                    '--steps', str(steps), '--json'] + (['--inference'] if row.inference else []))


def ceiling(args):
    probe = os.path.join(os.path.dirname(os.path.dirname(args.lockstep)), 'tests', 'lockstep_fma_bench')
    return float(subprocess.run([probe], capture_output=True, text=True, check=True).stdout) if os.path.exists(probe) else None


def measure(args, row, steps):
    peers = []
    if args.has_peer:
        peers.append(peer(args, row, '--threads 2'))
        if not row.inference:
            peers.append(peer(args, row, '--threads 1 --procs 2'))
    before = ceiling(args)
    own = ours(args, row, steps)
    after = ceiling(args)
    rate = own['samples_per_second']
    row.rates.append(rate)
    row.memory.append(own['peak_bytes'] / 2**20)
    said = f'{row.name()}: Lockstep {rate:.1f} samples/s'
    if before:
        row.shares.append(own['flops_per_step'] * own['steps'] / own['seconds'] * 1e-9 / ((before + after) / 2))
        said += f', {row.shares[-1]:.2f} of the multiply-add rate'
    if peers:
        row.ratios.append(rate / max(each['img_s'] for each in peers))
        row.peer_memory.append(peers[0]['rss_mb'])
        said += ', PyTorch ' + ' and '.join(f'{each["img_s"]:.1f}' for each in peers) + f', ratio {row.ratios[-1]:.2f}'
    print(said, flush=True)


def print_table(rows):
    print(f'\n{"":30} {"samples/s":>10} {"of FMA":>7} {"min":>5} {"ratio":>6} {"max":>5} {"MB":>6} {"theirs":>7} {"share":>6}')
    for row in rows:
        line = f'{row.name():30} {statistics.median(row.rates):10.1f} '
        line += f'{statistics.median(row.shares):7.2f} ' if row.shares else f'{"":8}'
        memory, theirs = statistics.median(row.memory), statistics.median(row.peer_memory or [0])
        if row.ratios:
            line += f'{min(row.ratios):5.2f} {statistics.median(row.ratios):6.2f} {max(row.ratios):5.2f} '
            line += f'{memory:6.0f} {theirs:7.0f} {memory / theirs:6.2f}'
        else:
            line += f'{"":19} {memory:6.0f}'
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', nargs='+', metavar='MODEL', default=[], choices=sorted({row.model for row in ROWS}))
    parser.add_argument('--devices', default='cpu:1')
    parser.add_argument('--rounds', type=int, default=10)
    parser.add_argument('--seconds', type=float, default=8, help='of each measurement')
    parser.add_argument('--peers', default=os.path.join(ROOT, '..', 'shared', 'peers'))
    parser.add_argument('--lockstep', default=os.path.join(ROOT, 'build', 'bin', 'lockstep'))
    args = parser.parse_args()

    if not os.access(args.lockstep, os.X_OK):
        sys.exit(f'{args.lockstep} is no program. packaging/run builds it; --lockstep names another.')
    args.has_peer = os.path.exists(os.path.join(args.peers, 'peer_torch.py'))
    known = subprocess.run([args.lockstep, 'models'], capture_output=True, text=True, check=True).stdout.split()
    rows = [row for row in ROWS if not args.only or row.model in args.only]
    for row in [row for row in rows if row.model not in known]:
        print(f'{row.name()}: no such model')
        rows.remove(row)
    steps = {}
    for number in range(1, args.rounds + 1):
        print(f'round {number}')
        for row in rows:
            if id(row) not in steps:
                steps[id(row)] = max(3, round(args.seconds * ours(args, row, 3)['samples_per_second'] / row.batch))
            measure(args, row, steps[id(row)])
    print_table(rows)


if __name__ == '__main__':
    main()
