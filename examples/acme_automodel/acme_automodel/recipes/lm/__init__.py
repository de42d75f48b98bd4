"""Recipes for language models."""

from acme_automodel.recipes.lm.train import TrainLanguageModelRecipe

__all__ = ["TrainLanguageModelRecipe"]
