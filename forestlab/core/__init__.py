"""The numba core: encoded columns in, trees out, and the walks over them.

It knows arrays only: no scikit-learn, Hydra, MLflow or matplotlib, and its kernels raise nothing;
inputs are checked once, at the estimator's edge. `options` is what searches and learners are asked
to do, in a module without numba.
"""
