"""Models of tokens for make_goldens.py, written from their papers' formulas with PyTorch's own layers."""
import torch
import torch.nn as nn


class Attention(nn.Module):
    """Masks what a token must not see: what follows it, or what pads the sample."""
    def __init__(self, d, heads, causal):
        super().__init__()
        self.heads, self.causal, self.qkv, self.out = heads, causal, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, lengths):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * (d // self.heads) ** -0.5
        if self.causal:
            scores = scores.masked_fill(torch.ones(t, t).triu(1).bool(), float('-inf'))
        if lengths is not None:
            scores = scores.masked_fill((torch.arange(t) >= lengths[:, None])[:, None, None], float('-inf'))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, d, heads, causal):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(d), Attention(d, heads, causal)
        self.norm2, self.mlp = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, lengths):
        x = x + self.attention(self.norm1(x), lengths)
        return x + self.mlp(self.norm2(x))


class Trunk(nn.Module):
    def __init__(self, vocabulary, layers, d, heads, context, causal):
        super().__init__()
        self.embedding, self.position = nn.Embedding(vocabulary, d), nn.Embedding(context, d)
        self.blocks = nn.ModuleList(Block(d, heads, causal) for _ in range(layers))
        self.norm = nn.LayerNorm(d)

    def forward(self, tokens, lengths=None):
        x = self.embedding(tokens) + self.position.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x, lengths)
        return self.norm(x)

    def tables(self):
        return [self.embedding.weight, self.position.weight]


class Gpt(nn.Module):
    def __init__(self, vocabulary, layers, width, heads, context, tied):
        super().__init__()
        self.trunk = Trunk(vocabulary, layers, width, heads, context, True)
        self.head = None if tied else nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.trunk(tokens)
        return (x @ self.trunk.embedding.weight.T if self.head is None else self.head(x)).flatten(0, 1)

    def undecayed(self):
        return self.trunk.tables()[1 if self.head is None else 0:]


class TextEncoder(nn.Module):
    def __init__(self, classes, layers, width, heads, context):
        super().__init__()
        self.trunk, self.head = Trunk(256, layers, width, heads, context, False), nn.Linear(width, classes)

    def forward(self, tokens, lengths):
        counts = (torch.arange(tokens.shape[1]) < lengths[:, None]).to(self.head.weight.dtype)
        x = self.trunk(tokens, lengths) * counts[:, :, None]
        return self.head(x.sum(1) / counts.sum(1, keepdim=True))

    def undecayed(self):
        return self.trunk.tables()


def batch(case, step, uniform):
    """Tokens at random; of a language some targets do not count, of texts those behind their length."""
    n, t, classes = case['batch'], case['tokens'], case['classes']
    vocabulary = 256 if case['model'] == 'text-encoder' else classes
    tokens = ((uniform(1000 + step, n * t) + 0.5) * vocabulary).long().reshape(n, t)
    i = torch.arange(n * t)
    if case['model'] == 'text-encoder':
        return (tokens, 1 + (5 * i[:n] + step) % t), (7 * i[:n] + 3 * step) % classes
    return (tokens,), torch.where((i + step) % 5 == 0, -1, (7 * i + 3 * step) % classes)


def case(model, make, tokens, classes, size, **other):
    shape = dict(layers=2, width=40, heads=2, context=28)
    return dict(model=model, params=dict(shape, **other), make=lambda: make(classes, **shape, **other), tokens=tokens, classes=classes,
                batch=size, optimizer='adamw', lr=0.001, decay=0.01, smoothing=0.0 if other else 0.1, clip=1.0)


CASES = [
    case('gpt', Gpt, 24, 64, 4, tied=True),
    case('gpt', Gpt, 28, 256, 2, tied=False),
    case('text-encoder', TextEncoder, 20, 7, 6),
]
