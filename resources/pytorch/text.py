DATA_REMEDY = "give --data a UTF-8 text, or a folder of .txt files"


#include text_file.py


def windows(text):
    """Side by side; what follows each byte is its target, and nothing is foretold of what lies behind the text."""
    count = -(-(len(text) - 1) // TOKENS)
    tokens, targets = np.zeros(count * TOKENS, np.uint8), np.full(count * TOKENS, -1, np.int16)
    tokens[: min(len(text), count * TOKENS)] = text[: count * TOKENS]
    targets[: len(text) - 1] = text[1:]
    return {
        "tokens": torch.from_numpy(tokens.reshape(count, TOKENS)),
        "targets": torch.from_numpy(targets.reshape(count, TOKENS)),
    }


def read_data(path):
    """Windows of bytes of training and test, which is the end of the text and begins with a character."""
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix == ".txt" and not file.name.startswith("."))
    text = b"".join(text_of(file) for file in files)
    if len(text) < 4:
        refuse_data(path, "has no text to learn from" if files else "has no .txt file")
    text = np.frombuffer(text, np.uint8)
    begin = len(text) - max(int(TEST_SHARE * len(text)), 2)
    while begin > 0 and text[begin] & 0xC0 == 0x80:
        begin -= 1
    return windows(text[:begin]), windows(text[begin:])
