#!/usr/bin/python3
"""What the open window costs the training that it shows: the preset's rate with the window open over its rate without,
alternating in one run. Where there is no display, Xvfb gives one; its work counts as the window's then.

    tests/bench/window_cost.py [--rounds 5] [--epochs 2]

Prints each round, what the window used of a core, and the ratio's minimum, median and maximum. The machine must be idle.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def used_by(pid):
    with open(f'/proc/{pid}/stat') as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Window:
    def __init__(self, args, home):
        environment = dict(os.environ, LOCKSTEP_HOME=home)
        self.process = subprocess.Popen([os.path.join(args.bin, 'lockstep-studio'), '--trial', '1'], env=environment,
                                        stderr=subprocess.DEVNULL)
        self.started = time.monotonic()

    def close(self):
        share = used_by(self.process.pid) / (time.monotonic() - self.started)
        self.process.kill()
        self.process.wait()
        return share


def rate(args, with_window):
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, LOCKSTEP_HOME=home)
        run = subprocess.Popen([os.path.join(args.bin, 'lockstep'), 'train', '--preset', 'fashion', '--epochs', str(args.epochs),
                                '--json'], env=environment, stdout=subprocess.PIPE, text=True)
        window = Window(args, home) if with_window else None
        lines = run.communicate()[0].strip().splitlines()
        if run.returncode:
            sys.exit('lockstep train failed')
        if window and window.process.poll() is not None:
            sys.exit('the window did not stay open')
        return json.loads(lines[-1])['train_samples_per_second'], window.close() if window else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--bin', default=os.path.join(ROOT, 'build', 'bin'))
    args = parser.parse_args()
    server = None
    if not os.environ.get('DISPLAY'):
        server = subprocess.Popen(['Xvfb', ':97', '-screen', '0', '1280x800x24'], stderr=subprocess.DEVNULL)
        os.environ['DISPLAY'] = ':97'
        time.sleep(1)
    ratios = []
    for number in range(1, args.rounds + 1):
        alone, _ = rate(args, False)
        watched, share = rate(args, True)
        ratios.append(watched / alone)
        print(f'round {number}: alone {alone:.0f}/s, watched {watched:.0f}/s: {ratios[-1]:.4f}; the window used '
              f'{share:.1%} of a core', flush=True)
    print(f'ratio {min(ratios):.4f} … {statistics.median(ratios):.4f} … {max(ratios):.4f}')
    if server:
        server.terminate()


if __name__ == '__main__':
    main()
