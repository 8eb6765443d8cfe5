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


def middle(width, height):
    """The box of the picture that the model sees, as torchvision's Resize(size / share) and CenterCrop(size) have it."""
    size = SIZE[1]
    shorter = round(size / SEEN_SHARE)
    longer = shorter * max(width, height) // min(width, height)
    wide, high = (shorter, longer) if height > width else (longer, shorter)
    left, top = round((wide - size) / 2), round((high - size) / 2)
    across, down = width / wide, height / high
    return left * across, top * down, (left + size) * across, (top + size) * down


def square(pixels):
    """The middle of the picture, scaled to the model's size; what is reduced is averaged."""
    channels, size, _ = SIZE
    if channels == 1 and pixels.shape[2] == 3:
        wide = pixels.astype(np.int64)
        pixels = ((wide @ np.array([299, 587, 114]) + 500) // 1000).astype(np.uint8)[:, :, None]
    picture = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    scaled = np.asarray(picture.resize((size, size), INTERPOLATION, box=middle(*picture.size)))
    scaled = scaled[None] if scaled.ndim == 2 else scaled.transpose(2, 0, 1)
    return np.broadcast_to(scaled, SIZE)


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


def is_flat(folder):
    return folder.is_dir() and any(each.suffix.lower() in ENDINGS for each in folder.iterdir())


def read_data(path):
    """Images u8 N,C,H,W and labels of training and test."""
    if any(is_flat(path / name) for name in ("val", "valid", "validation")):
        refuse_data(path, "has images to test with whose classes a list says, which is not read here")
    splits = [decoded(files) for files in class_folders(path)]
    for name, split in zip(("train", "test"), splits):
        if len(split["label"]) == 0:
            refuse_data(path, f"has no image to {name} with that can be read")
    return splits
