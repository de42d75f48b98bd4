"""Nemotron-Omni cannot be run on images in fp32: the features of the vision tower are cast to bfloat16 by a literal.

``nemotron_omni/model.py:756`` hands bf16 features to a projector whose parameters have the dtype that was asked for;
the paths for several resolutions (835), videos (918) and sound (944) do the same. Where FSDP casts parameters to bf16
it does not show; on one device, or in fp32 altogether, the first batch with an image ends the run.

Measured: RuntimeError, bf16 features against fp32 weights; with a bf16 projector the same call gives features.
"""

import sys
from types import SimpleNamespace

import torch
from nemo_automodel.components.models.nemotron_omni.model import NemotronOmniForConditionalGeneration, VisionProjector

pixels = torch.randn(1, 3, 64, 64)


def outcome(dtype: torch.dtype) -> str:
    """Say what the features of one image give with a projector of ``dtype``."""
    projector = VisionProjector(
        vit_hidden_size=64, projector_hidden_size=96, llm_hidden_size=48, downsample_ratio=0.5
    ).to(dtype)

    def tower(images: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(features=torch.randn(len(images), 16, 64, dtype=dtype))

    tower.patch_size = 16
    model = SimpleNamespace(vision_model=tower, vision_projector=projector, ps_version="v2")
    try:
        features = NemotronOmniForConditionalGeneration._extract_feature_dense(model, pixels)
    except RuntimeError as error:
        return f"RuntimeError: {error}"
    return f"features {list(features.shape)}"


print(f"fp32: {(single := outcome(torch.float32))}")
print(f"bf16: {(half := outcome(torch.bfloat16))}")
sys.exit(0 if "dtype" in single and half.startswith("features") else 1)
