class Lars(torch.optim.Optimizer):
    """You, Gitman & Ginsburg, arXiv 1708.03888, algorithm 1: the learning rate lies within the momentum."""

    def __init__(self, groups):
        super().__init__(groups, {"lr": LEARNING_RATE})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            decay = group["weight_decay"]
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                rate, size, slope = group["lr"], weight.norm(), weight.grad.norm()
                if group["adapts"] and size > 0 and slope > 0:
                    rate = rate * TRUST * size / (slope + WEIGHT_DECAY * size)
                change = rate * (weight.grad + decay * weight)
                if MOMENTUM > 0:
                    velocity = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                    change = velocity.mul_(MOMENTUM).add_(change)
                weight.sub_(change)
