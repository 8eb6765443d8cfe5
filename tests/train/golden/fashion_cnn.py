# fashion-cnn on idx, trained by PyTorch with the settings of Lockstep's trial 7.
#
#     python3 train.py
#     torchrun --standalone --nproc-per-node=2 train.py
# The trial had so many devices, each of which took batch norms over its own samples.
#
#     lockstep export-weights 7 weights.safetensors
#     python3 train.py --weights weights.safetensors
#
# It takes torch and numpy, and nothing of Lockstep's.
# Random numbers are PyTorch's and numpy's, not the trial's: order of the samples, first weights, augmentation.
# --order and --weights give it the trial's.
#
# Settings of the trial that it does not express:
#   check_every: processes do not compare their weights.
#   checkpoint_minutes: nothing is kept to go on from but the weights of --save.
#   on_lost_device: the run ends with any of its processes.

import argparse
import contextlib
import datetime
import gzip
import json
import math
import os
import re
import struct
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

# What the model needs elsewhere.
SIZE = (1, 28, 28)  # channels (grey), height, width
MEAN = (0.5,)  # of pixels of 0 to 1, by channel
DEVIATION = (0.25,)
CLASSES = ["class 0", "class 1", "class 2", "class 3", "class 4", "class 5", "class 6", "class 7", "class 8",
    "class 9"]

# The trial's settings.
DATA = "/data/some where"
COLLECTION = ""
EPOCHS = 5
BATCH = 128  # samples of an update, over all processes
LEARNING_RATE = 0.1
WARMUP_EPOCHS = 0
WARMUP_FROM = 0  # of the learning rate
FINAL = 0
MOMENTUM = 0.9
NESTEROV = False
WEIGHT_DECAY = 0.0005
TABLES = ()  # that do not decay
CLIP_NORM = 0  # 0: gradients are not clipped
SEED = 1
LABEL_SMOOTHING = 0
WEIGHTS = None
STOPS_AT_NON_FINITE = True  # else it leaves up to ten updates in a row out
BUCKET_BYTES = 4194304
TIMEOUT = 300  # seconds that processes wait for one


class Block1(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, image):
        return F.relu(self.norm(self.conv(image)))


class Block2(nn.Module):
    def __init__(self, width1, width2):
        super().__init__()
        self.conv = nn.Conv2d(width1, width2, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width2)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block1 = Block1()
        self.block2 = Block2(4, 8)
        self.block3 = Block2(8, 8)
        self.block4 = Block2(8, 16)
        self.block5 = Block2(16, 16)
        self.head = nn.Linear(144, 10)

    def forward(self, image):
        x = F.max_pool2d(self.block1(image), 2)
        x = self.block2(x)
        x = F.max_pool2d(self.block3(x), 2)
        x = self.block4(x)
        x = F.max_pool2d(self.block5(x), 2).flatten(1)
        return self.head(x)


@torch.no_grad()
def first_weights(net):
    """What does not start as PyTorch starts it."""
    for layer in net.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out")


WEIGHTS_REMEDY = "give --weights what `lockstep export-weights` or --save writes, or a checkpoint of this model"
ORDER_REMEDY = "give --order a file with numbers of samples"


def refuse(what, remedy):
    """Ends the script: a line for whoever gave it what it cannot take."""
    print(f"{Path(sys.argv[0]).name}: {what}; {remedy}", file=sys.stderr)
    sys.exit(2)


@contextlib.contextmanager
def reading(path, remedy):
    """What cannot be read is told without a traceback."""
    try:
        yield
    except OSError as error:
        refuse(f"{error.filename or path} cannot be read: {error.strerror or error}", remedy)
    except (EOFError, LookupError, ValueError) as error:
        refuse(f"{path} cannot be read: {error}", remedy)


def require(path, remedy):
    """That it is there, before anything begins."""
    with reading(path, remedy):
        if not path or not Path(path).exists():
            refuse(f"{path} does not exist" if path else "where the data are is not known", remedy)


def refuse_data(path, what):
    refuse(f"{path} {what}", DATA_REMEDY)


TYPES = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32, "F64": torch.float64}


def weights_in(file):
    """Of what `lockstep export-weights` writes, or a checkpoint: our names have slashes where PyTorch's have dots."""
    raw = Path(file).read_bytes()
    if raw[8:9] != b"{":
        raise ValueError("it is no safetensors file")
    (length,) = struct.unpack("<Q", raw[:8])
    if 8 + length > len(raw):
        raise ValueError("it is cut short")
    header = json.loads(raw[8 : 8 + length])
    is_checkpoint = header.pop("__metadata__", {}).get("format") == "lockstep-checkpoint-1"
    found = {}
    for name, entry in header.items():
        if (is_checkpoint and "." in name) or name.endswith("num_batches_tracked"):
            continue  # the optimizer's
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if end > len(raw):
            raise ValueError("it is cut short")
        tensor = torch.frombuffer(bytearray(raw[begin:end]), dtype=TYPES[entry["dtype"]]).reshape(entry["shape"])
        found[name.replace("/", ".")] = tensor.float()
    return found


def load_weights(net, file):
    with reading(file, WEIGHTS_REMEDY):
        found = weights_in(file)
    wanted = {name: tensor for name, tensor in net.state_dict().items() if tensor.is_floating_point()}
    if found.keys() != wanted.keys():
        name = min(found.keys() ^ wanted.keys())
        refuse(f"{file}: {name} is " + ("missing" if name in wanted else "no tensor of the model"), WEIGHTS_REMEDY)
    for name, tensor in found.items():
        if tensor.shape != wanted[name].shape:
            here = list(wanted[name].shape)
            refuse(f"{file}: {name} is {list(tensor.shape)}, and {here} in the model", WEIGHTS_REMEDY)
    net.load_state_dict(found, strict=False)


def save_weights(net, file):
    """As `lockstep train --weights` takes them."""
    tensors = {name: tensor for name, tensor in net.state_dict().items() if tensor.is_floating_point()}
    header, offset, parts = {"__metadata__": {"format": "lockstep-weights-1", "model": "fashion-cnn"}}, 0, []
    for name, tensor in tensors.items():
        parts.append(tensor.detach().float().cpu().contiguous().numpy().tobytes())
        end = offset + len(parts[-1])
        header[name.replace(".", "/")] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    new = Path(f"{file}.new")
    new.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
    os.replace(new, file)


DATA_REMEDY = (
    "give --data the folder with the IDX files train-images-idx3-ubyte, train-labels-idx1-ubyte and those of t10k,"
    " packed by gzip or not"
)


def unpacked(file):
    raw = file.read_bytes()
    try:
        return gzip.decompress(raw) if file.suffix == ".gz" else raw
    except (EOFError, OSError, zlib.error) as error:
        refuse_data(file, f"cannot be unpacked: {error}")


def idx_images(file):
    raw = unpacked(file)
    magic, count, height, width = struct.unpack(">4I", raw[:16].ljust(16, b"\0"))
    if magic != 0x803 or len(raw) != 16 + count * height * width:
        refuse_data(file, "is no whole IDX file of images")
    return np.frombuffer(raw, np.uint8, offset=16).reshape(count, 1, height, width)


def idx_labels(file):
    raw = unpacked(file)
    magic, count = struct.unpack(">2I", raw[:8].ljust(8, b"\0"))
    if magic != 0x801 or len(raw) != 8 + count:
        refuse_data(file, "is no whole IDX file of labels")
    return np.frombuffer(raw, np.uint8, offset=8)


def idx_file(folder, split, kind):
    """The collection's file, unpacked rather than packed."""
    pattern = re.compile(rf"(?:(.*)-)?(?:{split})-{kind}-ubyte(\.gz)?")
    found = {}
    for file in sorted(folder.iterdir()):
        match = pattern.fullmatch(file.name)
        name = (match[1] or "") if match else ""
        if match and (not COLLECTION or name == COLLECTION or name.endswith("-" + COLLECTION)):
            if name not in found or found[name].suffix == ".gz":
                found[name] = file
    if len(found) != 1:
        wanted = f"{kind[:6]} for {split.replace('|', ' or ')}"
        refuse_data(folder, f"has {len(found)} IDX collections with {wanted}, where one is needed")
    return found.popitem()


def read_data(path):
    """Images u8 N,C,H,W and labels of training and test."""
    folder = path if path.is_dir() else path.parent
    splits = []
    for split in ("train", "t10k|test"):
        name, images = idx_file(folder, split, r"images[-.]idx3")
        _, labels = idx_file(folder, split, r"labels[-.]idx1")
        pixels, labels = idx_images(images), idx_labels(labels)
        if name.startswith("emnist-"):  # they lie on their side
            pixels = pixels.transpose(0, 1, 3, 2)
        if name == "emnist-letters":  # these count from 1
            labels = labels - 1
        splits.append(
            {"image": torch.from_numpy(pixels.copy()), "label": torch.from_numpy(labels.astype(np.int64))}
        )
    return splits


def normalised(images, device):
    mean, deviation = (torch.tensor(each, device=device)[:, None, None] for each in (MEAN, DEVIATION))
    return (images.to(device).float() / 255 - mean) / deviation


def batch_of(split, ids, device):
    return (normalised(split["image"][ids], device),), split["label"][ids].to(device)


def augmented(images, ids, device, epoch, draw, first_sides):
    """Crop, flip, normalise, blank, in this order."""
    count, channels, height, width = images.shape
    # In every other epoch, beginning with either: of two epochs, an image is seen both ways round.
    mirrored = (first_sides[ids] + epoch) % 2 == 1
    images = torch.where(mirrored[:, None, None, None], images.flip(3), images)
    x = normalised(images, device)
    return x


def augmented_batch(split, ids, device, epoch, draw, first_sides):
    x = augmented(split["image"][ids], ids, device, epoch, draw, first_sides)
    return (x,), split["label"][ids].to(device)


def optimizer_of(net):
    """Weight decay is for the weights of convolutions and dense layers: not for norms, biases and tables."""
    trained = [(name, weight) for name, weight in net.named_parameters() if weight.requires_grad]
    decayed = [(name, weight) for name, weight in trained if weight.ndim > 1 and name not in TABLES]
    names = {name for name, _ in decayed}
    others = [weight for name, weight in trained if name not in names]
    groups = [
        {"params": [weight for _, weight in decayed], "weight_decay": WEIGHT_DECAY},
        {"params": others, "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    return torch.optim.SGD(groups, lr=LEARNING_RATE, momentum=MOMENTUM, nesterov=NESTEROV)


def rate_at(update, steps_per_epoch, updates):
    """The learning rate of an update, which counts from 0."""
    warmup = math.floor(WARMUP_EPOCHS * steps_per_epoch + 0.5)
    rest = max(updates - warmup, 0)

    def factor(step):
        progress = min(step / rest, 1.0) if rest > 0 else 1.0
        return FINAL + (1 - FINAL) * (1 + math.cos(math.pi * progress)) / 2

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
    begin, end = share(len(ids), rank, world)
    return [ids[begin:end]] if end > begin else []


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


@torch.no_grad()
def evaluate(net, split, device, rank, world):
    """Mean loss and accuracies; each process takes its part of the samples."""
    net.eval()
    loss = weight = correct = correct5 = 0.0
    begin, end = share(len(split["image"]), rank, world)
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
    return contextlib.nullcontext()


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
    return rank, world, device


def arguments():
    parser = argparse.ArgumentParser(description="Trains fashion-cnn on idx as Lockstep's trial says it.")
    parser.add_argument("--data", default=DATA, help="where the data are (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="how often each sample is seen (%(default)s)")
    parser.add_argument("--weights", default=WEIGHTS, metavar="FILE", help="safetensors to start from")
    parser.add_argument("--save", metavar="FILE", help="write the weights there after each epoch, as safetensors")
    parser.add_argument("--order", metavar="FILE", help="numbers of samples, in the order in which they are taken")
    parser.add_argument("--print-losses", type=int, metavar="N", help="print the first N updates' losses, and end")
    return parser.parse_args()


def main():
    options = arguments()
    require(options.data, DATA_REMEDY)
    if options.weights:
        require(options.weights, WEIGHTS_REMEDY)
    if options.order:
        require(options.order, ORDER_REMEDY)
    rank, world, device = join()
    say = print if rank == 0 else lambda *words, **how: None
    torch.manual_seed(SEED % 2**63)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    with reading(options.data, DATA_REMEDY):
        train, test = read_data(Path(options.data))
    net = Net()
    first_weights(net)
    if options.weights:
        load_weights(net, options.weights)
    net.to(device)
    replica = net
    if world > 1:
        replica = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=BUCKET_BYTES / 2**20)
    weights = [weight for weight in net.parameters() if weight.requires_grad]
    optimizer = optimizer_of(net)
    statistics = Statistics(net, world)
    draw = np.random.default_rng([SEED, rank])
    first_sides = torch.randint(0, 2, (len(train["image"]),), generator=torch.Generator().manual_seed(SEED % 2**63))
    torch.manual_seed((SEED + 104_729 * (rank + 1)) % 2**63)  # dropout: another in each process
    given = None
    if options.order:
        with reading(options.order, ORDER_REMEDY):
            given = torch.from_numpy(np.loadtxt(options.order, dtype=np.int64, ndmin=1))

    count = len(train["image"])
    steps_per_epoch = -(-count // BATCH)
    updates, update, skipped = steps_per_epoch * options.epochs, 0, 0
    for epoch in range(options.epochs):
        began, epoch_loss, epoch_weight = time.perf_counter(), 0.0, 0.0
        order = order_of(epoch, count, given)
        replica.train()
        for step in range(steps_per_epoch):
            ids = order[step * BATCH : (step + 1) * BATCH]
            passes = passes_of(ids, rank, world)
            weight = len(ids)
            for group in optimizer.param_groups:
                group["lr"] = rate_at(update, steps_per_epoch, updates)
            optimizer.zero_grad(set_to_none=True)
            divides = world * max(len(passes), 1) > 1
            if divides:
                statistics.begin()
            loss = 0.0
            # A process without samples in a short batch goes along with one that does not count.
            for number, part in enumerate(passes or [ids[:1]]):
                counts = 1.0 if passes else 0.0
                batch = augmented_batch(train, part, device, epoch, draw, first_sides)
                with summing(replica, number + 1 >= len(passes)):
                    with precision(device):
                        logits = replica(*batch[0])
                    part_loss = losses(logits, batch[1], LABEL_SMOOTHING) * counts
                    # Gradients are averaged over the processes, and the mean is that over the global batch.
                    scaled = part_loss * (world / weight) if weight > 0 else part_loss * 0.0
                    scaled.backward()
                loss += part_loss.item()
                if divides:
                    statistics.add(len(part) * counts)
            if divides:
                statistics.end(len(ids))
            norm = nn.utils.clip_grad_norm_(weights, CLIP_NORM if CLIP_NORM > 0 else math.inf)
            (loss,) = summed([loss], device, world)
            if weight > 0 and math.isfinite(loss) and torch.isfinite(norm):
                optimizer.step()
                skipped = 0
            else:
                skipped += 1
                where = f"update {update + 1} of epoch {epoch + 1}: loss {loss}, norm of the gradient {norm:g}"
                if weight > 0 and (STOPS_AT_NON_FINITE or skipped >= 10):
                    sys.exit(where)
                say(where + ": left out")
            update += 1
            epoch_loss, epoch_weight = epoch_loss + loss, epoch_weight + weight
            if options.print_losses:
                say(f"loss {update} {loss / max(weight, 1):.9g}", flush=True)
                if update >= options.print_losses:
                    return
        kept = net
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
