"""The skeleton of a model package: what a checkout offers to build with, what a config asks for, and the files."""
