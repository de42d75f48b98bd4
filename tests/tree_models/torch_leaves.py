"""The leaves of ``torch.nn`` in the table of ``torch_modules.py``, with several arguments each."""

from __future__ import annotations

import torch
from torch import nn

from .configs import Config


class Linears(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.linear = nn.Linear(size, 3)
        self.linear_no_bias = nn.Linear(size, 3, bias=False)
        self.linear_positional = nn.Linear(size, 3, False)
        self.linear_keywords = nn.Linear(bias=True, out_features=3, in_features=size)
        self.linear_open = nn.Linear(size, 3, bias=config.bias)
        self.linear_typed = nn.Linear(size, 3, True, None, torch.float32)
        self.bilinear = nn.Bilinear(size, 4, 5)
        self.bilinear_no_bias = nn.Bilinear(size, 4, 5, bias=False)
        self.embedding = nn.Embedding(config.vocab_size, size)
        self.embedding_padded = nn.Embedding(config.vocab_size, size, padding_idx=0, dtype=torch.float32)
        self.embedding_positional = nn.Embedding(config.vocab_size, size, 0)
        self.embedding_given = nn.Embedding(3, 2, _weight=torch.zeros(3, 2))
        self.bag = nn.EmbeddingBag(config.vocab_size, size, mode="sum")
        self.prelu = nn.PReLU()
        self.prelu_many = nn.PReLU(4)
        self.prelu_keyword = nn.PReLU(num_parameters=size, dtype=torch.float32)


class Norms(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.layer = nn.LayerNorm(size)
        self.layer_shape = nn.LayerNorm((4, size), 1e-6)
        self.layer_list = nn.LayerNorm([4, size], eps=1e-6)
        self.layer_bare = nn.LayerNorm(size, elementwise_affine=False)
        self.layer_no_bias = nn.LayerNorm(size, bias=False)
        self.layer_positional = nn.LayerNorm(size, 1e-6, True, False)
        self.layer_open = nn.LayerNorm(size, elementwise_affine=config.gated, bias=config.bias)
        self.layer_typed = nn.LayerNorm(size, dtype=torch.float32)
        self.rms = nn.RMSNorm(size)
        self.rms_shape = nn.RMSNorm((4, size), eps=1e-6)
        self.rms_bare = nn.RMSNorm(size, elementwise_affine=False)
        self.rms_positional = nn.RMSNorm(size, 1e-6, False)
        self.rms_open = nn.RMSNorm(size, elementwise_affine=config.gated)
        self.group = nn.GroupNorm(2, size)
        self.group_bare = nn.GroupNorm(num_groups=2, num_channels=size, affine=False)
        self.group_positional = nn.GroupNorm(2, size, 1e-6, True)
        for dims in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d):
            setattr(self, f"{dims.__name__}_plain", dims(size))
        self.batch1 = nn.BatchNorm1d(size)
        self.batch2 = nn.BatchNorm2d(size, affine=False)
        self.batch3 = nn.BatchNorm3d(size, track_running_stats=False)
        self.batch_positional = nn.BatchNorm2d(size, 1e-5, 0.1, False, False)
        self.batch_open = nn.BatchNorm2d(size, affine=config.bias, track_running_stats=config.gated)
        self.batch_typed = nn.BatchNorm2d(size, dtype=torch.float32)
        self.instance1 = nn.InstanceNorm1d(size)
        self.instance2 = nn.InstanceNorm2d(size, affine=True)
        self.instance3 = nn.InstanceNorm3d(size, track_running_stats=True)
        self.instance_positional = nn.InstanceNorm2d(size, 1e-5, 0.1, True, True)
        self.instance_open = nn.InstanceNorm2d(size, affine=config.bias, track_running_stats=config.gated)
        self.sync = nn.SyncBatchNorm(size)
        self.sync_bare = nn.SyncBatchNorm(size, affine=False)


class Convolutions(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.conv1 = nn.Conv1d(size, 4, 3)
        self.conv2 = nn.Conv2d(size, 4, 3)
        self.conv3 = nn.Conv3d(size, 4, 3, bias=False)
        self.tuple2 = nn.Conv2d(3, size, kernel_size=(2, 5), stride=(2, 2))
        self.list3 = nn.Conv3d(3, size, kernel_size=[1, 2, 3], stride=[1, 2, 2], bias=False)
        self.single1 = nn.Conv1d(size, 4, kernel_size=(3,))
        self.grouped = nn.Conv1d(size, size, 4, groups=size, padding=3)
        self.grouped2 = nn.Conv2d(size, 4, 1, groups=2)
        self.positional = nn.Conv2d(size, 4, 3, 1, 0, 1, 2, False)
        self.open = nn.Conv2d(size, 4, 3, bias=config.bias)
        self.typed = nn.Conv2d(size, 4, 3, dtype=torch.float32)
        self.mode = nn.Conv2d(size, 4, 3, padding_mode="reflect", padding=1)
        self.same = nn.Conv1d(size, 4, 3, padding="same")
        self.transposed1 = nn.ConvTranspose1d(size, 4, 3)
        self.transposed2 = nn.ConvTranspose2d(size, 4, (3, 2), stride=2)
        self.transposed3 = nn.ConvTranspose3d(size, 4, 3, bias=False)
        self.transposed_grouped = nn.ConvTranspose2d(size, 4, 3, groups=2)
        self.transposed_positional = nn.ConvTranspose2d(size, 4, 3, 1, 0, 0, 2, False)


class Attentions(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.plain = nn.MultiheadAttention(size, 2)
        self.no_bias = nn.MultiheadAttention(size, 2, bias=False)
        self.open = nn.MultiheadAttention(size, 2, bias=config.bias, batch_first=True)
        self.key_value = nn.MultiheadAttention(size, 2, add_bias_kv=True)
        self.other_sizes = nn.MultiheadAttention(size, 2, kdim=4, vdim=6)
        self.one_size = nn.MultiheadAttention(size, 2, kdim=4)
        self.same_sizes = nn.MultiheadAttention(size, 2, kdim=size, vdim=size)
        self.keywords = nn.MultiheadAttention(embed_dim=size, num_heads=2, dropout=0.1)
        self.positional = nn.MultiheadAttention(size, 2, 0.0, False, True)
        self.typed = nn.MultiheadAttention(size, 2, dtype=torch.float32)


class Empty(nn.Module):
    """Modules without tensors."""

    def __init__(self, config: Config):
        super().__init__()
        self.plain = nn.ModuleList(
            [
                nn.Module(), nn.Identity(), nn.ReLU(), nn.ReLU6(), nn.GELU(), nn.SiLU(), nn.Mish(), nn.Tanh(),
                nn.Sigmoid(), nn.Softmax(-1), nn.Softmax2d(), nn.LogSoftmax(-1), nn.Softplus(), nn.Softsign(),
                nn.ELU(), nn.CELU(), nn.SELU(), nn.GLU(), nn.LeakyReLU(), nn.LogSigmoid(), nn.Hardtanh(),
                nn.Hardswish(), nn.Hardsigmoid(), nn.Hardshrink(), nn.Softshrink(), nn.Tanhshrink(),
                nn.Threshold(0.1, 20), nn.RReLU(), nn.Softmin(-1), nn.Dropout(0.1), nn.Dropout1d(),
                nn.Dropout2d(), nn.Dropout3d(), nn.AlphaDropout(), nn.FeatureAlphaDropout(),
            ]
        )  # fmt: skip
        self.shapes = nn.ModuleList(
            [
                nn.Flatten(), nn.Unflatten(1, (2, 4)), nn.Upsample(scale_factor=2),
                nn.UpsamplingNearest2d(scale_factor=2), nn.UpsamplingBilinear2d(scale_factor=2),
                nn.PixelShuffle(2), nn.PixelUnshuffle(2), nn.Fold((4, 5), 2), nn.Unfold(2), nn.ZeroPad1d(1),
                nn.ZeroPad2d(1), nn.ZeroPad3d(1), nn.ConstantPad1d(1, 0.0), nn.ConstantPad2d(1, 0.0),
                nn.ConstantPad3d(1, 0.0), nn.ReflectionPad1d(1), nn.ReflectionPad2d(1), nn.ReplicationPad1d(1),
                nn.ReplicationPad2d(1), nn.AvgPool1d(2), nn.AvgPool2d(2), nn.AvgPool3d(2), nn.MaxPool1d(2),
                nn.MaxPool2d(2), nn.MaxPool3d(2), nn.AdaptiveAvgPool1d(1), nn.AdaptiveAvgPool2d(1),
                nn.AdaptiveAvgPool3d(1), nn.AdaptiveMaxPool1d(1), nn.AdaptiveMaxPool2d(1), nn.ChannelShuffle(2),
                nn.LocalResponseNorm(2),
            ]
        )  # fmt: skip
        self.losses = nn.ModuleList(
            [
                nn.CrossEntropyLoss(), nn.BCELoss(), nn.BCEWithLogitsLoss(), nn.MSELoss(), nn.L1Loss(),
                nn.SmoothL1Loss(), nn.NLLLoss(), nn.KLDivLoss(), nn.HuberLoss(), nn.CosineSimilarity(),
                nn.PairwiseDistance(), nn.CosineEmbeddingLoss(),
            ]
        )  # fmt: skip


class Weighted(nn.Module):
    """Losses keep the weights they are given as buffers."""

    def __init__(self, config: Config):
        super().__init__()
        self.cross = nn.CrossEntropyLoss(weight=torch.ones(3))
        self.positional = nn.CrossEntropyLoss(torch.ones(3))
        self.binary = nn.BCELoss(torch.ones(3))
        self.logits = nn.BCEWithLogitsLoss(pos_weight=torch.ones(3))
        self.nll = nn.NLLLoss(torch.ones(3))


CASES = {
    Linears: [Config(), Config(bias=True)],
    Norms: [Config(), Config(bias=True), Config(gated=True), Config(bias=True, gated=True)],
    Convolutions: [Config(), Config(bias=True)],
    Attentions: [Config(), Config(bias=True)],
    Empty: [Config()],
    Weighted: [Config()],
}
