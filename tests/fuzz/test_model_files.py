"""Changed model files, pickled states and skops files: refused in a sentence, or they answer."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from fuzz.forked import faults
from fuzz.mutations import changed_array, changed_content, changed_json

from forestlab import DensityForest, ForestClassifier, ForestRegressor, TreeClassifier, load
from forestlab.core.arrays import Forest
from forestlab.model.storage import TEXT

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3)).round(1)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
FRAME["c"] = pd.Categorical(np.where(X[:, 2] > 0, "up", np.where(X[:, 2] > -1, "low", "deep")))
LABELS, NUMBERS = X[:, 0] + X[:, 1] > 0, X[:, 0] - X[:, 1]


def forests():
    """Small models that have what models may have; with their rows."""
    few = {"n_estimators": 3, "max_depth": 3, "random_state": 0}
    outside = {"oob_score": True}
    return [
        (ForestClassifier(**few, **outside).fit(FRAME, LABELS), FRAME),
        (ForestClassifier(**few).fit(X, np.stack([LABELS, X[:, 2] > 0], 1)), X),
        (ForestRegressor(**few, **outside).fit(X, NUMBERS, sample_weight=X[:, 2] ** 2), X),
        (ForestClassifier(**few, learner="oblique", aggregate=True).fit(X, LABELS), X),
        (TreeClassifier(max_depth=3, missing="both", ccp_alpha=0.01).fit(X, LABELS), X),
        (DensityForest(**few, covariance="diagonal").fit(X), X),
    ]


@pytest.fixture(scope="module")
def made():
    """The models; asked once, so that nothing is compiled in the processes that follow."""
    with pytest.warns(UserWarning, match="left out by no tree"):
        models = forests()
    for model, rows in models:
        assert asked(model, rows) is None
    return models


def asked(model, rows):
    """What is wrong with the answers of a model that has been read: None, if they are sane."""
    try:
        answers = model.predict(rows)
        depths = model.predict(rows, depth=1)
        list(model.apply(rows))
        shares = model.feature_importances_
        model.view(0).export_text()
        if hasattr(model, "predict_oob") and model.recipe_.bag_size:
            model.predict_oob(rows)
        found = model.predict_proba(rows) if hasattr(model, "predict_proba") else []
    except (ValueError, TypeError) as error:
        return None if _is_clear(error) else f"unclear: {error!r}"
    if len(answers) != len(rows) or len(depths) != len(rows) or not np.isfinite(shares).all():
        return "answers are not those of rows"
    if answers.dtype.kind == "f" and np.isnan(answers).any():
        return "answers are no numbers"
    sums = [p.sum(axis=1) for p in (found if isinstance(found, list) else [found])]
    return None if all(np.allclose(one, 1) for one in sums) else "probabilities do not sum to 1"


def _is_clear(error):
    text = str(error)
    if text.startswith("The feature names should match"):  # scikit-learn lists them
        return True
    return 0 < len(text) < 600 and "\n" not in text.strip()


def read(path, rows):
    """Read a file and ask the model: what is wrong, or None."""
    try:
        model = load(path)
    except ValueError as error:
        named = str(path) in str(error)
        return None if named and _is_clear(error) else f"unclear: {error!r}"
    return asked(model, rows)


def parts_of(content):
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def changed_model(content, rng):
    """Another file: its bytes, an array of it or its text are changed, one to three times."""
    if rng.random() < 0.15:
        return changed_content(content, rng)
    parts = parts_of(content)
    for _ in range(rng.integers(1, 4)):
        name = list(parts)[rng.integers(len(parts))]
        way = rng.random()
        if name == TEXT or way < 0.3:
            text = changed_json(json.loads(parts[TEXT].tobytes()), rng)
            parts[TEXT] = np.frombuffer(json.dumps(text).encode(), np.uint8)
        elif way < 0.35:
            del parts[name]
        elif way < 0.4:
            parts[name + "x"] = parts[name]
        else:
            parts[name] = changed_array(parts[name], rng)
        if TEXT not in parts:
            break
    file = io.BytesIO()
    np.savez(file, **parts)
    return file.getvalue()


def model_file_case(made, folder):
    contents = []
    for k, (model, rows) in enumerate(made):
        model.save(folder / f"{k}.forest")
        contents.append(((folder / f"{k}.forest").read_bytes(), rows))

    def case(rng):
        content, rows = contents[rng.integers(len(contents))]
        path = folder / "changed.forest"
        path.write_bytes(changed_model(content, rng))
        return read(path, rows)

    return case


def state_case(made, folder):
    """As a changed pickle would have it; its bytes are no plain arrays, and run what they say."""

    def case(rng):
        model, rows = made[rng.integers(len(made))]
        state = model.__getstate__()
        for _ in range(rng.integers(1, 4)):
            state = changed_state(state, rng)
        return restored(type(model), state, rows)

    return case


def changed_state(state, rng):
    fitted = [name for name in state if name.endswith("_")]
    name = fitted[rng.integers(len(fitted))]
    value = state[name]
    if isinstance(value, Forest):
        field = Forest._fields[rng.integers(len(Forest._fields))]
        changed = value._replace(**{field: changed_array(getattr(value, field), rng)})
    elif isinstance(value, np.ndarray):
        changed = changed_array(value, rng)
    elif isinstance(value, tuple):
        field = value._fields[rng.integers(len(value._fields))]
        changed = value._replace(**{field: changed_json([getattr(value, field)], rng)[0]})
    else:
        changed = changed_json([value], rng)[0] if rng.random() < 0.9 else None
    return state | {name: changed}


def restored(cls, state, rows):
    model = cls.__new__(cls)
    try:
        model.__setstate__(state)
    except ValueError as error:
        return None if _is_clear(error) else f"unclear: {error!r}"
    return asked(model, rows)


def skops_case(made, folder):
    contents = [(skops.io.dumps(model), rows) for model, rows in made]
    trusted = [skops.io.get_untrusted_types(data=content) for content, _ in contents]

    def case(rng):
        k = rng.integers(len(contents))
        changed = changed_skops(contents[k][0], rng)
        try:
            model = skops.io.loads(changed, trusted=trusted[k])
        except Exception:  # what skops says of its own files is its own
            return None
        return asked(model, contents[k][1]) if hasattr(model, "predict") else None

    return case


def changed_skops(content, rng):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    arrays = [name for name in files if name.endswith(".npy")]
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.3:
            text = changed_json(json.loads(files["schema.json"]), rng)
            files["schema.json"] = json.dumps(text).encode()
            continue
        name = arrays[rng.integers(len(arrays))]
        array = changed_array(np.load(io.BytesIO(files[name]), allow_pickle=False), rng)
        file = io.BytesIO()
        np.save(file, array)
        files[name] = file.getvalue()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, one in files.items():
            archive.writestr(name, one)
    return file.getvalue()


CASES = {"model file": model_file_case, "state": state_case, "skops": skops_case}


@pytest.mark.parametrize("way", CASES)
@pytest.mark.parametrize("n", [150, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.filterwarnings("ignore")
def test_what_was_changed_is_refused_or_answers(way, n, made, tmp_path: Path):
    found, n_done = faults(CASES[way](made, tmp_path), range(n))
    assert n_done == n
    assert found == {}
