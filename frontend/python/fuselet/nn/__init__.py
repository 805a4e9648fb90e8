"""Modules: layers, containers and losses over fuselet.nn.functional."""

from . import functional, init, utils
from .activations import (GELU, ELU, Dropout, Identity, LeakyReLU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Softplus, Tanh)
from .containers import ModuleDict, ModuleList, ParameterList, Sequential
from .layers import Conv2d, Embedding, Flatten, LayerNorm, Linear, MaxPool2d, Unflatten
from .losses import BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from .module import Module
from .parameter import Buffer, Parameter

__all__ = ["BCEWithLogitsLoss", "Buffer", "Conv2d", "CrossEntropyLoss", "Dropout", "ELU", "Embedding", "Flatten", "GELU",
           "Identity", "L1Loss", "LayerNorm", "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "MaxPool2d", "Module",
           "ModuleDict", "ModuleList", "NLLLoss", "Parameter", "ParameterList", "ReLU", "Sequential", "SiLU", "Sigmoid",
           "Softmax", "Softplus", "Tanh", "Unflatten", "functional", "init", "utils"]
