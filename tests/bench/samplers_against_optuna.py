#!/usr/bin/env python3
"""What methods of `lockstep sweep` find in 100 trials, beside Optuna's sampler of the same kind and random search.

    tests/bench/samplers_against_optuna.py [--program build/bin/lockstep] [--methods tpe gp] [--functions branin hartmann6] [--seeds 50]

Runs `lockstep sweep --objective FUNCTION` and Optuna 5.0 (`pip install optuna==5.* scipy`) with the same seeds. Prints, for each
function and method, the median regret and the mean of its logarithm (base 10), its difference to Optuna's TPE (less is better), and the
probability of such results were the method no better than random search (Mann-Whitney, one-sided).

Optuna's TPE is multivariate here, as it is by default from version 5 on: the counterpart of tpe. tpe-univariate, which is weaker than
that, has its counterpart in TPESampler(multivariate=False).
"""
import argparse
import json
import math
import os
import statistics
import subprocess

import optuna
from scipy.stats import mannwhitneyu

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAST = {'branin': 0.39788735772973816, 'hartmann6': -3.3223680114155147}
SMALLEST = 1e-12  # regret that has a logarithm


def branin(trial):
    x, y = trial.suggest_float('x1', -5, 10), trial.suggest_float('x2', 0, 15)
    return (y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6)**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def hartmann6(trial):
    slopes = [[10, 3, 17, 3.5, 1.7, 8], [.05, 10, 17, .1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, .05, 10, .1, 14]]
    middles = [[.1312, .1696, .5569, .0124, .8283, .5886], [.2329, .4135, .8307, .3736, .1004, .9991],
               [.2348, .1451, .3522, .2883, .3047, .6650], [.4047, .8828, .8732, .5743, .1091, .0381]]
    x = [trial.suggest_float(f'x{i + 1}', 0, 1) for i in range(6)]
    distances = [sum(s * (u - m)**2 for s, u, m in zip(*row, x)) for row in zip(slopes, middles)]
    return -sum(height * math.exp(-distance) for height, distance in zip([1, 1.2, 3, 3.2], distances))


def optunas(function, sampler, trials):
    study = optuna.create_study(sampler=sampler)
    study.optimize({'branin': branin, 'hartmann6': hartmann6}[function], n_trials=trials)
    return study.best_value - LEAST[function]


def ours(program, function, method, seed, trials, parallel):
    words = ['sweep', '--objective', function, '--method', method, '--trials', str(trials), '--seed', str(seed), '--parallel', str(parallel)]
    out = subprocess.run([program, *words, '--json'], check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) == trials, f'{method} suggested {len(lines)} of {trials} trials'
    return lines[-1]['best'] - LEAST[function]


def log_mean(regrets):
    return statistics.mean(math.log10(max(regret, SMALLEST)) for regret in regrets)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=os.path.join(ROOT, 'build', 'bin', 'lockstep'))
    parser.add_argument('--methods', nargs='+', default=['tpe', 'tpe-univariate', 'gp'])
    parser.add_argument('--functions', nargs='+', default=list(LEAST), choices=list(LEAST))
    parser.add_argument('--seeds', type=int, default=50)
    parser.add_argument('--trials', type=int, default=100)
    parser.add_argument('--parallel', type=int, default=1, help='of ours alone')
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    print(f'Optuna {optuna.__version__}, {options.seeds} seeds of {options.trials} trials')
    for function in options.functions:
        samplers = {'random': optuna.samplers.RandomSampler, 'Optuna TPE': optuna.samplers.TPESampler}
        seeds = range(options.seeds)
        rows = {name: [optunas(function, make(seed=seed), options.trials) for seed in seeds] for name, make in samplers.items()}
        for method in options.methods:
            rows[method] = [ours(options.program, function, method, seed, options.trials, options.parallel) for seed in seeds]
        print(f'\n{function:<16}  {"median":>9}  {"log mean":>8}  {"to Optuna":>9}  {"p (random)":>10}')
        for name, regrets in rows.items():
            p = mannwhitneyu(regrets, rows['random'], alternative='less').pvalue
            difference = log_mean(regrets) - log_mean(rows['Optuna TPE'])
            print(f'{name:<16}  {statistics.median(regrets):9.3g}  {log_mean(regrets):8.3f}  {difference:+9.3f}  {p:10.2g}')


if __name__ == '__main__':
    main()
