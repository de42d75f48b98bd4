"""The parts of a tiny configuration: its class, the layers that stay, the sizes that fields get."""
