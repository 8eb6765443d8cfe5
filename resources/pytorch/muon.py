def orthogonalised(matrix):
    """Five Newton-Schulz steps bring all singular values near 1."""
    x = matrix.flatten(1)
    x = x / (x.norm() + 1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    rows, columns = x.shape
    return (max(1.0, rows / columns) ** 0.5 * x).view_as(matrix)


class Muon(torch.optim.Optimizer):
    """Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024; AdamW for what is no matrix."""

    def __init__(self, groups):
        super().__init__(groups, {"lr": LEARNING_RATE})
        self.number = 0

    @torch.no_grad()
    def step(self):
        self.number += 1
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                direction = self.matrix(weight) if group["orthogonal"] else self.other(weight)
                rate = group["lr"] * (1.0 if group["orthogonal"] else ADAM_SHARE)
                weight.sub_(rate * (direction + group["weight_decay"] * weight))

    def matrix(self, weight):
        velocity = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
        velocity.mul_(MOMENTUM).add_(weight.grad)
        return orthogonalised(weight.grad + MOMENTUM * velocity if NESTEROV else velocity)

    def other(self, weight):
        mean = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
        square = self.state[weight].setdefault("exp_avg_sq", torch.zeros_like(weight))
        mean.lerp_(weight.grad, 1 - BETA1)
        square.mul_(BETA2).addcmul_(weight.grad, weight.grad, value=1 - BETA2)
        corrected = (square / (1 - BETA2**self.number)).sqrt() + EPSILON
        return mean / (1 - BETA1**self.number) / corrected
