"""One tree to look at: in words, typed in by hand, or as scikit-learn has it."""
