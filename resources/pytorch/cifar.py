DATA_REMEDY = f"give --data the folder {FOLDER}, or the one that it is in, with {TRAIN_FILES[0]} and {TEST_FILE}"


def records_of(file):
    """Of label bytes and 3,072 planar RGB bytes."""
    raw = np.fromfile(file, np.uint8)
    if len(raw) == 0 or len(raw) % (LABEL_BYTES + 3072) != 0:
        refuse_data(file, f"does not consist of records of {LABEL_BYTES + 3072} bytes")
    return raw.reshape(-1, LABEL_BYTES + 3072)


def cifar(files):
    records = np.concatenate([records_of(file) for file in files])
    pixels = records[:, LABEL_BYTES:].reshape(-1, 3, 32, 32)
    return {"image": torch.from_numpy(pixels.copy()), "label": torch.from_numpy(records[:, LABEL_AT].astype(np.int64))}


def read_data(path):
    """Images u8 N,C,H,W and labels of training and test."""
    folder = path if path.is_dir() else path.parent
    if (folder / FOLDER).is_dir():
        folder = folder / FOLDER
    train = [folder / file for file in TRAIN_FILES if (folder / file).exists()]
    if not train or not (folder / TEST_FILE).exists():
        refuse_data(folder, f"has no {TEST_FILE if train else TRAIN_FILES[0]}")
    return cifar(train), cifar([folder / TEST_FILE])
