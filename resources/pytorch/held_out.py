def place_of(name):
    """A number of [0, 1) that a name has by itself (Philox4x32-10): those below TEST_SHARE are held out."""
    mask = 2**64 - 1

    def mix(x):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        return x ^ (x >> 31)

    stream = 14695981039346656037
    for byte in name:
        stream = (stream ^ byte) * 1099511628211 & mask
    key = mix(0x9E3779B97F4A7C15) ^ mix(stream)
    where = mix(mix(0x632BE59BD9B4E019) ^ key)
    low, high = key & 0xFFFFFFFF, key >> 32
    counter = [0, where & 0xFFFFFFFF, where >> 32, 0]
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (second >> 32) ^ counter[1] ^ low,
            second & 0xFFFFFFFF,
            (first >> 32) ^ counter[3] ^ high,
            first & 0xFFFFFFFF,
        ]
        low, high = (low + 0x9E3779B9) & 0xFFFFFFFF, (high + 0xBB67AE85) & 0xFFFFFFFF
    return counter[0] / 2**32


def held_out(names):
    """Which of one class are for testing; one stays, so that no class is tested only."""
    places = [place_of(name) for name in names]
    kept = places.index(max(places))
    return [place < TEST_SHARE and i != kept for i, place in enumerate(places)]
