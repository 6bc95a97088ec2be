"""The page of a run as a person uses it, in a real browser: from a disk, and in a frame that is
allowed scripts and nothing else."""

import html
import re
import shutil

import numpy as np
import pytest
from shown import Shown, shown, split_in
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss
from small import data_for, forest_for

from forestlab import ForestRegressor, TreeClassifier
from forestlab.model.density import DensityForest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
PATIENCE = 30_000  # ms
HOSTILE = '</script><img src=x onerror="window.spoiled=1">'


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium here: on Debian, apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield running
        running.close()


class Opened:
    """A page in the browser; what it complained of and asked for besides itself."""

    def __init__(self, browser, address, width=1200):
        self.page = browser.new_page(viewport={"width": width, "height": 900})
        self.page.set_default_timeout(PATIENCE)
        self.complaints, self.asked = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)
        self.frame = self.page.main_frame

    def ready(self):
        self.frame.wait_for_selector(".panel")
        self.settle()
        text = self.frame.locator("body").inner_text()
        for slip in ("undefined", "NaN", "[object"):
            assert slip not in text
        return self

    def settle(self):
        """Until what has changed is drawn."""
        self.frame.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def move(self, key, place):
        slider = self.frame.locator(f"#slider-{key}")
        slider.evaluate(
            "(one, place) => { one.value = place; one.dispatchEvent(new Event('input')); }", place
        )
        self.settle()

    def number(self, metric):
        return float(self.frame.locator(f'[data-metric="{metric}"]').inner_text())

    def panel(self, words):
        return self.frame.locator("section.panel", has=self.frame.locator("h3", has_text=words))

    def table(self, words):
        """The cells of the table behind a picture."""
        panel = self.panel(words)
        if panel.locator("details").last.get_attribute("open") is None:
            panel.locator("summary").last.click()
            panel.locator("details table").wait_for()
        return [
            row.locator("td").all_inner_texts()
            for row in panel.locator("details tbody").last.locator("tr").all()
        ]


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """Open a page from a file; each is to have no complaints and to ask for nothing when done."""
    folder, made = tmp_path_factory.mktemp("pages"), []

    def opened(text, name, width=1200):
        path = folder / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        one = Opened(browser, path.as_uri(), width).ready()
        made.append((one, path.as_uri()))
        return one

    yield opened
    for one, address in made:
        assert one.complaints == []
        own = [url for url in one.asked if not url.startswith(("data:", "blob:"))]
        assert own == [address]


@pytest.fixture(scope="module")
def classes():
    """Of two features, so that there are regions; the third class, and a feature, are hostile."""
    X, y = data_for("classification")
    data = split_in(X[:, :2], np.where(y == "oak", HOSTILE, y))
    model = forest_for("classification", 7).fit(*data["train"])
    return Shown(model, data, ["height", HOSTILE], title=f"a forest {HOSTILE}")


@pytest.fixture
def of_classes(classes, opened):
    return opened(classes.page, "classes")


def at(made, n_trees, depth):
    """A forest of so many trees, fitted anew, and its answers for the test rows at a depth."""
    other = forest_for("classification", n_trees).fit(*made.data["train"])
    X, y = made.data["test"]
    return other, other.predict_proba(X, depth), other.predict(X, depth), y


@pytest.mark.parametrize(("n_trees", "depth"), [(1, 1), (3, 2), (5, 4), (7, 0)])
def test_sliders_move_metrics_and_confusion(of_classes, classes, n_trees, depth):
    sizes, depths = classes.told["sizes"].tolist(), classes.told["depths"].tolist()
    of_classes.move("s", sizes.index(n_trees))
    of_classes.move("d", depths.index(depth))
    other, p, predicted, y = at(classes, n_trees, depth)
    assert of_classes.number("accuracy/test") == pytest.approx(
        accuracy_score(y, predicted), abs=5e-5
    )
    assert of_classes.number("log_loss/test") == pytest.approx(
        log_loss(y, p, labels=other.classes_), abs=6e-5
    )
    counts = confusion_matrix(y, predicted, labels=other.classes_)
    lines = of_classes.table("Confusion of test rows")
    assert [[int(cell) for cell in line[1:]] for line in lines] == counts.tolist()
    words = of_classes.panel("Confusion of test rows").locator("svg").get_attribute("aria-label")
    assert f"{(predicted != y).sum()} rows are wrong" in words
    bins = of_classes.table("Calibration on test rows")
    assert sum(int(line[2]) for line in bins) == len(y)
    right = sum(int(line[2]) * float(line[4]) for line in bins)
    assert right == pytest.approx((predicted == y).sum(), abs=0.02)


def test_keys_move_the_sliders(of_classes, classes):
    slider = of_classes.frame.locator("#slider-d")
    slider.focus()
    slider.press("Home")
    of_classes.settle()
    assert slider.get_attribute("aria-valuetext").startswith("0 of ")
    before = of_classes.number("accuracy/train")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    of_classes.settle()
    assert slider.get_attribute("aria-valuetext").startswith("2 of ")
    assert of_classes.number("accuracy/train") != before
    values = classes.found.surfaces["train"].values["accuracy"]
    assert of_classes.number("accuracy/train") == pytest.approx(values[-1, 2], abs=5e-5)


def test_a_click_on_the_surface_moves_the_sliders(of_classes):
    picture = of_classes.panel("over depth and number of trees").locator("svg")
    box = picture.bounding_box()
    picture.click(position={"x": 70, "y": box["height"] - 60})
    of_classes.settle()
    frame = of_classes.frame
    assert frame.locator("#slider-d").input_value() == "0"
    assert frame.locator("#slider-s").input_value() == "0"
    assert "depth 0, 1 tree" in frame.locator("section.panel h3").first.inner_text()


def test_the_wrong_rows_come_first(of_classes, classes):
    predicted = classes.model.predict(classes.data["test"][0])
    wrong = predicted != classes.data["test"][1]
    marks = of_classes.frame.locator("#rows tbody tr").evaluate_all(
        "rows => rows.map(row => row.querySelector('.wrong') !== null)"
    )
    assert sum(marks) == wrong.sum() > 0
    assert marks == sorted(marks, reverse=True)
    of_classes.frame.locator('#rows select[data-key="only"]').select_option("right")
    of_classes.settle()
    assert of_classes.frame.locator("#rows tbody .wrong").count() == 0
    assert of_classes.frame.locator("#rows tbody tr").count() == (~wrong).sum()


def test_a_square_of_the_confusion_lists_its_rows(of_classes, classes):
    picture = of_classes.panel("Confusion of test rows").locator("svg")
    picture.locator("rect").nth(0).click()
    of_classes.settle()
    model, (X, y) = classes.model, classes.data["test"]
    first = model.classes_[0]
    n = int(((y == first) & (model.predict(X) == first)).sum())
    assert of_classes.frame.locator("#rows tbody tr").count() == n > 0


def test_a_row_lights_its_way(of_classes, classes):
    """The one that is chosen by a key, in the second tree."""
    frame = of_classes.frame
    frame.locator("#rows [data-row]").first.focus()
    frame.locator("#rows [data-row]").first.press("ArrowDown")
    of_classes.settle()
    row = int(frame.locator('#rows [aria-pressed="true"]').get_attribute("data-row"))
    assert frame.evaluate("document.activeElement.dataset.row") == str(row)
    frame.locator('#tree [data-key="next"]').click()
    of_classes.settle()
    frame.locator('#tree [data-key="way"]').click()
    of_classes.settle()
    view = classes.model.estimators_[1].tree_
    view.feature_names = ["height", HOSTILE]
    steps = view.walk(classes.data["test"][0][row])
    lit = frame.locator("#tree .lit button").evaluate_all(
        "all => all.map(one => +one.dataset.node)"
    )
    assert lit == [step.node for step in steps]
    told = frame.locator("#tree .way li").all_inner_texts()
    assert len(told) == len(steps)
    for line, step in zip(told[:-1], steps[:-1], strict=True):
        assert line.startswith(step.question[:30])
        assert line.endswith("→ yes" if step.answer else "→ no")
    assert str(steps[-1].value)[:10] in told[-1]


def test_nodes_unfold_and_fold_by_keys(of_classes):
    frame = of_classes.frame
    frame.locator('#tree [data-key="fold"]').click()
    of_classes.settle()
    root = frame.locator('#tree [data-node="0"]')
    assert frame.locator("#tree [data-node]").count() == 1
    assert root.get_attribute("aria-expanded") == "false"
    root.focus()
    root.press("ArrowRight")
    of_classes.settle()
    assert frame.locator("#tree [data-node]").count() == 3
    assert frame.evaluate("document.activeElement.dataset.node") == "0"
    root.press("ArrowDown")
    assert frame.evaluate("document.activeElement.dataset.node") == "1"
    frame.locator('#tree [data-node="1"]').press("ArrowLeft")
    assert frame.evaluate("document.activeElement.dataset.node") == "0"
    root.press("ArrowLeft")
    of_classes.settle()
    assert frame.locator("#tree [data-node]").count() == 1


def test_regions_follow_the_sliders(of_classes):
    picture = of_classes.panel("Decision regions").locator("image")
    before = picture.get_attribute("href")
    of_classes.move("d", 0)
    assert picture.get_attribute("href") != before
    assert [line[1] for line in of_classes.table("Decision regions")].count("1.000") == 1


def test_hostile_names_are_texts(of_classes):
    assert of_classes.page.evaluate("window.spoiled") is None
    assert HOSTILE in of_classes.page.locator("h1").inner_text()
    assert of_classes.page.locator("main img").count() == 0
    assert HOSTILE[:20] in of_classes.page.locator("#row").inner_text()


def test_every_control_has_a_name_and_every_picture_words(of_classes):
    nameless = of_classes.frame.evaluate(
        """[...document.querySelectorAll('button, input, select')].filter(one =>
            !(one.textContent.trim() || one.labels?.length || one.ariaLabel)).length"""
    )
    assert nameless == 0
    pictures = of_classes.frame.locator("svg, canvas")
    words = pictures.evaluate_all("all => all.map(one => one.ariaLabel)")
    assert len(words) > 6
    assert all(words)
    titles = of_classes.frame.locator("section.panel")
    for heading in titles.locator("h3").all_inner_texts():
        assert heading.strip()
    assert titles.locator(".reading").count() == titles.count()


def test_it_opens_in_a_frame_of_scripts_alone(browser, classes, tmp_path):
    """As MLflow shows it."""
    path = tmp_path / "frame.html"
    content = html.escape(classes.page)
    path.write_text(f'<iframe sandbox="allow-scripts" width=1000 height=800 srcdoc="{content}">')
    one = Opened(browser, path.as_uri())
    one.page.wait_for_selector("iframe")
    (one.frame,) = one.page.main_frame.child_frames
    one.ready()
    assert one.frame.evaluate("origin") == "null"
    one.move("d", 1)
    values = classes.found.surfaces["test"].values["accuracy"]
    assert one.number("accuracy/test") == pytest.approx(values[-1, 1], abs=5e-5)
    assert one.complaints == []
    own = [url for url in one.asked if not url.startswith(("data:", "blob:", "about:"))]
    assert own == [path.as_uri()]


# ---- other tasks -------------------------------------------------------------------------------


def test_numbers_follow_the_sliders(opened):
    made = shown("regression")
    one = opened(made.page, "regression", width=420)
    one.move("d", 2)
    X, y = made.data["test"]
    wanted = made.model.predict(X, 2)
    assert one.number("rmse/test") == pytest.approx(np.sqrt(((wanted - y) ** 2).mean()), abs=5e-5)
    lines = one.table("Predicted against true")
    found = {int(line[0]): float(line[2]) for line in lines}
    assert len(found) == len(y)
    for place, value in enumerate(wanted):
        assert found[60 + place] == pytest.approx(value, abs=2e-3)
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 420
    root = made.model.estimators_[0].tree_.tree
    n, (weight, mean, squares) = root.nodes["n_rows"][0], root.stats[0]
    words = one.frame.locator("#tree .facts").first.inner_text()
    found = re.fullmatch(r"(\d+) rows; mean (\S+) ± (\S+)", words)
    assert int(found[1]) == n
    assert float(found[2]) == pytest.approx(mean, rel=1e-3)
    assert float(found[3]) == pytest.approx(np.sqrt(squares / weight), rel=1e-2)


def test_a_band_follows_the_sliders(opened):
    X, y = data_for("regression")
    data = split_in(X[:, :1], y)
    made = Shown(ForestRegressor(3, random_state=1).fit(*data["train"]), data, ["height"])
    one = opened(made.page, "band")
    picture = one.panel("Prediction band").locator("svg")
    before = picture.inner_html()
    one.move("d", 1)
    assert picture.inner_html() != before
    x, mean = (float(cell) for cell in one.table("Prediction band")[100][:2])
    assert mean == pytest.approx(made.model.predict([[x]], 1)[0], abs=2e-3)


def test_one_tree_has_no_slider_of_trees(opened):
    X, y = data_for("classification")
    data = split_in(X, y)
    one = opened(Shown(TreeClassifier(random_state=0).fit(*data["train"]), data, list("abcd")).page,
                 "tree")  # fmt: skip
    assert one.frame.locator("#slider-s").count() == 0
    assert one.frame.locator("#slider-d").count() == 1
    headings = one.frame.locator("h3").all_inner_texts()
    assert not [words for words in headings if "number of trees" in words]
    assert one.frame.locator('#tree input[type="number"]').count() == 0


def test_targets_are_chosen_from_a_list(opened):
    made = shown("regression", n_targets=2)
    one = opened(made.page, "targets")
    mean = one.number("rmse/test")
    each = []
    for k in (1, 2):
        one.frame.locator("#controls select").select_option(str(k))
        one.settle()
        each.append(one.number("rmse/test"))
        assert one.frame.locator("#rows tbody tr").count() == 30
    assert mean == pytest.approx(np.mean(each), abs=1e-4)
    assert each[0] != each[1]


def test_a_density_has_its_map_and_its_rows(opened):
    X = np.random.default_rng(0).normal(size=(200, 2))
    data = {"train": (X[:150], X[:150]), "test": (X[150:], X[150:])}
    model = DensityForest(4, max_depth=3, random_state=0).fit(X[:150])
    one = opened(Shown(model, data, ["a", "b"]).page, "density")
    one.move("d", 2)
    wanted = model.score_samples(X[150:], 2)
    assert one.number("log_likelihood/test") == pytest.approx(wanted.mean(), abs=1e-4)
    first = one.frame.locator("#rows tbody tr td").nth(1).inner_text()
    assert float(first) == pytest.approx(wanted.min(), abs=5e-3)
    assert one.panel("Density at").locator("image").count() == 1
