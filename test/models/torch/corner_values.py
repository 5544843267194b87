"""What the cases of the corners_*.py begin with: first values of their parameters, and numbers made of the input."""

import torch


def random(*shape):
    return lambda: torch.randn(*shape)


def positive(*shape):
    return lambda: torch.rand(*shape) + 0.5


KINKS = [-6.0, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 0.3]
TIES = [[1.0, 3.0, 3.0, 2.0], [0.0, 0.0, 0.0, 0.0], [-1.0, -2.0, -1.0, -2.0]]
ZEROS = [[2.0, 0.0, 3.0], [0.0, 0.0, 2.0], [1.0, 2.0, 4.0]]
SIGNS = [7.0, -7.0, 3.5, -3.5, 6.0, -6.0]


def signed(i):
    """-3 … 2, no zeros but one."""
    return i - 3


def mix(p, x):
    """`x`, with `p` in it so that there is a gradient."""
    return x * 0.1 + p.sum() * 0.1
