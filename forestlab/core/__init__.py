"""The numba core: encoded columns in, trees out, and the walks over them.

It knows arrays only: no scikit-learn, Hydra, MLflow or matplotlib, and it raises nothing; inputs
are checked once, at the estimator's edge.
"""
