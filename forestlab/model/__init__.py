"""What a user imports: estimators with scikit-learn's interface, their checks, their files."""
