def text_of(file):
    return file.read_bytes().removeprefix(b"\xef\xbb\xbf")
