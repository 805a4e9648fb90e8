"""Functions with a backward of their own that several tests take."""

import fuselet as fl


class Cube(fl.autograd.Function):
    """(x + 1)³, keeping x + 1 out of the tape's sight."""

    @staticmethod
    def forward(ctx, x):
        ctx.u = x + 1
        return ctx.u ** 3

    @staticmethod
    def backward(ctx, g):
        return g * 3 * ctx.u ** 2
