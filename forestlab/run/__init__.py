"""The command line: from words to configs, to jobs, to what the terminal shows.

plan       words → configs of jobs, composed and checked
plugins    modules of a user's own, imported before anything is checked
making     a config → its data and its model: a job
checks     what is wrong with a config before anything is trained
measure    fit → study: the numbers of a job
rehearsal  another process that compiles what a first job will need
notes      what a run is, in three lines
log        what a run says: to the journal, then to the store
job        one run, from its data to its log
shared     what the jobs of a process share
batch      many jobs: each done or failed, and seen to an end
claims     which of several commands does a job
sweep      their parent run
here       jobs in this process, by Hydra's own launcher
launching  jobs in other processes, by a launcher of Hydra's
engines    what each launcher shares out, and needs
errand     a job there
ledger     where it tells what it does
following  who reads that, and tells a person
naming     what a job is called
terminal   what a person sees
progress   the line of it that says what happens now
tables     that fit its window
mistakes   what a person got wrong, in one sentence
command    `python -m forestlab.run`
ui         `forestlab ui`
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forestlab.run.command import Performed, jobs, main, perform

__all__ = ["Performed", "jobs", "main", "perform"]


def __getattr__(name: str) -> Any:
    """Late: Ctrl-C while `command` is imported is told in a line (see forestlab.entry)."""
    if name not in __all__:
        raise AttributeError(f"module 'forestlab.run' has no attribute {name!r}")
    from forestlab.run import command

    return getattr(command, name)
