"""Experts that are not DTensors yet are cut by the first mesh dimension only (rule NAM507).

``from_hf`` cuts the experts of a rank out of the first dimension and hands them to ``create_dtensor_from_local``, which
takes the second dimension for one of the parts on ``ep_shard`` (components/models/inkling/state_dict_adapter.py:217 and
components/models/step3p5/state_dict_adapter.py:228, 0.7.0). On a mesh with two parts there, every expert becomes twice
as wide as it is.

Measured: (4, 16, 32) instead of (4, 8, 32), for both.
"""

import sys
from types import SimpleNamespace

import torch
import torch.distributed as dist
from nemo_automodel.components.models.inkling.state_dict_adapter import InklingStateDictAdapter
from nemo_automodel.components.models.step3p5.state_dict_adapter import Step3p5StateDictAdapter
from torch.distributed.device_mesh import init_device_mesh
from torch.testing._internal.distributed.fake_pg import FakeStore

EXPERTS, WIDTH, INNER = 4, 8, 16
dist.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("ep_shard", "ep"))
config = SimpleNamespace(n_routed_experts=EXPERTS, dim=WIDTH, moe_inter_dim=INNER)

inkling = InklingStateDictAdapter(SimpleNamespace(), config, None, torch.float32)
fused = torch.randn(EXPERTS, 2 * INNER, WIDTH)
loaded = {**inkling.from_hf({"model.llm.layers.0.mlp.experts.w13_weight": fused}, device_mesh=mesh)}

step = Step3p5StateDictAdapter.__new__(Step3p5StateDictAdapter)
step.config, step.moe_config, step.backend, step.dtype = SimpleNamespace(), config, None, torch.float32
parts = {
    f"model.layers.0.moe.{name}_proj.weight": torch.randn(
        EXPERTS, *((WIDTH, INNER) if name == "down" else (INNER, WIDTH))
    )
    for name in ("gate", "up", "down")
}
loaded |= step.from_hf(parts, device_mesh=mesh)

expected = (EXPERTS, WIDTH, 2 * INNER)
shapes = {name: tuple(value.shape) for name, value in loaded.items() if name.endswith("gate_and_up_projs")}
for name, shape in shapes.items():
    print(f"{name}: {shape}, the whole tensor has {expected}")
sys.exit(0 if len(shapes) == 2 and all(shape != expected for shape in shapes.values()) else 1)
