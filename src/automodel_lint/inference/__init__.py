"""What Python source means, found without running it: names, classes, values."""
