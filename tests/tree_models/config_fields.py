"""What a constructor reads of its configuration, and what it sets on it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from torch import nn
from transformers import PretrainedConfig

from .configs import Config


@dataclass
class ExpertConfig:
    size: int
    n_experts: int = 2
    bias: bool = False
    shared: int = 0
    score_bias: bool = False
    names: list[str] = field(default_factory=lambda: ["a", "b"])


@dataclass(frozen=True)
class Backend:
    norm: str = "torch"
    fused: bool = False


class VisionConfig(PretrainedConfig):
    model_type = "sprout_vision"

    def __init__(self, hidden_size=6, depth=2, bias=True, **kwargs):
        self.hidden_size = hidden_size
        self.depth = depth
        self.bias = bias
        super().__init__(**kwargs)


class TextConfig(PretrainedConfig):
    model_type = "sprout_text"
    use_norm = True

    def __init__(self, hidden_size=8, layers=2, biased=False, num_heads=2, **kwargs):
        self.hidden_size = hidden_size
        self.layers = layers
        self.biased = biased
        self.num_heads = num_heads
        super().__init__(**kwargs)

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_heads

    @property
    def has_bias(self) -> bool:
        return self.biased


class WholeConfig(PretrainedConfig):
    model_type = "sprout_whole"
    sub_configs = {"text_config": TextConfig, "vision_config": VisionConfig}  # noqa: RUF012

    def __init__(self, text_config=None, vision_config=None, projector_bias=True, **kwargs):
        self.text_config = TextConfig(**(text_config or {}))
        self.vision_config = VisionConfig(**vision_config) if vision_config is not None else None
        self.projector_bias = projector_bias
        super().__init__(**kwargs)


class Experts(nn.Module):
    """Built from a dataclass whose literal fields decide."""

    def __init__(self, config: ExpertConfig, backend: Backend | None = None):
        super().__init__()
        backend = backend or Backend()
        self.experts = nn.ModuleList([nn.Linear(config.size, 2, bias=config.bias) for _ in range(config.n_experts)])
        self.shared = nn.Linear(config.size, config.shared) if config.shared > 0 else None
        if config.score_bias:
            self.score_bias = nn.Linear(1, 1)
        self.norm = nn.LayerNorm(config.size) if backend.norm == "torch" else nn.RMSNorm(config.size)
        if backend.fused:
            self.fused = nn.Linear(1, 1)
        for name in config.names:
            self.add_module(f"of_{name}", nn.Linear(1, 1))


class Dataclasses(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        self.plain = Experts(ExpertConfig(size))
        self.biased = Experts(ExpertConfig(size, bias=True, shared=2, score_bias=config.bias))
        moe = ExpertConfig(size, n_experts=3)
        moe.score_bias = True
        self.changed = Experts(moe, Backend(norm="rms"))
        self.replaced = Experts(replace(moe, score_bias=False, shared=1), backend=Backend(fused=config.gated))
        self.keyed = Experts(ExpertConfig(**{"size": size, "bias": True}))
        self.positional = Experts(ExpertConfig(size, 1, True))


class Getattr(nn.Module):
    """``getattr`` with a default: the default where the configuration's class has no such field."""

    def __init__(self, config: Config):
        super().__init__()
        size = config.hidden_size
        if getattr(config, "no_such_field", False):
            self.never = nn.Linear(size, 1)
        if getattr(config, "no_such_flag", True):
            self.always = nn.Linear(size, 1)
        if getattr(config, "bias", True):
            self.biased = nn.Linear(size, 1)
        width = getattr(config, "no_such_width", None) or 3
        self.wide = nn.Linear(size, width)
        if getattr(config, "no_such_width", None) is not None:
            self.narrow = nn.Linear(size, 1)
        if hasattr(config, "no_such_field"):
            self.has = nn.Linear(size, 1)
        if hasattr(config, "bias"):
            self.has_bias = nn.Linear(size, 1)
        self.norm = nn.LayerNorm(size) if getattr(config, "kind", "plain") == "plain" else nn.Identity()
        self.flags = nn.Linear(size, 1, bias=getattr(config, "no_such_bias", False))
        kind = getattr(config, "no_such_kind", "a")
        self.by_kind = {"a": nn.Linear(size, 1), "b": nn.LayerNorm(size)}[kind]


class Setting(nn.Module):
    """Fields that the constructor sets before it reads them."""

    def __init__(self, config: Config):
        super().__init__()
        config.bias = True
        config.new_field = "yes"
        setattr(config, "gated", False)  # noqa: B010
        self.config = config
        self.biased = nn.Linear(config.hidden_size, 1, bias=config.bias)
        self.part = Reading(config)
        if config.new_field == "yes":
            self.new = nn.Linear(1, 1)
        if self.config.gated:
            self.gated = nn.Linear(1, 1)
        if not hasattr(config, "missing"):
            config.missing = 3
        self.filled = nn.Linear(config.missing, 1)


class Reading(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.proj = nn.Linear(config.hidden_size, 1, bias=config.bias)


class Text(nn.Module):
    def __init__(self, config: TextConfig):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(config.hidden_size, config.head_dim) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.hidden_size) if config.use_norm else nn.Identity()
        self.head = nn.Linear(config.hidden_size, 1, bias=config.has_bias)
        self.typed = nn.Linear(1, 1) if config.model_type == "sprout_text" else None


class Vision(nn.Module):
    def __init__(self, config: VisionConfig):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(config.hidden_size, 1, config.bias) for _ in range(config.depth)])


class Whole(nn.Module):
    def __init__(self, config: WholeConfig):
        super().__init__()
        self.language_model = Text(config.text_config)
        text = config.get_text_config()
        if config.vision_config is not None:
            self.vision = Vision(config.vision_config)
            self.projector = nn.Linear(config.vision_config.hidden_size, text.hidden_size, bias=config.projector_bias)
        self.out = nn.Linear(text.hidden_size, 1)


class Made(nn.Module):
    """Configurations that the constructor makes itself."""

    def __init__(self, config: Config):
        super().__init__()
        self.text = Text(TextConfig(hidden_size=config.hidden_size, biased=True))
        self.plain = Text(TextConfig())
        self.vision = Vision(VisionConfig(bias=config.bias))
        self.from_dict = Vision(VisionConfig(**{"bias": False, "depth": 1}))


CASES = {
    Dataclasses: [Config(), Config(bias=True), Config(gated=True)],
    Getattr: [Config(), Config(bias=True), Config(kind="other")],
    Setting: [Config()],
    Whole: [
        WholeConfig(),
        WholeConfig(text_config={"biased": True}),
        WholeConfig(text_config={"use_norm": False}),
        WholeConfig(vision_config={}),
        WholeConfig(vision_config={"bias": False}, projector_bias=False),
    ],
    Made: [Config(), Config(bias=True)],
}
