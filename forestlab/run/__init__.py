"""The command line: from words to configs, to jobs, to what the terminal shows.

plan       words → configs of jobs, composed and checked
job        one of them: data → fit → study → log
sweep      many of them: their parent run
terminal   what a person sees
mistakes   what a person got wrong, in one sentence
command    `python -m forestlab.run`
"""

from forestlab.run.command import jobs, main, results

__all__ = ["jobs", "main", "results"]
