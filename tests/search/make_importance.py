#!/usr/bin/env python3
"""What Optuna says of the trials of tst_importance.cpp: the numbers that the test has.

    python3 -m venv optuna && optuna/bin/pip install 'optuna==5.*' scikit-learn
    optuna/bin/python tests/search/make_importance.py
"""
import math
import warnings

import numpy
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import FanovaImportanceEvaluator, PedAnovaImportanceEvaluator, get_param_importances

warnings.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)

IRRATIONALS = [0.618033988749895, 0.414213562373095, 0.732050807568877, 0.236067977499790, 0.645751311064591,
               0.316624790355400, 0.605551275463989, 0.123105625617661]
MIXED = {
    "x": FloatDistribution(0, 1),
    "rate": FloatDistribution(1e-5, 1, log=True),
    "depth": IntDistribution(1, 8),
    "width": IntDistribution(16, 512, log=True),
    "dropout": FloatDistribution(0, 0.5, step=0.125),
    "kind": CategoricalDistribution(["a", "b", "c"]),
    "many": IntDistribution(0, 98),
    "momentum": FloatDistribution(0.8, 0.99),  # of kind a alone
}


def place(trial, column):
    return (trial + 1) * IRRATIONALS[column] % 1.0


def loss_of(u):
    return ((u[1] - 0.6) ** 2 + 0.3 * (u[0] - 0.5) ** 2 + 0.2 * (u[2] - 0.9) ** 2 * u[5] + 0.1 * u[3] + 0.02 * u[7]
            + (0.15 if u[5] < 1 / 3 else 0.0) + 0.05 * u[4] * u[6])


def mixed_trial(trial, rounded):
    u = [place(trial, column) for column in range(8)]
    params = {"x": u[0], "rate": 10 ** (5 * u[1] - 5), "depth": 1 + int(8 * u[2]), "width": int(16 * 32 ** u[3]),
              "dropout": int(5 * u[4]) * 0.125, "kind": "abc"[int(3 * u[5])], "many": int(99 * u[6])}
    if params["kind"] == "a":
        params["momentum"] = 0.8 + 0.19 * u[7]
    loss = loss_of(u)
    if rounded:
        loss = math.floor(20 * loss) / 20
    return optuna.trial.create_trial(params=params, distributions={key: MIXED[key] for key in params}, value=loss)


def ped_anova(count, rounded=False, **options):
    study = optuna.create_study()
    study.add_trials([mixed_trial(trial, rounded) for trial in range(count)])
    found = get_param_importances(study, evaluator=PedAnovaImportanceEvaluator(**options), normalize=False)
    print(f"        {{{', '.join(format(found[key], '.16g') for key in MIXED)}}},  // {count} {rounded} {options}")


def fanova(names, study):
    found = [get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=seed), normalize=False)
             for seed in range(20)]
    for name in names:
        values = [each[name] for each in found]
        print(f"        {name}: {numpy.mean(values):.4f}, over seeds ±{numpy.std(values):.4f}")


def ishigami(count):
    study = optuna.create_study()
    spaces = {name: FloatDistribution(-math.pi, math.pi) for name in "xyz"}
    for trial in range(count):
        x, y, z = (math.pi * (2 * place(trial, column) - 1) for column in range(3))
        value = math.sin(x) + 7 * math.sin(y) ** 2 + 0.1 * z**4 * math.sin(x)
        study.add_trial(optuna.trial.create_trial(params={"x": x, "y": y, "z": z}, distributions=spaces, value=value))
    print("Ishigami", count)
    fanova("xyz", study)


# A rate of a log scale is given by its logarithm: Optuna's fANOVA has no log scales.
def rate_and_momentum(count):
    study = optuna.create_study()
    spaces = {"rate": FloatDistribution(-5, 0), "momentum": FloatDistribution(0, 0.99)}
    for trial in range(count):
        rate, momentum = 5 * place(trial, 0) - 5, 0.99 * place(trial, 1)
        value = (rate + 2) ** 2 + 2 * (momentum - 0.5) ** 2 + 3 * momentum
        study.add_trial(optuna.trial.create_trial(params={"rate": rate, "momentum": momentum}, distributions=spaces,
                                                  value=value))
    print("rate and momentum", count)
    fanova(spaces, study)


# Whole numbers and categories.
def whole_and_kinds(count):
    study = optuna.create_study()
    spaces = {"depth": IntDistribution(1, 8), "kind": CategoricalDistribution(["a", "b", "c"]),
              "x": FloatDistribution(0, 1)}
    for trial in range(count):
        u = [place(trial, column) for column in range(3)]
        depth, kind = int(8 * u[0]), int(3 * u[1])
        value = 0.1 * depth + (0.5 if kind == 1 else 0.0) + u[2] * (0.6 if kind == 2 else 0.2)
        study.add_trial(optuna.trial.create_trial(params={"depth": 1 + depth, "kind": "abc"[kind], "x": u[2]},
                                                  distributions=spaces, value=value))
    print("whole and kinds", count)
    fanova(spaces, study)


print("Optuna", optuna.__version__)
ped_anova(120)
ped_anova(120, target_quantile=0.3, region_quantile=0.6)
ped_anova(120, evaluate_on_local=False)
ped_anova(120, rounded=True)
ped_anova(12)
ped_anova(700)
ishigami(200)
rate_and_momentum(200)
whole_and_kinds(150)
