#if measures
def measure(images):
    """Mean and deviation by channel of up to 5,000 training images."""
    global MEAN, DEVIATION
    count = len(images)
    taken = min(count, 5000)
    chosen = images[[i * count // taken for i in range(taken)]].double() / 255
    MEAN = chosen.mean((0, 2, 3)).tolist()
    deviations = chosen.std((0, 2, 3), correction=0)
    DEVIATION = torch.where(deviations > 1e-3 / 255, deviations, 1.0).tolist()


#end
def normalised(images, device):
    mean, deviation = (torch.tensor(each, device=device)[:, None, None] for each in (MEAN, DEVIATION))
    return (images.to(device).float() / 255 - mean) / deviation


def batch_of(split, ids, device):
    return (normalised(split["image"][ids], device),), split["label"][ids].to(device)
#if augments
#if jitter


change_colours = v2.ColorJitter(BRIGHTNESS, CONTRAST, SATURATION, HUE)
#end


def augmented(images, ids, device, epoch, draw@SIDES@):
    """Crop, flip, normalise, blank, in this order."""
    count, channels, height, width = images.shape
#if jitter
    images = torch.stack([change_colours(image) for image in images])
#end
#if crop
    padded = F.pad(images, (CROP_PADDING,) * 4)
    shifts = torch.from_numpy(draw.integers(0, 2 * CROP_PADDING + 1, (2, count)))
    rows, columns = shifts[0][:, None] + torch.arange(height), shifts[1][:, None] + torch.arange(width)
    images = padded[
        torch.arange(count)[:, None, None, None],
        torch.arange(channels)[:, None, None],
        rows[:, None, :, None],
        columns[:, None, None, :],
    ]
#end
#if flip
    # In every other epoch, beginning with either: of two epochs, an image is seen both ways round.
    mirrored = (first_sides[ids] + epoch) % 2 == 1
    images = torch.where(mirrored[:, None, None, None], images.flip(3), images)
#end
    x = normalised(images, device)
#if cutout
    tops = draw.integers(0, height, count) - CUTOUT // 2
    lefts = draw.integers(0, width, count) - CUTOUT // 2
    for image, top, left in zip(x, tops, lefts):
        image[:, max(top, 0) : max(top + CUTOUT, 0), max(left, 0) : max(left + CUTOUT, 0)] = 0
#end
#if erasing
    for image in x:
        if draw.random() < RANDOM_ERASING:
            erase(image, draw)
#end
    return x
#if erasing


def erase(image, draw):
    """Blanks a rectangle of 2 to 33 % of the image, with sides as 0.3 to 3.3."""
    _, height, width = image.shape
    for _ in range(10):
        area, aspect = height * width * draw.uniform(0.02, 0.33), math.exp(draw.uniform(math.log(0.3), math.log(3.3)))
        high, wide = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if high < height and wide < width:
            top, left = draw.integers(0, height - high + 1), draw.integers(0, width - wide + 1)
            image[:, top : top + high, left : left + wide] = 0
            return
#end
#if mixup


def blended(x, other, draw):
    """Mixup, and the shares of the images themselves: the larger ones."""
    shares = draw.beta(MIXUP, MIXUP, len(x))
    shares = torch.from_numpy(np.maximum(shares, 1 - shares)).float().to(x.device)
    return shares[:, None, None, None] * x + (1 - shares)[:, None, None, None] * other, shares
#end
#if cutmix


def pasted(x, other, draw):
    """CutMix, a box for each image, and the shares of the images themselves: a box of more than half is theirs."""
    count, _, height, width = x.shape
    halves = np.sqrt(1 - draw.beta(CUTMIX, CUTMIX, count)) / 2
    rows, columns = draw.integers(0, height, count), draw.integers(0, width, count)
    boxes = torch.zeros(count, height, width, dtype=torch.bool)
    for box, half, row, column in zip(boxes, halves, rows, columns):
        high, wide = int(half * height), int(half * width)
        box[max(row - high, 0) : row + high, max(column - wide, 0) : column + wide] = True
    areas = boxes.float().mean((1, 2))
    boxes ^= (areas > 0.5)[:, None, None]
    return torch.where(boxes[:, None].to(x.device), other, x), torch.maximum(areas, 1 - areas).to(x.device)
#end


def augmented_batch(split, ids, device, epoch, draw@SIDES@):
    x = augmented(split["image"][ids], ids, device, epoch, draw@SIDES@)
#if mixes
    partners = torch.from_numpy(draw.integers(0, len(split["image"]), len(ids)))
    other = augmented(split["image"][partners], partners, device, epoch, draw@SIDES@)
#if either
    blends = torch.from_numpy(draw.random(len(ids)) < 0.5).to(device)
    (x, shares), (cut, areas) = blended(x, other, draw), pasted(x, other, draw)
    x, shares = torch.where(blends[:, None, None, None], x, cut), torch.where(blends, shares, areas)
#else
#if mixup
    x, shares = blended(x, other, draw)
#else
    x, shares = pasted(x, other, draw)
#end
#end
    return (x,), (split["label"][ids].to(device), split["label"][partners].to(device), shares)
#else
    return (x,), split["label"][ids].to(device)
#end
#end
