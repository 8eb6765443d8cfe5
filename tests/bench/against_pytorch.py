#!/usr/bin/python3
"""Training throughput of `lockstep bench` over PyTorch's, alternating in one run.

    tests/bench/against_pytorch.py --model resnet18-cifar --batch 128 [--rounds 5] [--devices cpu:1] [--peers ../shared/peers]

A round measures PyTorch with two threads, PyTorch with two processes (DDP over gloo) and ours, one after the other; the ratio is ours
over the better of the two. Prints each round and the ratio's minimum, median and maximum. The machine must be idle: another busy
process halves what two threads get. Needs python3-torch and the peer scripts, whose env.sh puts PyTorch at its best.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PEER_NAMES = {'resnet18-cifar': 'resnet18c', 'lenet5': 'lenet5'}


def peer(args, extra):
    command = (f'. ./env.sh; exec /usr/bin/python3 peer_torch.py --model {PEER_NAMES[args.model]} --batch {args.batch} '
               f'--layout nhwc --seconds {args.seconds} --min-chunks 3 {extra}')
    out = subprocess.run(['bash', '-c', command], cwd=args.peers, capture_output=True, text=True)
    if out.returncode:
        sys.exit('the peer failed:\n' + out.stderr[-2000:])
    return json.loads(out.stdout.strip().splitlines()[-1])['img_s']


def ours(args, steps):
    command = [args.lockstep, 'bench', '--model', args.model, '--batch', str(args.batch), '--devices', args.devices,
               '--steps', str(steps), '--json']
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode:
        sys.exit('lockstep bench failed:\n' + out.stderr[-2000:])
    return json.loads(out.stdout.strip().splitlines()[-1])['samples_per_second']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--model', default='resnet18-cifar', choices=sorted(PEER_NAMES))
    parser.add_argument('--batch', type=int, default=128)
    parser.add_argument('--devices', default='cpu:1')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=8)
    parser.add_argument('--peers', default=os.path.join(ROOT, '..', 'shared', 'peers'))
    parser.add_argument('--lockstep', default=os.path.join(ROOT, 'build', 'bin', 'lockstep'))
    args = parser.parse_args()

    probe = ours(args, 3)
    steps = max(3, round(args.seconds * probe / args.batch))
    ratios = []
    for number in range(1, args.rounds + 1):
        threads = peer(args, '--threads 2')
        processes = peer(args, '--threads 1 --procs 2')
        own = ours(args, steps)
        ratios.append(own / max(threads, processes))
        print(f'round {number}: PyTorch 2 threads {threads:.1f}, 2 processes {processes:.1f}, Lockstep {args.devices} {own:.1f} '
              f'samples/s, ratio {ratios[-1]:.2f}', flush=True)
    print(f'{args.model} b{args.batch}: ratio min {min(ratios):.2f}, median {statistics.median(ratios):.2f}, '
          f'max {max(ratios):.2f} over {args.rounds} rounds')


if __name__ == '__main__':
    main()
