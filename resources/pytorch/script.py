@HEADER@

import argparse
import contextlib
#if averages
import copy
#end
#if csv
import csv
#end
import datetime
#if idx
import gzip
#end
#if csv
import io
#end
import json
import math
import os
#if idx
import re
#end
import struct
import sys
import time
#if idx
import zlib
#end
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
#if jitter
from torchvision.transforms import v2
#end
#if pillow
from PIL import Image, ImageOps
#end

# What the model needs elsewhere.
@NEEDS@

# The trial's settings.
@SETTINGS@

#if attention


#include attention.py
#end
#if sequence_mean


#include sequence_mean.py
#end


@MODEL@


@torch.no_grad()
def first_weights(net):
    """What does not start as PyTorch starts it."""
@FIRST_WEIGHTS@
#if frozen


def is_frozen(name):
    return any(name == layer or name.startswith(layer + ".") for layer in FROZEN)
#end


#include given.py


#include weights.py


#include @DATA_READER@


#if images
#include images.py
#else
#include tokens.py
#end
#if lars


#include lars.py
#end
#if muon


#include muon.py
#end


def optimizer_of(net):
    """Weight decay is for the weights of convolutions and dense layers: not for norms, biases and tables."""
    trained = [(name, weight) for name, weight in net.named_parameters() if weight.requires_grad]
    decayed = [(name, weight) for name, weight in trained if weight.ndim > 1 and name not in TABLES]
    names = {name for name, _ in decayed}
    others = [weight for name, weight in trained if name not in names]
#if sgd
    groups = [
        {"params": [weight for _, weight in decayed], "weight_decay": WEIGHT_DECAY},
        {"params": others, "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    return torch.optim.SGD(groups, lr=LEARNING_RATE, momentum=MOMENTUM, nesterov=NESTEROV)
#end
#if adamw
    groups = [
        {"params": [weight for _, weight in decayed], "weight_decay": WEIGHT_DECAY},
        {"params": others, "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    return torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=(BETA1, BETA2), eps=EPSILON)
#end
#if lars
    groups = [
        {"params": [weight for _, weight in decayed], "weight_decay": WEIGHT_DECAY, "adapts": True},
        {"params": others, "weight_decay": 0.0, "adapts": False},
    ]
    return Lars([group for group in groups if group["params"]])
#end
#if muon
    matrices = [weight for name, weight in decayed if name != "head.weight"]
    head = [weight for name, weight in decayed if name == "head.weight"]
    groups = [
        {"params": matrices, "weight_decay": WEIGHT_DECAY, "orthogonal": True},
        {"params": head, "weight_decay": WEIGHT_DECAY, "orthogonal": False},
        {"params": others, "weight_decay": 0.0, "orthogonal": False},
    ]
    return Muon([group for group in groups if group["params"]])
#end


def rate_at(update, steps_per_epoch, updates):
    """The learning rate of an update, which counts from 0."""
    warmup = math.floor(WARMUP_EPOCHS * steps_per_epoch + 0.5)
    rest = max(updates - warmup, 0)

    def factor(step):
#if constant
        return 1.0
#end
#if step
        return GAMMA ** math.floor((step + warmup) / steps_per_epoch / DROP_EVERY)
#end
#if cosine
        progress = min(step / rest, 1.0) if rest > 0 else 1.0
        return FINAL + (1 - FINAL) * (1 + math.cos(math.pi * progress)) / 2
#end
#if one_cycle
        rise = math.floor(RISE * rest)
        if step < rise:
            return (step + 1) / rise
        progress = min((step - rise) / (rest - rise), 1.0) if rest > rise else 1.0
        return FINAL + (1 - FINAL) * (1 + math.cos(math.pi * progress)) / 2
#end

    if update >= warmup:
        return LEARNING_RATE * factor(update - warmup)
    return LEARNING_RATE * (WARMUP_FROM + (1 - WARMUP_FROM) * (update + 1) / warmup) * factor(0)


def share(whole, part, parts):
    """Where a part of `whole` samples begins and ends; earlier parts are larger by one where it does not divide."""
    each, more = divmod(whole, parts)
    begin = part * each + min(part, more)
    return begin, begin + each + (part < more)


def passes_of(ids, rank, world):
    """This process's samples of a global batch, pass by pass."""
#if shards
    parts = [share(len(ids), rank * (SHARDS // world) + number, SHARDS) for number in range(SHARDS // world)]
    return [ids[begin:end] for begin, end in parts if end > begin]
#else
    begin, end = share(len(ids), rank, world)
#if accumulates
    parts = [share(end - begin, number, ACCUMULATION) for number in range(ACCUMULATION)]
    return [ids[begin + first : begin + last] for first, last in parts if last > first]
#else
    return [ids[begin:end]] if end > begin else []
#end
#end


def order_of(epoch, count, given):
    """The samples of an epoch, in order: those of --order, or shuffled."""
    if given is None:
        return torch.randperm(count, generator=torch.Generator().manual_seed((SEED + 1_000_003 * epoch) % 2**63))
    if len(given) < (epoch + 1) * count:
        sys.exit(f"--order has {len(given)} samples; epoch {epoch + 1} needs {(epoch + 1) * count}")
    return given[epoch * count : (epoch + 1) * count]


def summing(replica, is_last):
    """Gradients are summed over the processes in an update's last pass alone."""
    is_alone = not isinstance(replica, nn.parallel.DistributedDataParallel)
    return contextlib.nullcontext() if is_alone or is_last else replica.no_sync()


def losses(logits, labels, smoothing=0.0, reduction="sum"):
    return F.cross_entropy(
        logits.float().flatten(0, -2), labels.flatten(), ignore_index=-1, label_smoothing=smoothing, reduction=reduction
    )


def summed(values, device, world):
    """The sums of numbers over all processes."""
    values = torch.tensor(values, dtype=torch.float64, device=device)
    if world > 1:
        dist.all_reduce(values)
    return values.tolist()
#if norms


class Statistics:
    """Running statistics of norms: all passes start from the same, and the mean of what they make of them, by
    samples and over all processes, is what stays."""

    def __init__(self, net, world):
        self.buffers = [buffer for buffer in net.buffers() if buffer.is_floating_point()]
        self.world = world

    def begin(self):
        self.before = [buffer.clone() for buffer in self.buffers]
        self.sums = [torch.zeros_like(buffer) for buffer in self.buffers]

    def add(self, samples):
        for buffer, before, total in zip(self.buffers, self.before, self.sums):
            total.add_(buffer, alpha=samples)
            buffer.copy_(before)

    def end(self, samples):
        sums = torch.cat(self.sums) / samples
        if self.world > 1:
            dist.all_reduce(sums)
        for buffer, mean in zip(self.buffers, sums.split([buffer.numel() for buffer in self.buffers])):
            buffer.copy_(mean)
#end


@torch.no_grad()
def evaluate(net, split, device, rank, world):
    """Mean loss and accuracies; each process takes its part of the samples."""
    net.eval()
    loss = weight = correct = correct5 = 0.0
    begin, end = share(len(split["@FIRST_FIELD@"]), rank, world)
    batch = max(BATCH // world, 1)
    for first in range(begin, end, batch):
        ids = torch.arange(first, min(first + batch, end))
        inputs, labels = batch_of(split, ids, device)
        with precision(device):
            logits = net(*inputs)
        loss += losses(logits, labels).item()
        counts = labels >= 0
        best = logits.topk(min(5, logits.shape[-1]), -1).indices == labels[..., None]
        weight += counts.sum().item()
        correct += (best[..., 0] & counts).sum().item()
        correct5 += (best.any(-1) & counts).sum().item()
    loss, weight, correct, correct5 = summed([loss, weight, correct, correct5], device, world)
    weight = max(weight, 1)
    return loss / weight, correct / weight, correct5 / weight


def precision(device):
#if bf16
    return torch.autocast(device.type, dtype=torch.bfloat16)
#end
#if fp16
    return torch.autocast(device.type, dtype=torch.float16)
#end
#if fp32
    return contextlib.nullcontext()
#end


def join():
    """Rank, world and device of this process, which torchrun or a person started."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    rank, local = int(os.environ.get("RANK", "0")), int(os.environ.get("LOCAL_RANK", "0"))
    has_card = torch.cuda.is_available() and local < torch.cuda.device_count()
    device = torch.device("cuda", local) if has_card else torch.device("cpu")
    if has_card:
        torch.cuda.set_device(device)
    if world > 1:
        dist.init_process_group("nccl" if has_card else "gloo", timeout=datetime.timedelta(seconds=TIMEOUT))
#if shards
    if SHARDS % world != 0:
        sys.exit(f"{world} processes do not divide the {SHARDS} shards of a batch")
#end
    return rank, world, device


def arguments():
    parser = argparse.ArgumentParser(description="Trains @MODEL_ID@ on @DATASET_ID@ as Lockstep's trial says it.")
    parser.add_argument("--data", default=DATA, help="where the data are (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="how often each sample is seen (%(default)s)")
    parser.add_argument("--weights", default=WEIGHTS, metavar="FILE", help="safetensors to start from")
    parser.add_argument("--save", metavar="FILE", help="write the weights there after each epoch, as safetensors")
    parser.add_argument("--order", metavar="FILE", help="numbers of samples, in the order in which they are taken")
    parser.add_argument("--print-losses", type=int, metavar="N", help="print the first N updates' losses, and end")
    return parser.parse_args()


def main():
    options = arguments()
#if files
    require(options.data, DATA_REMEDY)
#end
    if options.weights:
        require(options.weights, WEIGHTS_REMEDY)
    if options.order:
        require(options.order, ORDER_REMEDY)
    rank, world, device = join()
    say = print if rank == 0 else lambda *words, **how: None
    torch.manual_seed(SEED % 2**63)
#if tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
#else
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
#end
#if files
    with reading(options.data, DATA_REMEDY):
        train, test = read_data(Path(options.data))
#else
    train, test = read_data(Path(options.data))
#end
#if measures
    measure(train["image"])
#end
    net = Net()
    first_weights(net)
    if options.weights:
        load_weights(net, options.weights@NEW_HEAD@)
    net.to(device)
#if frozen
    for name, weight in net.named_parameters():
        weight.requires_grad_(not is_frozen(name))
#end
#if synchronised
    if world > 1 and device.type != "cuda":
        sys.exit("batch norm over all processes takes cards: PyTorch has it for those alone")
    if world > 1:
        net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
#end
    replica = net
    if world > 1:
        replica = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=BUCKET_BYTES / 2**20)
    weights = [weight for weight in net.parameters() if weight.requires_grad]
    optimizer = optimizer_of(net)
#if fp16
    scaler = torch.amp.GradScaler(device.type)
#end
#if norms
    statistics = Statistics(net, world)
#end
#if averages
    averaged = copy.deepcopy(net)
#end
#if augments
    draw = np.random.default_rng([SEED, rank])
#end
#if flip
    first_sides = torch.randint(0, 2, (len(train["image"]),), generator=torch.Generator().manual_seed(SEED % 2**63))
#end
    torch.manual_seed((SEED + 104_729 * (rank + 1)) % 2**63)  # dropout: another in each process
    given = None
    if options.order:
        with reading(options.order, ORDER_REMEDY):
            given = torch.from_numpy(np.loadtxt(options.order, dtype=np.int64, ndmin=1))

    count = len(train["@FIRST_FIELD@"])
    steps_per_epoch = -(-count // BATCH)
    updates, update, skipped = steps_per_epoch * options.epochs, 0, 0
    for epoch in range(options.epochs):
        began, epoch_loss, epoch_weight = time.perf_counter(), 0.0, 0.0
        order = order_of(epoch, count, given)
        replica.train()
#if frozen
        for name, layer in net.named_modules():  # frozen norms keep their statistics
            if is_frozen(name) and isinstance(layer, nn.modules.batchnorm._BatchNorm):
                layer.eval()
#end
        for step in range(steps_per_epoch):
            ids = order[step * BATCH : (step + 1) * BATCH]
            passes = passes_of(ids, rank, world)
#if masked
            (weight,) = summed([sum((train["targets"][part] >= 0).sum().item() for part in passes)], device, world)
#else
            weight = len(ids)
#end
            for group in optimizer.param_groups:
                group["lr"] = rate_at(update, steps_per_epoch, updates)
            optimizer.zero_grad(set_to_none=True)
#if norms
            divides = world * max(len(passes), 1) > 1
            if divides:
                statistics.begin()
#end
            loss = 0.0
            # A process without samples in a short batch goes along with one that does not count.
            for number, part in enumerate(passes or [ids[:1]]):
                counts = 1.0 if passes else 0.0
#if augments
                batch = augmented_batch(train, part, device, epoch, draw@SIDES@)
#else
                batch = batch_of(train, part, device)
#end
                with summing(replica, number + 1 >= len(passes)):
                    with precision(device):
                        logits = replica(*batch[0])
#if mixes
                    labels, others, shares = batch[1]
                    own, other = (losses(logits, each, LABEL_SMOOTHING, "none") for each in (labels, others))
                    part_loss = (shares * own + (1 - shares) * other).sum() * counts
#else
                    part_loss = losses(logits, batch[1], LABEL_SMOOTHING) * counts
#end
                    # Gradients are averaged over the processes, and the mean is that over the global batch.
                    scaled = part_loss * (world / weight) if weight > 0 else part_loss * 0.0
#if fp16
                    scaled = scaler.scale(scaled)
#end
                    scaled.backward()
                loss += part_loss.item()
#if norms
                if divides:
                    statistics.add(len(part) * counts)
            if divides:
                statistics.end(len(ids))
#end
#if fp16
            scaler.unscale_(optimizer)
#end
            norm = nn.utils.clip_grad_norm_(weights, CLIP_NORM if CLIP_NORM > 0 else math.inf)
            (loss,) = summed([loss], device, world)
            if weight > 0 and math.isfinite(loss) and torch.isfinite(norm):
#if fp16
                scaler.step(optimizer)
#else
                optimizer.step()
#end
                skipped = 0
#if averages
                decay = min(AVERAGE_DECAY, (2 + update) / (11 + update))
                with torch.no_grad():
                    for average, now in zip(averaged.parameters(), net.parameters()):
                        average.lerp_(now, 1 - decay)
#end
#if fp16
            elif weight > 0 and math.isfinite(loss) and scaler.get_scale() > 2**-24:
                pass  # gradients beyond fp16: the scaler lowers its factor
#end
            else:
                skipped += 1
                where = f"update {update + 1} of epoch {epoch + 1}: loss {loss}, norm of the gradient {norm:g}"
                if weight > 0 and (STOPS_AT_NON_FINITE or skipped >= 10):
                    sys.exit(where)
                say(where + ": left out")
#if fp16
            scaler.update()
#end
            update += 1
            epoch_loss, epoch_weight = epoch_loss + loss, epoch_weight + weight
            if options.print_losses:
                say(f"loss {update} {loss / max(weight, 1):.9g}", flush=True)
                if update >= options.print_losses:
                    return
#if averages
        for average, now in zip(averaged.buffers(), net.buffers()):
            average.copy_(now)
        kept = averaged
#else
        kept = net
#end
        found, accuracy, accuracy5 = evaluate(kept, test, device, rank, world)
        say(
            f"epoch {epoch + 1}: training loss {epoch_loss / max(epoch_weight, 1):.5f}, test loss {found:.5f},"
            f" accuracy {100 * accuracy:.2f} %, among five {100 * accuracy5:.2f} %,"
            f" {count / (time.perf_counter() - began):.0f} samples/s",
            flush=True,
        )
        if options.save and rank == 0:
            save_weights(kept, options.save)


if __name__ == "__main__":
    try:
        main()
        if dist.is_initialized():
            dist.barrier()  # gloo's threads do not outlive the first to leave
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
