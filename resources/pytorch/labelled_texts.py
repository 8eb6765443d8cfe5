def tokens_of(texts):
    """(bytes, label) as rows of as many tokens; 0 behind a text's end."""
    tokens = np.zeros((len(texts), TOKENS), np.uint8)
    for row, (text, _) in zip(tokens, texts):
        row[: min(len(text), TOKENS)] = np.frombuffer(text[:TOKENS], np.uint8)
    return {
        "tokens": torch.from_numpy(tokens),
        "length": torch.tensor([min(len(text), TOKENS) for text, _ in texts]),
        "label": torch.tensor([label for _, label in texts]),
    }
