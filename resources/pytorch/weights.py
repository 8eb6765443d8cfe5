TYPES = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32, "F64": torch.float64}


def weights_in(file):
    """Of what `lockstep export-weights` writes, or a checkpoint: our names have slashes where PyTorch's have dots."""
    raw = Path(file).read_bytes()
    if raw[8:9] != b"{":
        raise ValueError("it is no safetensors file")
    (length,) = struct.unpack("<Q", raw[:8])
    if 8 + length > len(raw):
        raise ValueError("it is cut short")
    header = json.loads(raw[8 : 8 + length])
    is_checkpoint = header.pop("__metadata__", {}).get("format") == "lockstep-checkpoint-1"
    found = {}
    for name, entry in header.items():
        if (is_checkpoint and "." in name) or name.endswith("num_batches_tracked"):
            continue  # the optimizer's
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if end > len(raw):
            raise ValueError("it is cut short")
        tensor = torch.frombuffer(bytearray(raw[begin:end]), dtype=TYPES[entry["dtype"]]).reshape(entry["shape"])
        found[name.replace("/", ".")] = tensor.float()
    return found


def load_weights(net, file@NEW_HEAD_PARAMETER@):
    with reading(file, WEIGHTS_REMEDY):
        found = weights_in(file)
    wanted = {name: tensor for name, tensor in net.state_dict().items() if tensor.is_floating_point()}
#if new_head
    differs = any(name in found and found[name].shape != wanted[name].shape for name in wanted if name.startswith("head."))
    if new_head == "yes" or (new_head == "auto" and differs):
        found = {name: tensor for name, tensor in found.items() if not name.startswith("head.")}
        wanted = {name: tensor for name, tensor in wanted.items() if not name.startswith("head.")}
#end
    if found.keys() != wanted.keys():
        name = min(found.keys() ^ wanted.keys())
        refuse(f"{file}: {name} is " + ("missing" if name in wanted else "no tensor of the model"), WEIGHTS_REMEDY)
    for name, tensor in found.items():
        if tensor.shape != wanted[name].shape:
            here = list(wanted[name].shape)
            refuse(f"{file}: {name} is {list(tensor.shape)}, and {here} in the model", WEIGHTS_REMEDY)
    net.load_state_dict(found, strict=False)


def save_weights(net, file):
    """As `lockstep train --weights` takes them."""
    tensors = {name: tensor for name, tensor in net.state_dict().items() if tensor.is_floating_point()}
    header, offset, parts = {"__metadata__": {"format": "lockstep-weights-1", "model": "@MODEL_ID@"}}, 0, []
    for name, tensor in tensors.items():
        parts.append(tensor.detach().float().cpu().contiguous().numpy().tobytes())
        end = offset + len(parts[-1])
        header[name.replace(".", "/")] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    new = Path(f"{file}.new")
    new.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
    os.replace(new, file)
