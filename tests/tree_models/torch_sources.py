"""Classes of torch that are in no table: followed where torch's source is at hand, opaque where it is not."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.utils import parametrizations, spectral_norm, weight_norm
from torch.nn.utils.parametrize import register_parametrization

from .configs import Config


class Recurrent(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.lstm = nn.LSTM(size, 4)
        self.deep = nn.LSTM(size, 4, num_layers=2, bidirectional=True, bias=False)
        self.projected = nn.LSTM(size, 4, proj_size=2)
        self.gru = nn.GRU(size, 4, num_layers=2)
        self.rnn = nn.RNN(size, 4)
        self.cell = nn.LSTMCell(size, 4)
        self.gru_cell = nn.GRUCell(size, 4, bias=False)


class Encoders(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        layer = nn.TransformerEncoderLayer(size, 2, dim_feedforward=16, batch_first=True)
        self.layer = nn.TransformerEncoderLayer(size, 2, bias=False)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, norm=nn.LayerNorm(size))
        self.decoder = nn.TransformerDecoderLayer(size, 2)


class Others(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.instance = nn.InstanceNorm2d(size)
        self.instance_affine = nn.InstanceNorm1d(size, affine=True, track_running_stats=True)
        self.lazy = nn.LazyLinear(4)
        self.lazy_conv = nn.LazyConv2d(4, 3, bias=False)
        self.adaptive = nn.AdaptiveLogSoftmaxWithLoss(size, 20, cutoffs=[5, 10])
        self.circular = nn.CircularPad2d(1)
        self.reflect3 = nn.ReflectionPad3d(1)
        self.max3 = nn.AdaptiveMaxPool3d(1)
        self.lp = nn.LPPool2d(2, 2)
        self.unpool = nn.MaxUnpool2d(2)
        self.gaussian = nn.GaussianNLLLoss()
        self.triplet = nn.TripletMarginLoss()
        self.cross_map = nn.CrossMapLRN2d(2)


class Renamed(nn.Module):
    """What changes the names of a module that is there already."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.new = parametrizations.weight_norm(nn.Conv1d(size, 4, 3))
        self.old = weight_norm(nn.Linear(size, 4))
        self.orthogonal = parametrizations.orthogonal(nn.Linear(size, size))
        self.spectral = parametrizations.spectral_norm(nn.Linear(size, 4))
        self.old_spectral = spectral_norm(nn.Linear(size, 4))
        self.own = nn.Linear(size, 4)
        register_parametrization(self.own, "weight", nn.Identity())
        self.named = torch.nn.utils.parametrizations.weight_norm(nn.Linear(size, 4), name="bias")


CASES = {Recurrent: [Config()], Encoders: [Config()], Others: [Config()], Renamed: [Config()]}
OPAQUE = {"Renamed": ["orthogonal", "spectral", "old_spectral", "own"]}
