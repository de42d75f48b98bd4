"""Recipes as YAML files."""
