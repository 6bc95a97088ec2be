"""Forests side by side: forestlab and its peers, on one machine, in one run.

data       the sets
peers      the forests that are compared
rounds     who runs when, and what is shown meanwhile
measured   what was measured, as a file that a later run is compared with
fit        fit, predict and score; the model on disk; one row
memory     what a fit adds to memory
surface    every depth and number of trees, beside refitting
encoding   values to codes
learners   what a tree of each weak learner costs
job        whole commands, as processes; `plain` is the script they are held against
growth     time against rows, features, trees, classes and threads
against    two records beside each other
tables     a record as text
pictures   a record drawn
readme     the README's table and picture
"""
