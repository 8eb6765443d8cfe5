SYSTEM = {"__MACOSX", "Thumbs.db", "ehthumbs.db", "desktop.ini", "$RECYCLE.BIN", "System Volume Information"}
SYSTEM |= {"@eaDir", "lost+found"}


def is_seen(name):
    return not name.startswith(".") and name not in SYSTEM


def files_of(split, name):
    """The files of a class, by name within the split."""
    files = []
    for folder, folders, names in os.walk(split / name):
        folders[:] = [each for each in folders if is_seen(each)]
        files += [Path(folder) / each for each in names if is_seen(each) and Path(each).suffix.lower() in ENDINGS]
    return sorted(files, key=lambda file: os.fsencode(file.relative_to(split).as_posix()))


def class_folders(path):
    """(file, label) of training and test: folders of their own, or a share of each class is held out."""

    def split_at(names):
        for name in names:
            folder = path / name
            if folder.is_dir() and any(each.is_dir() and is_seen(each.name) for each in folder.iterdir()):
                return folder
        return None

    if not path.is_dir():
        refuse_data(path, "is no folder")
    training = split_at(["train", "training"])
    testing = split_at(["test", "testing", "val", "valid", "validation"]) if training else None
    train, test = [], []
    for label, name in enumerate(CLASSES):
        files = files_of(training or path, name)
        if testing:
            train += [(file, label) for file in files]
            test += [(file, label) for file in (files_of(testing, name) if (testing / name).is_dir() else [])]
        elif files:
            names = [os.fsencode(file.relative_to(training or path).as_posix()) for file in files]
            for file, is_held_out in zip(files, held_out(names)):
                (test if is_held_out else train).append((file, label))
    if not train:
        refuse_data(path, f"has no files of the classes {', '.join(CLASSES[:5])}{' …' if len(CLASSES) > 5 else ''}")
    return train, test
