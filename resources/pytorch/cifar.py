def cifar(files):
    """Records of label bytes and 3,072 planar RGB bytes."""
    records = np.concatenate([np.fromfile(file, np.uint8) for file in files]).reshape(-1, LABEL_BYTES + 3072)
    pixels = records[:, LABEL_BYTES:].reshape(-1, 3, 32, 32)
    return {"image": torch.from_numpy(pixels.copy()), "label": torch.from_numpy(records[:, LABEL_AT].astype(np.int64))}


def read_data(path):
    """Images u8 N,C,H,W and labels of training and test."""
    folder = path if path.is_dir() else path.parent
    if (folder / FOLDER).is_dir():
        folder = folder / FOLDER
    return cifar([folder / file for file in TRAIN_FILES if (folder / file).exists()]), cifar([folder / TEST_FILE])
