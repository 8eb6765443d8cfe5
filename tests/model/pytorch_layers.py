"""Names and extents of the tensors of `Net`, for classes of PyTorch's from the standard input, with a zero byte between two models.

Layers know no more than the extents of their tensors here, so that no PyTorch is needed.
"""
import sys

class Module:
    def __init__(self, **tensors):
        self.__dict__.update(tensors)

def pair(k):
    return k if isinstance(k, tuple) else (k, k)

class nn:
    Module = Module
    def Conv2d(i, o, k, stride=1, padding=0, dilation=1, groups=1, bias=True):
        return Module(weight=(o, i // groups, *pair(k)), **({"bias": (o,)} if bias else {}))
    def Linear(i, o, bias=True):
        return Module(weight=(o, i), **({"bias": (o,)} if bias else {}))
    def BatchNorm2d(c):
        return Module(weight=(c,), bias=(c,), running_mean=(c,), running_var=(c,))
    def LayerNorm(c):
        return Module(weight=(c,), bias=(c,))
    def Embedding(rows, c):
        return Module(weight=(rows, c))
    def Parameter(extents):
        return extents

class torch:
    def zeros(*extents):
        return extents

def names(prefix, module):
    for name, each in vars(module).items():
        if isinstance(each, Module):
            yield from names(prefix + name + ".", each)
        else:
            yield prefix + name + " " + "x".join(map(str, each))

for text in sys.stdin.read().split("\0"):
    scope = {"nn": nn, "torch": torch}
    exec(text, scope)
    print("\n".join(sorted(names("", scope["Net"]()))))
    print()
