"""Things that both the models and the framework around them need."""
