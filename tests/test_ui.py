"""The MLflow UI as a person sees it, in a real browser."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from command import ROOT, command, environment
from mlflow import MlflowClient

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SWEEP = ("tracking.model=false", "n_estimators=3", "-m", "max_depth=1,3")
PATIENCE = 60_000  # ms; the page loads megabytes of script on a machine that does other things


@pytest.fixture(scope="module")
def page():
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium here: on Debian, apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=QUIET)
        page = running.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(PATIENCE)
        yield page
        running.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ui_command(port: int) -> list[str]:
    """scripts/ui, or what it runs when the tests run in another environment than its own."""
    if Path(sys.prefix) == ROOT / ".venv":
        return [str(ROOT / "scripts/ui"), "--port", str(port)]
    return [sys.executable, "-m", "forestlab", "ui", "--port", str(port)]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A home with a run, and a server that shows it: (address, home)."""
    home = tmp_path_factory.mktemp("ui")
    for words in (["dataset=iris", "n_estimators=5"], ["dataset=wine", *SWEEP]):
        done = command(*words, home=home)
        assert done.returncode == 0, done.stderr
    port = free_port()
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen(
            ui_command(port),
            env=environment(home),
            cwd=home,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address, home / "server.log")
        yield address, home
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)


def _wait_for(address: str, log: Path) -> None:
    for _ in range(180):
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"the server did not start:\n{log.read_text()}")


def test_a_run_can_be_logged_to_a_server(served):
    address, home = served
    options = ["dataset=diabetes", "n_estimators=3", "study=light", f"tracking.uri={address}"]
    done = command(*options, home=home)
    assert done.returncode == 0, done.stderr
    assert address in done.stdout
    (run,) = MlflowClient(address).search_runs(["1"], "tags.dataset = 'diabetes'")
    assert run.info.status == "FINISHED"
    assert run.data.metrics["r2/test"] > 0.0


def test_the_browser_shows_the_run(served, page):
    """The run in the list, its depth curve as a chart, its confusion matrix as a picture."""
    address, _ = served
    (run,) = MlflowClient(address).search_runs(["1"], "tags.dataset = 'iris'")
    page.goto(f"{address}/#/experiments/1/runs")
    page.get_by_text(run.info.run_name).first.wait_for()

    here = f"{address}/#/experiments/1/runs/{run.info.run_id}"
    page.goto(f"{here}/model-metrics")
    page.wait_for_function(r"/accuracy\s*\(4\)/.test(document.body.innerText)")
    page.wait_for_selector(".js-plotly-plot .scatterlayer .js-line")

    page.goto(f"{here}/artifacts/confusion/test.png")
    page.wait_for_function(
        "[...document.querySelectorAll('img')].some(i => i.naturalWidth > 500 && i.complete)"
        " || document.querySelector('.js-plotly-plot image') !== null"
    )
    assert page.get_by_text("confusion/test.png").count() > 0


def test_the_page_of_a_run_opens_among_its_artifacts(served, page):
    """In the frame in which MLflow shows it, which is allowed scripts alone."""
    address, _ = served
    (run,) = MlflowClient(address).search_runs(["1"], "tags.dataset = 'iris'")
    page.goto("about:blank")  # an open page does not look at an artifact's address again
    page.goto(f"{address}/#/experiments/1/runs/{run.info.run_id}/artifacts/report.html")
    shown = page.wait_for_selector("iframe[sandbox]")
    assert shown.get_attribute("sandbox") == "allow-scripts"
    frame = shown.content_frame()
    frame.wait_for_selector("#tree .node")
    value = float(frame.locator('[data-metric="accuracy/test"]').inner_text())
    assert value == pytest.approx(run.data.metrics["accuracy/test"], abs=5e-5)


# ---- where to look -----------------------------------------------------------------------------


def test_the_ui_tells_where_the_runs_are(served, page):
    """The address that it prints shows the runs, and not the page on language models."""
    address, home = served
    told = (home / "server.log").read_text()
    (link,) = re.findall(r"http\S+/runs\?\S+", told)
    assert link.startswith(f"{address}/#/experiments/1/runs?")
    page.goto(link)
    page.get_by_text("forest iris n_estimators=5").first.wait_for()
    assert page.get_by_text("Sessions", exact=True).count() == 0  # of the other half of the UI


def look(uri: str, home: Path):
    """`forestlab ui` where runs are logged to another's server."""
    return subprocess.run(
        [sys.executable, "-m", "forestlab", "ui"],
        env=environment(home) | {"MLFLOW_TRACKING_URI": uri},
        cwd=home, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_of_a_server_it_says_where_to_look(served):
    address, home = served
    done = look(f"{address}/", home)
    assert done.returncode == 0
    assert f"{address}/#/experiments/1/runs?" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_does_not_answer_is_one_line(tmp_path):
    done = look(f"http://127.0.0.1:{free_port()}", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: no MLflow server answers at http://127.0.0.1:")
    assert done.stderr.count("\n") == 1


# ---- a sweep -----------------------------------------------------------------------------------


def test_the_browser_shows_a_sweep(served, page):
    """Its description with links that lead to the children, and its page in a sandbox."""
    address, _ = served
    client = MlflowClient(address)
    (parent,) = client.search_runs(["1"], "tags.kind = 'sweep'")
    here = f"{address}/#/experiments/1/runs/{parent.info.run_id}"
    page.goto(here)
    page.get_by_text("Swept:").first.wait_for()
    best = client.get_run(parent.data.tags["best_run"])
    page.locator(f"a[href$='{best.info.run_id}']").last.click()
    page.wait_for_url(f"**/{best.info.run_id}*")
    page.get_by_role("heading", name=best.info.run_name).first.wait_for()

    page.goto(f"{here}/artifacts/report.html")
    frame = page.frame_locator("iframe[sandbox]")
    frame.get_by_role("heading", name="Sweep").first.wait_for()
    picture = frame.get_by_role("img", name="Error rate against max_depth, wine")
    picture.wait_for()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 500")
