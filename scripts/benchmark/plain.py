"""What a person writes without forestlab: a forest at each of 20 depths, logged by autolog.

python plain.py STORE, the address of a tracking store. A run for each depth, as a run keeps one
value of `max_depth`, below one that has the curve.
"""

import sys

import mlflow
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

DEPTHS = range(1, 21)


def main(store: str) -> None:
    mlflow.set_tracking_uri(store)
    mlflow.set_experiment("plain")
    mlflow.sklearn.autolog()
    rest, X_test, y_rest, y_test = train_test_split(
        *load_digits(return_X_y=True), test_size=0.2, random_state=0
    )
    X, X_valid, y, y_valid = train_test_split(rest, y_rest, test_size=0.2, random_state=0)
    parts = {"train": (X, y), "valid": (X_valid, y_valid), "test": (X_test, y_test)}
    with mlflow.start_run(run_name="depths"):
        for depth in DEPTHS:
            with mlflow.start_run(run_name=f"depth {depth}", nested=True):
                model = RandomForestClassifier(100, max_depth=depth, n_jobs=-1, random_state=0)
                model.fit(X, y)
            for part, (rows, labels) in parts.items():
                shares = model.predict_proba(rows)
                right = accuracy_score(labels, shares.argmax(axis=1))
                mlflow.log_metric(f"accuracy/{part}", right, step=depth)
                mlflow.log_metric(f"log_loss/{part}", log_loss(labels, shares), step=depth)


if __name__ == "__main__":
    main(sys.argv[1])
