def attention(qkv, heads, causal=False, length=None):
    """Of N,T,3C: in each token the queries of all heads, then their keys, then their values. With lengths, no token
    sees those from its sample's length on."""
    samples, tokens, width = qkv.shape
    q, k, v = qkv.view(samples, tokens, 3, heads, width // 3 // heads).permute(2, 0, 3, 1, 4)
    seen = None
    if length is not None:
        seen = (torch.arange(tokens, device=qkv.device) < length[:, None])[:, None, None, :]
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, is_causal=causal)
    return mixed.transpose(1, 2).reshape(samples, tokens, width // 3)
