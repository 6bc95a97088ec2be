"""The MLflow UI as a person sees it, in a real browser."""

import os
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
    server = ["server", "--host", "127.0.0.1", "--workers", "1", "--port"]
    store = f"sqlite:///{os.environ['UI_HOME']}/mlflow.db"
    return [sys.executable, "-m", "mlflow", *server, str(port), "--backend-store-uri", store]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A home with a run, and a server that shows it: (address, home)."""
    home = tmp_path_factory.mktemp("ui")
    done = command("dataset=iris", "n_estimators=5", home=home)
    assert done.returncode == 0, done.stderr
    os.environ["UI_HOME"] = str(home)
    port = free_port()
    variables = environment(home) | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen(
            ui_command(port),
            env=variables,
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
    options = ["dataset=wine", "n_estimators=3", f"tracking.uri={address}"]
    done = command(*options, home=home)
    assert done.returncode == 0, done.stderr
    assert address in done.stdout
    (run,) = MlflowClient(address).search_runs(["1"], "tags.dataset = 'wine'")
    assert run.info.status == "FINISHED"
    assert run.data.metrics["accuracy/test"] > 0.5


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
    page.goto(
        "about:blank"
    )  # a page that is open does not look at the address of an artifact again
    page.goto(f"{address}/#/experiments/1/runs/{run.info.run_id}/artifacts/report.html")
    shown = page.wait_for_selector("iframe[sandbox]")
    assert shown.get_attribute("sandbox") == "allow-scripts"
    frame = shown.content_frame()
    frame.wait_for_selector("#tree .node")
    value = float(frame.locator('[data-metric="accuracy/test"]').inner_text())
    assert value == pytest.approx(run.data.metrics["accuracy/test"], abs=5e-5)
