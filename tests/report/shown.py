"""Small forests with their pages, and a page's data read back, for the tests of both."""

import base64
import json
import re
import zlib

import numpy as np
from small import data_for, forest_for

from forestlab import report
from forestlab.study.findings import study
from forestlab.study.part import About


class Shown:
    """A forest, its study, and what its page is told."""

    def __init__(self, model, data, features, title="a forest", levels=None, room=None, targets=()):
        self.model, self.data = model, data
        self.found = study(model.grown, data, 1, "full", 100, targets=targets)
        rows, first = {}, 0
        for split, (X, _) in data.items():
            rows[split] = np.arange(first, first + len(X))
            first += len(X)
        self.about = About(title, features, rows, None, levels)
        self.payload = report.payload(model.grown, data, self.found, self.about, room)

    @property
    def told(self):
        """Of the only target."""
        (one,) = self.payload["targets"]
        return one

    @property
    def page(self):
        return report.page(self.payload)


def split_in(X, y, n_test=30):
    return {"train": (X[:-n_test], y[:-n_test]), "test": (X[-n_test:], y[-n_test:])}


def shown(task, n_trees=7, n_targets=1, **options):
    """A page of one of the suite's small forests."""
    X, y = data_for(task, n_targets=n_targets)
    data = split_in(X, y)
    model = forest_for(task, n_trees).fit(*data["train"])
    names = [f"T{k}" for k in range(n_targets)] if n_targets > 1 else ()
    return Shown(model, data, ["a", "b", "c", "d"], targets=names, **options)


# ---- a page's data -----------------------------------------------------------------------------


def unpacked(text):
    """What `packing.packed` wrote."""
    raw = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(raw[:4], "little")
    header, body = json.loads(raw[4 : 4 + length]), raw[4 + length :]

    def filled(content):
        if isinstance(content, list):
            return [filled(part) for part in content]
        if not isinstance(content, dict):
            return content
        if "array" not in content:
            return {key: filled(part) for key, part in content.items()}
        place = header["arrays"][content["array"]]
        n = int(np.prod(place["shape"]))
        return np.frombuffer(body, place["type"], n, place["start"]).reshape(place["shape"])

    return filled(header["content"])


def data_of(page):
    (text,) = re.findall(r'<script type="application/octet-stream" id="data">(.*?)</script>', page)
    return unpacked(text)


# ---- how a page reads them ---------------------------------------------------------------------


def numbers_of(coded):
    codes = coded["codes"].astype(float)
    return np.where(codes == 65535, np.nan, coded["low"] + coded["step"] * codes)


def shares_of(codes):
    return np.where(codes == 255, np.nan, codes / 250)


def way_of(trees, t, row):
    """The questions on a row's way down tree t, with their answers, and the node where it ends."""
    first = int(trees["first"][t])
    i, end, asked = 0, int(trees["ends"][t, row]), []
    while i != end:
        right = i + int(trees["skip"][first + i])
        yes = end < right
        asked.append((trees["texts"][trees["text"][first + i]], yes))
        i = i + 1 if yes else right
    return asked, first + end
