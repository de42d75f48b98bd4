"""Small models with adapters in every spelling; see ``test_adapter_keys.py`` for what each must come to."""
