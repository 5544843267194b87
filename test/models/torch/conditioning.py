"""How far float32 can be from the true gradients of a module: what rounding of its parameters and inputs does to them.

Where the argument of a ReLU is smaller than the rounding of the sum that it is, its sign, and with it a whole summand of a gradient, is
chance: no arithmetic in float32 tells it. The same holds for ties of a maximum, and for a gradient that is the small
difference of large summands. So gradients are computed in float64, once as they are and several times with parameters and inputs
moved by a few units of float32's last place; what that changes is noise to everybody, PyTorch included.
"""

import copy

import torch

LAST_PLACES = 2.0**-21  # four units in the last place
TRIALS = 12


def gradients(module, inputs, label, first):
    module.zero_grad()
    torch.nn.functional.mse_loss(first(module(*inputs)), label).backward()
    return {name: p.grad.detach().clone() for name, p in module.named_parameters() if p.grad is not None}


def moved(tensor, generator):
    if not tensor.is_floating_point():
        return tensor
    return tensor * (1 + LAST_PLACES * (2 * torch.rand(tensor.shape, generator=generator, dtype=tensor.dtype) - 1))


def noise(load, inputs, label, first):
    """name -> how far each parameter's gradient moves, its largest element; none where the module cannot run in float64.

    `load` gives a fresh module; `first` picks the output.
    """
    exact = [t.double() if t.is_floating_point() else t for t in inputs]
    try:
        module = load().double()
        state = copy.deepcopy(module.state_dict())
        middle = gradients(module, exact, label.double(), first)
        out = {name: 0.0 for name in middle}
        for trial in range(TRIALS):
            generator = torch.Generator().manual_seed(trial)
            with torch.no_grad():
                for name, tensor in list(module.named_parameters()) + list(module.named_buffers()):
                    tensor.copy_(moved(state[name], generator) if name in state else tensor)
            found = gradients(module, [moved(t, generator) for t in exact], label.double(), first)
            for name, gradient in found.items():
                out[name] = max(out[name], (gradient - middle[name]).abs().max().item())
        return out
    except Exception:  # constants of float32 in the program, say
        return {}
