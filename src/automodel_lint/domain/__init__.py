"""The things that contracts are about: registries, registered classes, model modules and packages."""
