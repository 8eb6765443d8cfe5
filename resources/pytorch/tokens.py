def batch_of(split, ids, device):
#if masked
    return (split["tokens"][ids].long().to(device),), split["targets"][ids].long().to(device)
#else
    inputs = split["tokens"][ids].long().to(device), split["length"][ids].to(device)
    return inputs, split["label"][ids].to(device)
#end
