"""Regression tests on logged metrics.

    python -m forestlab.baseline record fast --query "params.n_estimators = '10'"
    python -m forestlab.baseline record fast --parent "dataset=iris n_estimators=10 seed=0,1,2"
    python -m forestlab.baseline check
    python -m forestlab.baseline record fast --update
    python -m forestlab.baseline diff 3f2a91 "forest iris seed=1"

*record* writes the metrics of finished runs, with the configs that give them, to a file that
belongs under version control. *check* looks for runs of the same configs by the code and in the
environment of today, runs what is not there, and compares. *diff* sets two runs side by side.

A *baseline* is such a file. It holds *groups*: a config, and the metrics of its runs, which differ
in nothing but their seeds. Of each metric the last value counts: that at the deepest level, or that
of all trees. How new values are judged stands in `rules`.

Exit codes: 0 all is as it was, 1 something drifted or differs, 2 a mistake, told in one line.
"""
