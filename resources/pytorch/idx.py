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
