"""The layers by the places that they have in PyTorch: modules.batchnorm.BatchNorm2d, modules.rnn.LSTM, …"""

import types

from . import (activations, containers, convolutions as conv, dropout, layers as linear, layers as sparse, losses as loss, module,
               multihead_attention, normalization, normalization as batchnorm, pooling, rearranging, recurrent as rnn,
               transformer)

activation = types.ModuleType(__name__ + ".activation", "Activations, and MultiheadAttention.")
vars(activation).update({name: value for name, value in vars(activations).items() if not name.startswith("_")},
                        MultiheadAttention=multihead_attention.MultiheadAttention)
container, instancenorm = containers, normalization
flatten = fold = padding = pixelshuffle = upsampling = rearranging

Module = module.Module

__all__ = ["Module", "activation", "batchnorm", "container", "conv", "dropout", "flatten", "fold", "instancenorm", "linear", "loss",
           "module", "normalization", "padding", "pixelshuffle", "pooling", "rnn", "sparse", "transformer", "upsampling"]
