"""Examples of the estimators, for their documentation; tests run them."""

EXAMPLES = {
    "TreeClassifier": """
        >>> from sklearn.datasets import load_iris
        >>> from forestlab import TreeClassifier
        >>> iris = load_iris(as_frame=True)
        >>> tree = TreeClassifier(max_depth=2, random_state=0)
        >>> tree = tree.fit(iris.data, iris.target_names[iris.target])
        >>> print(tree.export_text())
        petal width (cm) ≤ 0.8?
        ├─ yes: setosa
        └─ no: petal width (cm) ≤ 1.75?
           ├─ yes: versicolor
           └─ no: virginica
        >>> tree.predict(iris.data[100:102], depth=1)  # as if grown with max_depth=1
        array(['versicolor', 'versicolor'], dtype='<U10')
        >>> print(tree.explain([5.9, 3.0, 5.1, 1.8]))
        petal width (cm) ≤ 0.8? 1.8 → no
        petal width (cm) ≤ 1.75? 1.8 → no
        prediction: virginica
        """,
    "TreeRegressor": """
        >>> from sklearn.datasets import load_diabetes
        >>> from forestlab import TreeRegressor
        >>> data = load_diabetes(as_frame=True)
        >>> tree = TreeRegressor(max_depth=2).fit(data.data, data.target)
        >>> print(tree.export_text(decimals=1))
        s5 ≤ -0.00376118?
        ├─ yes: bmi ≤ 0.00618888?
        │  ├─ yes: 96.3
        │  └─ no: 159.7
        └─ no: bmi ≤ 0.0148114?
           ├─ yes: 162.7
           └─ no: 225.9
        >>> tree.predict(data.data[:2], depth=1).round(1)  # as if grown with max_depth=1
        array([193.2, 110. ])
        """,
    "ForestClassifier": """
        >>> from sklearn.datasets import load_iris
        >>> from forestlab import ForestClassifier
        >>> iris = load_iris(as_frame=True)
        >>> forest = ForestClassifier(50, oob_score=True, random_state=0)
        >>> forest = forest.fit(iris.data, iris.target_names[iris.target])
        >>> round(forest.oob_score_, 3)
        0.947
        >>> forest.predict(iris.data[:2], depth=1, n_trees=10)  # of one fit, any depth and size
        array(['setosa', 'setosa'], dtype='<U10')
        >>> print(forest.explain(iris.data.iloc[77], tree=3))
        prediction: versicolor
        probabilities: versicolor 0.740, virginica 0.260
        trees: 37 of 50 say versicolor; 13 say virginica (trees 1, 14, 15, 20, 24, 25, 27, 28, …)
        versicolor had 0.337 before any question; features added
          +0.356  petal width (cm) = 1.7
          +0.099  sepal length (cm) = 6.7
          -0.098  petal length (cm) = 5
          +0.045  sepal width (cm) = 3
        the way down tree 3:
          petal length (cm) ≤ 2.45? 5 → no
          petal width (cm) ≤ 1.75? 1.7 → yes
          sepal length (cm) ≤ 6.95? 6.7 → yes
          sepal width (cm) ≤ 2.65? 3 → no
          prediction: versicolor
        """,
    "ForestRegressor": """
        >>> from sklearn.datasets import load_diabetes
        >>> from forestlab import ForestRegressor
        >>> data = load_diabetes(as_frame=True)
        >>> forest = ForestRegressor(50, max_features=1 / 3, oob_score=True, random_state=0)
        >>> forest = forest.fit(data.data, data.target)
        >>> round(forest.oob_score_, 2)
        0.44
        >>> roots, parts = forest.contributions(data.data[:1])  # what each feature adds
        >>> bool(abs(roots + parts.sum() - forest.predict(data.data[:1])[0]) < 1e-9)
        True
        >>> data.feature_names[abs(parts[0]).argmax()]
        'bmi'
        """,
    "DensityForest": """
        >>> from sklearn.datasets import load_iris
        >>> from forestlab import DensityForest
        >>> X = load_iris().data[:, 2:]
        >>> forest = DensityForest(50, random_state=0).fit(X)
        >>> forest.score_samples([[1.4, 0.2], [3.0, 0.2]]).round(1)  # logarithms of densities
        array([  1.4, -26. ])
        >>> forest.sample(2, random_state=0).round(1)
        array([[4.1, 1.2],
               [5.1, 2. ]])
        """,
}
