#include held_out.py


DATA_REMEDY = "give --data a folder with a folder of images for each class, or with train and test that have such"
ENDINGS = {".jpg", ".jpeg", ".png"}
#include class_folders.py


def pixels_of(file):
    """H,W,C: grey where the file is, else RGB; upright, without alpha."""
    with Image.open(file) as picture:
        picture = ImageOps.exif_transpose(picture)
        if picture.mode.startswith("I"):
            return (np.asarray(picture) >> 8).astype(np.uint8)[:, :, None]
        if picture.mode in ("1", "L", "LA"):
            return np.asarray(picture.convert("L"))[:, :, None]
        return np.asarray(picture.convert("RGB"))


def taps(side, size, offset):
    at = np.clip((np.arange(size) + 0.5) * (side / size) - 0.5, 0.0, side - 1.0)
    first = at.astype(np.int64)
    return offset + first, offset + np.minimum(first + 1, side - 1), (at - first).astype(np.float32)


def square(pixels):
    """The centred square of the short side, scaled to the model's size: halved while twice too large, then bilinear."""
    channels, size, _ = SIZE
    if channels == 1 and pixels.shape[2] == 3:
        wide = pixels.astype(np.int64)
        pixels = ((wide @ np.array([299, 587, 114]) + 500) // 1000).astype(np.uint8)[:, :, None]
    while min(pixels.shape[:2]) >= 2 * size:
        height, width = (extent // 2 * 2 for extent in pixels.shape[:2])
        wide = pixels[:height, :width].astype(np.uint16)
        pixels = ((wide[::2, ::2] + wide[::2, 1::2] + wide[1::2, ::2] + wide[1::2, 1::2] + 2) // 4).astype(np.uint8)
    height, width = pixels.shape[:2]
    side = min(height, width)
    top, bottom, down = taps(side, size, (height - side) // 2)
    left, right, along = taps(side, size, (width - side) // 2)
    wide, along, down = pixels.astype(np.float32), along[None, :, None], down[:, None, None]
    across = wide[:, left] + along * (wide[:, right] - wide[:, left])
    scaled = (across[top] + down * (across[bottom] - across[top]) + np.float32(0.5)).astype(np.uint8)
    return np.broadcast_to(scaled.transpose(2, 0, 1), SIZE)


def decoded(files):
    images, labels = [], []
    for file, label in files:
        try:
            images.append(square(pixels_of(file)))
        except (OSError, SyntaxError, ValueError) as error:
            print(f"{file} is left out: {error}", file=sys.stderr)
            continue
        labels.append(label)
    pixels = np.stack(images) if images else np.zeros((0, *SIZE), np.uint8)
    return {"image": torch.from_numpy(pixels), "label": torch.tensor(labels)}


def read_data(path):
    """Images u8 N,C,H,W and labels of training and test."""
    splits = [decoded(files) for files in class_folders(path)]
    for name, split in zip(("train", "test"), splits):
        if len(split["label"]) == 0:
            refuse_data(path, f"has no image to {name} with that can be read")
    return splits
