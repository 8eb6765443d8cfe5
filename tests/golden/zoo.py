"""The published networks in PyTorch, written down a second time; parameters are registered in the order in which ours are made."""
import torch
import torch.nn as nn


def conv_norm(i, o, kernel=3, stride=1, padding=None, groups=1):
    padding = kernel // 2 if padding is None else padding
    return [nn.Conv2d(i, o, kernel, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(o)]


def norm_relu_conv(i, o, kernel=3, stride=1):
    return [nn.BatchNorm2d(i), nn.ReLU(), nn.Conv2d(i, o, kernel, stride, kernel // 2, bias=False)]


def classifier(width, classes=10):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes)]


def small_cnn(pixels):
    layers, i = [], 3
    for width in (32, 64, 128):
        layers += [*conv_norm(i, width), nn.ReLU(), *conv_norm(width, width), nn.ReLU(), nn.MaxPool2d(2)]
        i = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * (pixels // 8) ** 2, 10))


def vgg11(norm, cifar, hidden=0):
    layers, i = [], 3
    for width, count in ((64, 1), (128, 1), (256, 2), (512, 2), (512, 2)):
        for _ in range(count):
            layers += [nn.Conv2d(i, width, 3, padding=1, bias=not (norm and cifar)), *([nn.BatchNorm2d(width)] if norm else []), nn.ReLU()]
            i = width
        layers += [nn.MaxPool2d(2)]
    head = [nn.Linear(512, 10)]
    if not cifar:
        head = [nn.Linear(512, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10)]
    return nn.Sequential(*layers, nn.Flatten(), *head)


class Bottleneck(nn.Module):
    def __init__(self, i, width, stride):
        super().__init__()
        o = 4 * width
        self.main = nn.Sequential(*conv_norm(i, width, 1), nn.ReLU(), *conv_norm(width, width, 3, stride), nn.ReLU(), *conv_norm(width, o, 1))
        self.shortcut = nn.Sequential() if stride == 1 and i == o else nn.Sequential(*conv_norm(i, o, 1, stride))

    def forward(self, x):
        return torch.relu(self.main(x) + self.shortcut(x))


def resnet50():
    layers, i = [*conv_norm(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate((3, 4, 6, 3)):
        for n in range(count):
            layers += [Bottleneck(i, 64 << stage, 2 if stage > 0 and n == 0 else 1)]
            i = 256 << stage
    return nn.Sequential(*layers, *classifier(2048))


class PreActivation(nn.Module):
    def __init__(self, i, o, stride, rest):
        super().__init__()
        self.norm = nn.Sequential(nn.BatchNorm2d(i), nn.ReLU())
        self.shortcut = None if stride == 1 and i == o else nn.Conv2d(i, o, 1, stride, bias=False)
        self.rest = nn.Sequential(*rest)

    def forward(self, x):
        y = self.norm(x)
        return self.rest(y) + (x if self.shortcut is None else self.shortcut(y))


def pre_activation(widths, blocks, block, channels):
    layers, i = [nn.Conv2d(3, 16, 3, padding=1, bias=False)], 16
    for stage, width in enumerate(widths):
        for n in range(blocks):
            stride = 2 if stage > 0 and n == 0 else 1
            layers += [PreActivation(i, channels(width), stride, block(i, width, stride))]
            i = channels(width)
    return nn.Sequential(*layers, nn.BatchNorm2d(i), nn.ReLU(), *classifier(i))


def resnet164():
    def block(i, width, stride):
        return [nn.Conv2d(i, width, 1, bias=False), *norm_relu_conv(width, width, 3, stride), *norm_relu_conv(width, 4 * width, 1)]
    return pre_activation((16, 32, 64), 18, block, lambda width: 4 * width)


def wide_resnet16(k):
    def block(i, width, stride):
        return [nn.Conv2d(i, width, 3, stride, 1, bias=False), *norm_relu_conv(width, width)]
    return pre_activation((16 * k, 32 * k, 64 * k), 2, block, lambda width: width)


class InvertedResidual(nn.Module):
    def __init__(self, i, expansion, o, stride):
        super().__init__()
        wide = expansion * i
        expand = [] if expansion == 1 else [*conv_norm(i, wide, 1), nn.ReLU6()]
        self.main = nn.Sequential(*expand, *conv_norm(wide, wide, 3, stride, groups=wide), nn.ReLU6(), *conv_norm(wide, o, 1))
        self.adds = stride == 1 and i == o

    def forward(self, x):
        return self.main(x) + x if self.adds else self.main(x)


def mobilenet_v2():
    layers, i = [*conv_norm(3, 32, 3, 2), nn.ReLU6()], 32
    for expansion, o, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                        (6, 320, 1, 1)):
        for n in range(count):
            layers += [InvertedResidual(i, expansion, o, stride if n == 0 else 1)]
            i = o
    return nn.Sequential(*layers, *conv_norm(320, 1280, 1), nn.ReLU6(), *classifier(1280))


def case(model, make, pixels, batch, **params):
    """Without decay, so that the first gradients are those of the loss."""
    return dict(model=model, params=params, make=make, shape=[3, pixels, pixels], batch=batch, optimizer='sgd', nesterov=False, lr=0.01,
                decay=0.0, smoothing=0.0, clip=0.0)


CASES = [
    case('small-cnn', lambda: small_cnn(16), 16, 12),
    case('vgg11', lambda: vgg11(False, False, 64), 32, 2, width=64, dropout=0),
    case('vgg11-bn-cifar', lambda: vgg11(True, True), 32, 4),
    case('resnet50', resnet50, 64, 2),
    case('resnet164', resnet164, 16, 4),
    case('wideresnet-16', lambda: wide_resnet16(2), 16, 4, k=2),
    case('mobilenet-v2', mobilenet_v2, 64, 4, dropout=0),
]
