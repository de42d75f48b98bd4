"""One folder a model; `common` holds what several of them share."""
