#!/usr/bin/env python3
"""What the queue costs: processor time of its keeper per trial, and from an engine's end to the next one's first event.

Trains a sweep of many trials on the null device, whose kernels do nothing, in a home of its own.
"""
import argparse
import datetime
import json
import os
import sqlite3
import statistics
import subprocess
import tempfile
import time


def keeper(home):
    """The process that keeps the queue of this home, or None."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{name}/cmdline", "rb").read().split(b"\0")
            environment = open(f"/proc/{name}/environ", "rb").read()
        except OSError:
            continue
        if b"keep" in words and b"queue" in words and f"LOCKSTEP_HOME={home}".encode() in environment:
            return int(name)
    return None


def processor_seconds(process):
    """Its own, and that of the children that it has waited for: it starts engines."""
    fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
    return sum(int(fields[i]) for i in (11, 12)) / os.sysconf("SC_CLK_TCK")


def gaps(history):
    """Seconds from each end to the next beginning, of trials that run one after another."""
    rows = sqlite3.connect(history).execute(
        "SELECT started_at, finished_at FROM trial WHERE state = 'finished' ORDER BY started_at").fetchall()
    at = lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    return [at(after[0]) - at(before[1]) for before, after in zip(rows, rows[1:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build-tests/bin/lockstep")
    parser.add_argument("--trials", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, LOCKSTEP_HOME=home)
        run = lambda *words: subprocess.run([options.program, *words], env=environment, text=True, check=True,
                                            stdout=subprocess.PIPE).stdout
        began = time.monotonic()
        run("sweep", "--dataset", "synthetic", "--model", "mlp", "--devices", "null:1", "--epochs", "1", "--set",
            "dataset.samples=200", "dataset.test_samples=100", "--batch", "100", "--vary",
            f"seed=1..{options.trials}", "--method", "grid", "--trials", "0", "--detach")
        spent, process = 0.0, None
        while True:
            process = keeper(home) or process
            try:
                spent = processor_seconds(process) if process else 0.0
            except OSError:
                break
            time.sleep(0.2)
        seconds = time.monotonic() - began
        result = json.loads(run("sweeps", "1", "--json"))
        between = sorted(gaps(f"{home}/history.sqlite"))
        size = os.path.getsize(f"{home}/history.sqlite") / 2**20
        print(f"{result['finished']} of {result['planned']} finished in {seconds:.0f} s, "
              f"{1e3 * seconds / options.trials:.0f} ms a trial")
        print(f"keeper: {1e3 * spent / options.trials:.1f} ms of processor time a trial")
        print(f"from an end to the next first event: median {1e3 * statistics.median(between):.0f} ms, "
              f"95 % {1e3 * between[int(0.95 * len(between))]:.0f} ms, most {1e3 * between[-1]:.0f} ms")
        print(f"history: {size:.1f} MB")


if __name__ == "__main__":
    main()
