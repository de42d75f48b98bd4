"""Elm: a dense decoder with biased projections and a normalised embedding."""
