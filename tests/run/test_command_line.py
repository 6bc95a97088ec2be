"""What a command line means, and what is said of one that is wrong: in this process, quickly."""

import shlex
from pathlib import Path

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.core_plugins import basic_launcher
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import MissingConfigException
from hydra.experimental.callbacks import PickleJobInfoCallback
from hypothesis import given, settings
from hypothesis import strategies as st
from mlflow import MlflowClient
from omegaconf import OmegaConf

from forestlab import __version__
from forestlab import config as configs
from forestlab.config import ConfigError, TrackingConfig
from forestlab.run import checks
from forestlab.run import command as run
from forestlab.run.job import Result
from forestlab.run.mistakes import MISTAKES, PACKAGES, one_line
from forestlab.spelling import most_like

FREE = [
    "dataset=iris",
    "study=off",
    "n_estimators=2",
    "tracking=none",
]  # tracking.* may be any text


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return tmp_path


# ---- values ------------------------------------------------------------------------------------

TEXTS = [
    "sqlite:////tmp/x.db",
    "C:\\dir\\a:b.csv",
    " a  b ",
    "a,b",
    "a=b",
    "[a]{b}(c)",
    "\\",
    "it's",
    'say "hi"',
    "'\\'\"",
    "$a ~b #c %20 *?!",
    "null",
    "1e3",
    "",
    "ü€\t",
]


def quoted(text: str) -> str:
    """As a person has to write it on Hydra's command line."""
    return QuotedString(text, Quote.single).with_quotes()


def names(*arguments: str) -> list[str]:
    return [config.tracking.run_name for config in run.jobs([*FREE, *arguments])]


@pytest.mark.parametrize("text", TEXTS)
def test_a_value_is_what_was_written(text):
    override = f"tracking.run_name={quoted(text)}"
    assert names(override) == [text]
    assert names(override, "-m", "seed=0,1") == [text, text]


@pytest.mark.parametrize("override", ["tracking.run_name=sqlite:////tmp/x.db", "++seed=1"])
def test_what_needs_no_quotes_needs_none(override):
    key, value = override.lstrip("+").split("=")
    for config in run.jobs([*FREE, override, "-m", "max_depth=1,2"]):
        assert str(run.configs.flat(config)[key]) == value


def test_swept_values_are_what_was_written():
    choices = ",".join(map(quoted, TEXTS))
    assert names("-m", f"tracking.run_name={choices}") == TEXTS
    assert names("-m", f"tracking.run_name=choice({choices})") == TEXTS


def test_values_in_lines_of_sweeps_are_what_was_written():
    lines = [shlex.quote(f"tracking.run_name={quoted(text)}") for text in TEXTS]
    assert names(f"sweeps=[{','.join(map(quoted, lines))}]") == TEXTS
    assert names(f"tracking.run_name={quoted('a=b')}", 'sweeps=["seed=0,1"]') == ["a=b", "a=b"]


@settings(max_examples=10, deadline=None)  # each composes, in tenths of a second
@given(st.lists(st.text().filter(lambda text: "${" not in text), min_size=1, max_size=20))
def test_any_text_can_be_a_value(texts):
    assert names("-m", f"tracking.run_name={','.join(map(quoted, texts))}") == texts


def test_hydra_hands_the_same_values_to_the_jobs(monkeypatch):
    """It takes what it parsed as text and parses that again; names are told without its escapes."""
    handed = []

    def do(batch, config, name, experiment, waits):
        handed.append((config, name))
        return Result(name, "FINISHED", None, {})

    monkeypatch.setattr(run.Batch, "do", do)
    texts = ["a:b", "a b", "a,b=c", "'\\"]
    target = f"dataset.target={','.join(map(quoted, texts))}"
    path = str(Path(__file__).parent / "none.csv")
    monkeypatch.setattr(checks, "check", lambda config, shelf: None)
    assert run.main(["dataset=csv", f"dataset.path={path}", "-m", target]) == 0
    assert [config.dataset.target for config, _ in handed] == texts
    assert {config.dataset.path for config, _ in handed} == {path}
    assert [name for _, name in handed] == [f"forest none.csv dataset.target={t}" for t in texts]


def test_what_refers_to_another_key_is_looked_up():
    (config,) = run.jobs([*FREE, "tracking.run_name=${model.name}:${seed}", "seed=3"])
    assert config.tracking.run_name == "forest:3"
    assert names("tracking.run_name=run ${seed}", "-m", "seed=0,1") == ["run 0", "run 1"]


def test_a_sweep_is_logged_where_an_unquoted_uri_says(home):
    """With a colon in a file's name too."""
    rows = "\n".join(f"{k},{k % 7},{'yes' if k % 3 else 'no'}" for k in range(40))
    path, uri = home / "own:1.csv", f"sqlite:///{home / 'other.db'}"
    path.write_text(f"a,b,answer\n{rows}\n")
    data = ["dataset=csv", f"dataset.path={path}", "dataset.target=answer"]
    small = ["n_estimators=2", "study=off", "tracking=lean"]
    assert run.main([*data, *small, "-m", "seed=0,1", f"tracking.uri={uri}"]) == 0
    runs = MlflowClient(uri).search_runs(["1"], "tags.model = 'forest'")
    assert {run.data.params["dataset.path"] for run in runs} == {str(path)}
    assert len(runs) == 2


# ---- keys --------------------------------------------------------------------------------------


def test_a_key_that_there_is_may_be_added_or_forced():
    for override in ("max_depth=1", "+max_depth=1", "++max_depth=1"):
        (single,) = run.jobs([*FREE, override])
        (swept,) = run.jobs([*FREE, "-m", override])
        assert single.max_depth == swept.max_depth == 1
    forced = run.jobs([*FREE, "-m", "++max_depth=1,2", "+hydra.launcher.n_jobs=2"])
    assert [config.max_depth for config in forced] == [1, 2]


def test_what_is_forced_wins_over_the_lines_of_sweeps():
    lines = 'sweeps=["seed=0,1", "seed=2"]'
    assert [config.seed for config in run.jobs([*FREE, "++seed=5", lines])] == [5, 5]


def test_flags_may_stand_anywhere(home):
    (home / "model").mkdir()
    own = "defaults: [forest]\nname: mine\nmax_features: 1\n"
    (home / "model/mine.yaml").write_text(own)
    words = ["model=mine", "--config-dir", str(home), "dataset=iris", "--multirun", "seed=0,1"]
    assert [config.model.name for config in run.jobs(words)] == ["mine", "mine"]
    everything = run.jobs(["-m", "model=glob(*)", "--config-dir", str(home), "dataset=iris"])
    assert "mine" in [config.model.name for config in everything]


def test_an_experiment_of_ones_own_is_checked_too(home):
    (home / "experiment").mkdir()
    for text, key in (
        ("max_dept: 3", "max_dept"),
        ("model: {foo: 1}", "foo"),
        ("sweeps: ['++max_dept=1']", "max_dept"),
        ("sweeps: ['seed=0', 'model.foo=1']", "model.foo"),
    ):
        (home / "experiment/mine.yaml").write_text(f"# @package _global_\n{text}\n")
        with pytest.raises(MISTAKES) as error:
            run.jobs(["experiment=mine", "--config-dir", str(home)])
        assert key in one_line(error.value)


@pytest.mark.parametrize("sweep", ["interval(1,5)", "choice(1,2)", "range(1,5)"])
def test_another_sweepers_keys_are_checked_too(sweep):
    other = [*FREE, "-m", "hydra.sweeper._target_=hydra._internal.core_plugins.file_config_source"]
    other[-1] += ".FileConfigSource"  # any class of Hydra that is not its own sweeper
    assert len(run.jobs([*other, f"max_depth={sweep}", "model=tree,forest"])) == 1
    with pytest.raises(ConfigError, match="there is no option 'max_dept': did you mean max_depth"):
        run.jobs([*other, f"++max_dept={sweep}"])


def test_a_name_tells_the_last_word_on_a_key():
    (config,) = run.jobs([*FREE, "max_depth=3", "++max_depth=5"])
    said = ["max_depth=3", "++max_depth=5", "+tracking.uri=x", "hydra/launcher=basic", "~search"]
    assert config.max_depth == 5
    assert run.job_name(config, run.parsed(said)) == "forest iris max_depth=5 ~search"


def test_what_was_typed_is_never_what_was_meant():
    assert most_like("path", ["path", "paths"]) == "paths"
    assert most_like("path", ["path"]) is None


def test_a_number_may_be_the_name_of_a_file_of_ones_own(home, capsys):
    (home / "model").mkdir()
    (home / "model/7.yaml").write_text("defaults: [forest]\n")
    assert run.main([*FREE, "--config-dir", str(home), "model=7"]) == 2
    assert "model=7 is read as a number: call it 7.yaml with a letter before." in told_of(capsys)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("~/a.csv", "{home}/a.csv"),
        ("/x/~/a.csv", "/x/~/a.csv"),
        ('"~/a b.csv"', "{home}/a b.csv"),
    ],
)
def test_a_path_may_begin_at_home(given, path, home, monkeypatch):
    monkeypatch.setenv("HOME", str(home))
    if "/~/" in given:  # as Hydra takes it
        given = quoted(given)
    (config,) = run.jobs(["dataset=csv", f"dataset.path={given}"])
    assert config.dataset.path == path.format(home=home)
    monkeypatch.setenv("FORESTLAB_HOME", "~/here")
    assert configs.home() == home / "here"
    assert configs.store_uri(TrackingConfig(uri="sqlite:///~/a.db")) == f"sqlite:///{home}/a.db"


def test_several_paths_may_begin_at_home(home, monkeypatch):
    monkeypatch.setenv("HOME", str(home))
    swept = run.jobs(["dataset=csv", "-m", "dataset.path=~/a.csv,~/b.csv"])
    assert [config.dataset.path for config in swept] == [f"{home}/a.csv", f"{home}/b.csv"]


def test_a_file_names_its_runs_and_is_the_same_wherever_it_lies(home, monkeypatch):
    rows = "\n".join(f"{k};{k % 7};{'yes' if k % 3 else 'no'}" for k in range(40))
    for folder in ("here", "there"):
        (home / folder).mkdir()
        (home / folder / "mine.csv").write_text(f"a;b;answer\n{rows}\n")
    small = ["dataset=csv", "n_estimators=2", "study=off", "tracking=lean", "resume=true"]
    monkeypatch.chdir(home / "here")
    paths = ["mine.csv", f"{home}/there/mine.csv", "../here/mine.csv"]
    results = [run.perform([*small, f"dataset.path={path}"]).results[0] for path in paths]
    assert [result.status for result in results] == ["FINISHED", "SKIPPED", "SKIPPED"]
    assert {result.name for result in results} == {"forest mine.csv n_estimators=2"}
    (found,) = MlflowClient(f"sqlite:///{home / 'mlflow.db'}").search_runs(["1"])
    assert found.data.tags["dataset"] == "mine.csv"
    assert found.inputs.dataset_inputs[0].dataset.source == f"file:{home}/here/mine.csv"
    other = run.perform([*small, "dataset.path=mine.csv", "dataset.target=b"]).results[0]
    assert other.status == "FINISHED"


def test_openml_names_its_runs():
    (config,) = run.jobs(["dataset=openml", "dataset.openml_name=credit-g"])
    said = run.parsed(["dataset=openml", "dataset.openml_name=credit-g", "seed=3"])
    assert run.job_name(config, said) == "forest credit-g seed=3"


def test_versions_are_forestlabs(capsys):
    assert run.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"forestlab {__version__} (")


# ---- what Hydra may make -----------------------------------------------------------------------

PICKLE = "hydra.experimental.callbacks.PickleJobInfoCallback"
MADE = [
    ([f"+hydra.callbacks.x._target_={PICKLE}"], None),
    (["+hydra.job_logging.handlers.x.class=logging.StreamHandler"], None),
    (["+hydra.callbacks.x._target_=os.system"], "_target_=os.system is neither Hydra's nor"),
    (["+hydra.callbacks.x.y._target_=os.system"], "hydra.callbacks.x.y._target_=os.system is"),
    (["+hydra.callbacks.x._target_=3"], "_target_=3 is neither Hydra's nor forestlab's"),
    (["+hydra.callbacks.x._target_=forestlab.atomic.os.system"], "no class of forestlab.atomic.os"),
    (["+hydra.callbacks.x._target_=forestlab.atomic.whole_file"], "no class of forestlab.atomic"),
    (["+hydra.callbacks.x._target_=hydra_plugins.nothing.X"], "cannot be found: "),
    (["+hydra.callbacks={x: {_target_: ${oc.env:EVIL}}}"], "_target_=os.system is neither"),
    (["hydra.launcher._target_=subprocess.Popen"], "hydra.launcher._target_=subprocess.Popen is"),
    (["+hydra.job_logging.handlers.x.class=os.system"], "handlers.x.class=os.system is neither"),
    (["+hydra.job_logging.handlers.x.class=logging.os.system"], "no class of logging.os"),
    (["-m", f"+hydra.callbacks.x._target_={PICKLE},os.system"], "one for all jobs"),
    (["sweeps=['+hydra.callbacks.x._target_=os.system']"], "one for all jobs"),
    (["+model._target_=os.system"], "no option 'model._target_'"),
]


@pytest.mark.parametrize(("words", "told"), MADE, ids=[" ".join(words) for words, _ in MADE])
def test_hydra_makes_only_what_is_its_own(words, told, monkeypatch):
    monkeypatch.setenv("EVIL", "os.system")
    if told is None:
        assert len(run.jobs([*FREE, *words])) == 1
        return
    with pytest.raises(MISTAKES) as error:
        run.jobs([*FREE, *words])
    assert told in one_line(error.value)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{_target_: os.system}", "hydra.callbacks.x._target_=os.system is neither Hydra's nor"),
        ("[{_target_: os.system}]", "hydra.callbacks.x.0._target_=os.system is neither"),
        ("{_target_: os.system, n: ${hydra.job.num}}", "cannot be looked up before a job runs"),
    ],
)
def test_nor_what_a_resolver_makes_of_a_text(written, told, tmp_path):
    file = tmp_path / "hydra/callbacks/own.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(f"""x: "${{oc.decode:'{written}'}}"\n""")
    with pytest.raises(ConfigError) as error:
        run.jobs([*FREE, f"--config-dir={tmp_path}", "hydra/callbacks=own", "-m", "seed=0,1"])
    assert told in str(error.value)


def test_hydra_makes_what_a_plug_in_has(tmp_path, monkeypatch):
    (tmp_path / "calling_back.py").write_text("import os\n\n\nclass Call:\n    pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    words = [*FREE, "+hydra.callbacks.x._target_=calling_back.Call"]
    with pytest.raises(ConfigError, match=r"calling_back.Call is neither .* module in plugins"):
        run.jobs(words)
    assert len(run.jobs([*words, "plugins=[calling_back]"])) == 1
    with pytest.raises(ConfigError, match=r"no class of calling_back\.os"):
        run.jobs([words[0], "plugins=[calling_back]", f"{words[-1][:-4]}os.system"])


def test_hydra_keeps_no_configs_of_jobs_that_are_done(monkeypatch):
    """Two of each, 0.2 MB, for as long as a sweep lasts; callbacks of a user's own see them."""
    seen, kept, run_job = [], [], basic_launcher.run_job
    monkeypatch.setattr(
        basic_launcher, "run_job", lambda **g: kept.append(run_job(**g)) or kept[-1]
    )
    monkeypatch.setattr(
        PickleJobInfoCallback,
        "on_job_end",
        lambda self, config, job_return, **more: seen.append(job_return.cfg.seed),
    )
    monkeypatch.setattr(run.Batch, "do", lambda self, config, name, *more: self.refuse(name))
    monkeypatch.setattr("forestlab.run.job.main_value", lambda result: None)
    run.main([*FREE, f"+hydra.callbacks.x._target_={PICKLE}", "-m", "seed=4,5"])
    assert seen == [4, 5]
    assert [(done.cfg, done.hydra_cfg) for done in kept] == [(None, None)] * 2


# ---- mistakes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sweep", [[], ["-m", "seed=0,1"]], ids=["run", "sweep"])
@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("handlers.file.filename=/nonexistent/x.log", "handler 'file': [Errno 2] No such file"),
        ("root.level=FOO", "root logger: Unknown level: 'FOO'"),
    ],
)
def test_logs_that_cannot_be_written_are_one_line(word, told, sweep, monkeypatch, capsys):
    monkeypatch.setattr(run.Batch, "do", lambda *given: pytest.fail("it ran"))
    assert run.main([*FREE, f"hydra.job_logging.{word}", *sweep]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: hydra's logging: Unable to configure {told}")
    assert error.count("\n") == 1


WRONG = [
    # groups and keys
    ("maxdepth=3", "no option 'maxdepth': did you mean max_depth?"),
    ("datset=iris", "no option 'datset': did you mean dataset?"),
    ("model.maxdepth=3", "no option 'model.maxdepth': did you mean max_depth?"),
    ("maxfeatures=3", "no option 'maxfeatures': did you mean model.max_features?"),
    ("path=x", "no option 'path': did you mean dataset.path?"),
    ("target=x", "no option 'target': did you mean dataset.target?"),
    ("name=x", "did you mean criterion.name, dataset.name, "),
    ("model.seed=1", "no option 'model.seed': did you mean seed?"),
    ("colour=red", "no option 'colour': the top level has dataset, model"),
    ("++max_dept=1", "no option 'max_dept': did you mean max_depth?"),
    ("+max_dept=1", "no option 'max_dept': did you mean max_depth?"),
    ("+empty={}", "no option 'empty'"),
    ("dataset.drop.x=3", "no option 'dataset.drop.x'"),
    ("++dataset.drop.x=3", "no option 'dataset.drop.x'"),
    ("search.name=???", "search has no name any more: choose one by search=…."),
    ("+model.foo=1", "no option 'model.foo': model has aggregate, "),
    ("++search.x=1", "no option 'search.x': search has bins, n_thresholds, name, threshold"),
    ("++model={foo:1}", "Key 'foo' not in 'ModelConfig'"),
    ("-m ++max_dept=1,2", "no option 'max_dept': did you mean max_depth?"),
    ("experiment=tree_regression ++max_dept=1", "no option 'max_dept'"),
    ('sweeps=["sede=1"]', "no option 'sede': did you mean seed?"),
    ('sweeps=["++model.foo=1,2"]', "no option 'model.foo'"),
    ("~max_depth", "Could not delete from config"),
    ("model=forst", "no model=forst: choose bagging, extra_trees, forest, rno, subspace, tree."),
    ("model=", "no model=: choose bagging, extra_trees, forest"),
    ("model=null", "no model=null: choose bagging, extra_trees, forest"),
    ("model=5", "no model=5: choose bagging, extra_trees, forest"),
    ("-m model=forest,null", "no model=null: choose bagging, extra_trees, forest"),
    ("-m model=forest,tre", "no model=tre: choose bagging, extra_trees, forest"),
    ("-m model=glob(x*)", "model=glob(x*) has no values"),
    ("experiment=tree", "no experiment=tree: choose "),
    ("experiment=tree_regression,variants", "one at a time"),
    ("hydra/launcher=foo", "no hydra/launcher=foo: choose basic, joblib, ray, "),
    ("hydra/sweeper=nevergrad", "is not installed: pip install hydra-nevergrad-sweeper."),
    # words that are no overrides
    ("model", "'model' cannot be read: write KEY=VALUE"),
    ("=3", "'=3' names no option"),
    (["max_depth =3"], "'max_depth =3' cannot be read: write KEY=VALUE, without spaces"),
    ("-m max_depth=1, 5", "'max_depth=1,' cannot be read: write KEY=VALUE"),
    ("dataset.path=a=b.csv", "'dataset.path=a=b.csv' cannot be read: a value with"),
    ('dataset.path="a', "needs quotes that the shell leaves"),
    ("max_depth=${seed", "cannot be read"),
    ("--foo", "unrecognized arguments: --foo; --help"),
    ("--cfg nothing", "argument --cfg/-c: invalid choice: 'nothing'"),
    ("--cfg job maxdepth=3", "no option 'maxdepth': did you mean max_depth?"),
    ("--help model=forst", "no model=forst: choose"),
    ("--config-name=foo", "Cannot find primary config 'foo'."),
    ("--config-dir=/nowhere", "--config-dir: there is no folder /nowhere."),
    ("--config-dir=~/nowhere", f"--config-dir: there is no folder {Path.home() / 'nowhere'}."),
    ("-cd ~/nowhere", f"--config-dir: there is no folder {Path.home() / 'nowhere'}."),
    ("--config-path=/nowhere", "your own configs join with --config-dir."),
    ("--experimental-rerun=/nowhere", "--experimental-rerun is not for runs of forestlab"),
    # values
    ("max_depth=x", "max_depth=x: Value 'x' of type 'str' could not be converted to Integer"),
    ("max_depth=", "max_depth=: Value '' of type 'str' could not be converted to Integer"),
    ("-m seed=0,x", "seed=x: Value 'x' of type 'str' could not be converted to Integer"),
    ("n_estimators=null", "n_estimators=null: field 'n_estimators' is not Optional"),
    ("n_estimators=0", "n_estimators must be a whole number from 1 to 1,000,000; got 0"),
    ("n_estimators=1000000000000", "n_estimators must be a whole number from 1 to 1,000,000; got"),
    ("dataset=twonorm dataset.n_samples=100000000000000", "dataset=twonorm does not fit into the"),
    ("-m max_depth=1,-2", "max_depth must be a whole number of at least 1 or None; got -2"),
    ("resume=maybe", "resume=maybe: Value 'maybe' is not a valid bool"),
    ("seed=-1", "seed must be a whole number from 0 to 2**32 - 1; got -1."),
    ("max_depth=${nothing}", "max_depth=${nothing} cannot be looked up: Interpolation key"),
    ("max_depth=${oc.env:NO_SUCH}", "max_depth=${oc.env:NO_SUCH} cannot be looked up"),
    ("seed=${seed}", "seed=${seed} cannot be looked up: Recursive"),
    ("tracking.run_name='\\${seed}'", "tracking.run_name=${seed}: a value cannot have ${"),
    ("max_depth=???", "max_depth must be given: add max_depth=… to the command."),
    ("criterion=variance", "criterion=variance does not fit dataset=digits"),
    ("model.class_weight=foo", "class_weight must be"),
    ("dataset=boston model.class_weight=balanced", "does not go with regression"),
    ("model=tree model.bootstrap=true", "does not go with a single tree"),
    ("dataset=iris model.leaf=median", "model.leaf=median does not go with classification"),
    ("dataset=boston model.leaf=max", "leaf must be one of 'mean', 'median', 'mode', or"),
    ("model=tree model.aggregate=true", "model.aggregate=True does not go with a single tree."),
    ("model=extra_trees model.shrink=oob", "shrink='oob' goes by rows that trees leave out"),
    ("model.shrink=-1", "shrink must be a number of at least 0; got -1"),
    ("model.shrink=1 model.aggregate=true", "shrink must be None then; got 1"),
    ("task=density dataset=clouds model.shrink=1", "model.shrink=1 does not go with task=density."),
    (["dataset=iris", "model.monotonic_cst=[1,0,0,0]"], "of two classes; got 3 classes"),
    (["dataset=boston", "model.monotonic_cst=[1,0]"], "for each of 13 features; got [1, 0]"),
    (["dataset=boston", "model.monotonic_cst={RMM: 1}"], "got 'RMM': did you mean RM?"),
    (["dataset=linnerud", "model.monotonic_cst=[1,0,0]"], "constrains one target; got 3."),
    # plug-ins
    ("plugins=[no_such_module]", "plugins: there is no module 'no_such_module': "),
    ("plugins=[pandas.no_such]", "plugins: there is no module 'pandas.no_such': "),
    ("plugins=[.relative]", "plugins: .relative cannot be imported: "),
    ("plugins=pandas", "plugins=pandas: "),
    ("-m plugins=[pandas],[no_such_module]", "plugins: there is no module 'no_such_module': "),
    # sweeps
    ("max_depth=1,2", "max_depth=1,2 is a sweep: add -m"),
    ("-m seed=range(0)", "seed=range(0) has no values: there is nothing to run."),
    ("-m seed=range(1,5,0)", "seed=range(1,5,0): "),
    ("-m seed=choice()", "empty choice"),
    ("-m seed=interval(0,1)", "an interval needs another"),
    ("sweeps=[]", "sweeps=[] has no runs"),
    ('sweeps=["seed=range(0)"]', "seed=range(0) has no values"),
    ('sweeps=["\'seed=1"]', "cannot be read: No closing quotation."),
    ('sweeps=["seed"]', "'seed' cannot be read: write KEY=VALUE"),
    # files and places
    ("dataset=csv", "dataset.path"),
    ("dataset=csv dataset.path=/none.csv", "dataset.path=/none.csv is not a file"),
    (
        "dataset=csv dataset.path=~/none.csv",
        f"(looked at {Path.home() / 'none.csv'})",
    ),
    ("tracking.name=x", "tracking.name=x is not one of mlflow, lean, "),
    ("tracking.uri=sqlite:///~/", f"must name a file; got 'sqlite:///{Path.home()}/'"),
    ("tracking.uri=foo/bar", "tracking.uri must begin with one of sqlite"),
    ("tracking.uri=http://127.0.0.1:1", "no MLflow server answers at http://127.0.0.1:1"),
    ("tracking.uri=sqlite:///", "tracking.uri must name a file; got 'sqlite:///'"),
    ("tracking.uri=sqlite:////proc/none/x.db", "/proc/none cannot be written"),
    (f"tracking.uri=sqlite:///{__file__}", "is not a database of SQLite"),
    ("tracking.experiment=", "tracking.experiment must be a name; got ''."),
]


def told_of(capsys) -> str:
    """The one line that a person sees."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize(("words", "told"), WRONG, ids=[str(words) for words, _ in WRONG])
def test_a_mistake_is_one_line_and_nothing_is_written(words, told, home, capsys):
    assert run.main(words.split() if isinstance(words, str) else words) == 2
    assert told in told_of(capsys)
    assert not list(home.iterdir())


def test_a_home_that_cannot_be_written_is_told(home, monkeypatch, capsys):
    (home / "file").touch()
    monkeypatch.setenv("FORESTLAB_HOME", str(home / "file" / "home"))
    assert run.main(FREE) == 2
    assert "cannot be written" in told_of(capsys)


@pytest.mark.parametrize("key", ["hydra.run.dir", "hydra.sweep.dir"])
def test_a_folder_of_hydras_that_cannot_be_made_is_told(key, home, capsys):
    (home / "file").touch()
    sweep = ["-m", "seed=0,1"] if "sweep" in key else []
    assert run.main([*FREE, f"{key}={home / 'file' / 'here'}", *sweep]) == 1
    assert f"{home / 'file'}" in told_of(capsys)


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group in PACKAGES for name in PACKAGES[group]]
)
def test_what_to_install_is_told(group, name):
    """By what Hydra says, whether or not it is installed here."""
    missing = MissingConfigException(
        f"In 'hydra/config': Could not find '{group}/{name}'\n\nAvailable options in '{group}':\n"
        "\tbasic\nConfig search path:\n\tprovider=hydra, path=pkg://hydra.conf"
    )
    package = PACKAGES[group][name]
    engine = name.split("_")[0]
    assert package.startswith((f"hydra-{engine}-{group.split('/')[1]}", f'"forestlab[{engine}]"'))
    assert one_line(missing) == f"{group}={name} is not installed: pip install {package}."


def test_the_readme_says_what_to_install():
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    for name in ("joblib", "ray", "submitit_local"):
        assert f"`pip install {PACKAGES['hydra/launcher'][name]}`" in readme
        assert f"`hydra/launcher={name}`" in readme


def test_a_single_run_is_composed_once_and_has_hydras_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    composed, compose = [], ConfigLoaderImpl.load_configuration
    monkeypatch.setattr(
        ConfigLoaderImpl,
        "load_configuration",
        lambda self, *given, **more: composed.append(more) or compose(self, *given, **more),
    )
    words = [
        "dataset=iris",
        "model=tree",
        "study=off",
        "tracking=none",
        "dataset.data_seed=${seed}",
    ]
    assert run.main(words) == 0
    assert len(composed) == 1
    (folder,) = tmp_path.glob("hydra/*/*")
    assert (folder / "run.log").is_file()
    config = OmegaConf.load(folder / ".hydra/config.yaml")
    assert OmegaConf.to_container(config)["dataset"]["data_seed"] == "${seed}"  # as it was typed
    assert OmegaConf.load(folder / ".hydra/overrides.yaml") == words
