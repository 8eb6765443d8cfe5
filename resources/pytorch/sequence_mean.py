def sequence_mean(x, length):
    """Of the tokens before each sample's length."""
    seen = (torch.arange(x.shape[1], device=x.device) < length[:, None]).to(x.dtype)
    return (x * seen[:, :, None]).sum(1) / seen.sum(1, keepdim=True)
