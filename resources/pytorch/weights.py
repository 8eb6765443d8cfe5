TYPES = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32, "F64": torch.float64}


def load_weights(net, file@NEW_HEAD_PARAMETER@):
    """What `lockstep export-weights` writes, or a checkpoint: our names have slashes where PyTorch's have dots."""
    raw = Path(file).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    is_checkpoint = header.pop("__metadata__", {}).get("format") == "lockstep-checkpoint-1"
    wanted = {name: tensor for name, tensor in net.state_dict().items() if tensor.is_floating_point()}
    found = {}
    for name, entry in header.items():
        if (is_checkpoint and "." in name) or name.endswith("num_batches_tracked"):
            continue  # the optimizer's
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensor = torch.frombuffer(bytearray(raw[begin:end]), dtype=TYPES[entry["dtype"]]).reshape(entry["shape"])
        found[name.replace("/", ".")] = tensor.float()
#if new_head
    differs = any(name in found and found[name].shape != wanted[name].shape for name in wanted if name.startswith("head."))
    if new_head == "yes" or (new_head == "auto" and differs):
        found = {name: tensor for name, tensor in found.items() if not name.startswith("head.")}
        wanted = {name: tensor for name, tensor in wanted.items() if not name.startswith("head.")}
#end
    if found.keys() != wanted.keys():
        name = min(found.keys() ^ wanted.keys())
        sys.exit(f"{file}: {name} is " + ("missing" if name in wanted else "no tensor of the model"))
    for name, tensor in found.items():
        if tensor.shape != wanted[name].shape:
            sys.exit(f"{file}: {name} is {list(tensor.shape)}, and {list(wanted[name].shape)} in the model")
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
