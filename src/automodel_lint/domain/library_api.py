"""The methods of ``torch.nn`` modules and of ``PreTrainedModel``, as plain data: no source need be at hand.

Names of any release count: what another release lacks is not a matter of the model.
"""

from __future__ import annotations

_MODULE = """
    add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval extra_repr
    float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict modules mtia
    named_buffers named_children named_modules named_parameters parameters register_backward_hook register_buffer
    register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
    register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module register_parameter
    register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule
    share_memory state_dict to to_empty train type xpu zero_grad
    _apply _call_impl _get_backward_hooks _get_backward_pre_hooks _get_name _load_from_state_dict _named_members
    _register_load_state_dict_pre_hook _register_state_dict_hook _replicate_for_data_parallel _save_to_state_dict
    _slow_forward _wrapped_call_impl
"""
# What sharding and data parallelism add to a module after it was built.
_SHARDED = """
    module no_sync reset_iter_state reshard set_all_reduce_hook set_allocate_memory_from_process_group_for_comm
    set_custom_all_gather set_custom_reduce_scatter set_force_sum_reduction_for_comms set_gradient_divide_factor
    set_is_last_backward set_modules_to_backward_prefetch set_modules_to_forward_prefetch set_post_optim_event
    set_reduce_scatter_divide_factor set_reduce_scatter_max_input_buffers set_reduce_scatter_unused_params
    set_requires_all_reduce set_requires_gradient_sync set_reshard_after_backward set_reshard_after_forward
    set_separate_reduce_scatter_group set_symm_mem_for_comm set_unshard_in_backward unshard summon_full_params
"""
MODULE_METHODS = frozenset((_MODULE + _SHARDED).split())

_PRETRAINED = """
    active_adapters add_adapter add_model_tags can_generate delete_adapter dequantize disable_adapters
    disable_input_require_grads enable_adapters enable_input_require_grads enable_peft_hotswap from_pretrained
    get_adapter_state_dict get_compiled_call get_correct_attn_implementation get_correct_experts_implementation
    get_decoder get_encoder get_expanded_tied_weights_keys get_experts_implementation get_extended_attention_mask
    get_head_mask get_init_context get_input_embeddings get_memory_footprint get_output_embeddings
    get_parameter_or_buffer get_position_embeddings gradient_checkpointing_disable gradient_checkpointing_enable
    init_parallel_plans init_weights initialize_weights invert_attention_mask is_backend_compatible is_remote_code
    load_adapter mark_tied_weights_as_initialized named_non_persistent_buffers num_parameters post_init prune_heads
    push_to_hub register_for_auto_class resize_position_embeddings resize_token_embeddings retrieve_modules_from_names
    save_pretrained set_adapter set_attn_implementation set_decoder set_encoder set_experts_implementation
    set_input_embeddings set_output_embeddings set_use_kernels tie_weights warn_if_padding_and_no_attention_mask
    _from_config _init_weights _initialize_weights _set_gradient_checkpointing _resize_token_embeddings
"""
PRETRAINED_METHODS = frozenset(_PRETRAINED.split())

_LIST = "append extend insert pop"
_RESET = "reset_parameters"
_NONE = ""
_MORE = {
    "ModuleList": _LIST,
    "Sequential": _LIST,
    "ParameterList": "append extend pop",
    "ModuleDict": "clear items keys pop update values",
    "ParameterDict": "clear copy fromkeys get items keys pop popitem setdefault update values",
    "Embedding": f"{_RESET} from_pretrained",
    "EmbeddingBag": f"{_RESET} from_pretrained",
    **{name: _RESET for name in ("Linear", "Bilinear", "LayerNorm", "RMSNorm", "GroupNorm")},
    **{f"{kind}{n}d": f"{_RESET} _conv_forward" for kind in ("Conv", "ConvTranspose") for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": f"{_RESET} reset_running_stats" for n in (1, 2, 3)},
    **{f"{kind}{n}d": _NONE for kind in ("AvgPool", "MaxPool", "AdaptiveAvgPool", "Dropout") for n in (1, 2, 3)},
    **{
        name: _NONE
        for name in (
            *("Module", "Identity", "Dropout", "Flatten", "Unflatten", "Unfold", "Fold", "Upsample", "PixelShuffle"),
            *("GELU", "SiLU", "ReLU", "ReLU6", "LeakyReLU", "ELU", "Sigmoid", "Tanh", "Softmax", "LogSoftmax", "Mish"),
            *("Softplus", "Hardswish", "Hardsigmoid", "Hardtanh", "GLU", "CrossEntropyLoss", "MSELoss", "L1Loss"),
        )
    },
}
_BY_CLASS = {name: MODULE_METHODS | set(more.split()) for name, more in _MORE.items()}


def torch_methods(fqn: str) -> frozenset[str] | None:
    """Return the names of the methods that a class of ``torch.nn`` has; ``None`` for a class that is not known here."""
    if not fqn.startswith(("torch.nn.", "nn.")):
        return None
    return _BY_CLASS.get(fqn.rpartition(".")[2])
