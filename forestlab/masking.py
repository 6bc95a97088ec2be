"""Passwords in the addresses of stores, which nobody is shown.

`hide` makes of an address the one that is shown, as `postgresql://me:***@host/runs`, and keeps the
*real* one for whoever connects. What is hidden at the door is in no config, no file and no log.
What other packages say of an address is *scrubbed* as it is logged or printed. Processes that are
started from here hear of real addresses as they hear of MLFLOW_TRACKING_URI, by the environment.
"""

import json
import logging
import os
import re
import traceback
from functools import cache
from typing import Any
from urllib.parse import unquote

MASK = "***"
KNOWN = "FORESTLAB_HIDDEN"  # the variable: real addresses by the shown ones, as JSON
# An address in a word of the command line, whole in its quotes, or with what Hydra escapes.
ADDRESS = re.compile(
    r"""(["'])(\w[\w+.-]*://.*?)\1|(\w[\w+.-]*://(?:\\.|[^\s,"'\]}\\])*)""",
)
# me:password@, whatever a password of a database has in it; that of a server has no slash.
USER = re.compile(r"(?<=://)(?<!http://)(?<!https://)([^:/@\s]*):(\S+)@")
USER_OF_SERVER = re.compile(r"(?<=http://|ttps://)([^:/@\s]*):([^\s/]+)@")
TOKEN = re.compile(r"(?<=http://|ttps://)([^:/@\s]+)@")
QUERY = re.compile(r"(?<=[?&])(\w*(?:password|passwd|pwd|token|secret))=([^&\s\"']+)", re.I)


def hide(address: str) -> str:
    """The address as it is shown; whoever connects gets the real one by it."""
    shown, secrets = _masked(address)
    if any(secret != MASK for secret in secrets):
        known = _known() | {shown: address}
        os.environ[KNOWN] = json.dumps(known)
        _scrub_logs()
    return shown


def real(address: str) -> str:
    """The address that a shown one stands for."""
    return _known().get(address, address)


def is_unknown(address: str) -> bool:
    """Whether an address has a mask in the place of a password that was never given."""
    return MASK in _masked(address)[1]


def hide_in(word: str) -> str:
    """A word of the command line, with the addresses in it hidden."""

    def shown(found: re.Match) -> str:
        quote, quoted, plain = found.groups()
        if quote:
            return f"{quote}{hide(quoted)}{quote}"
        return hide(re.sub(r"\\(.)", r"\1", plain)) if _masked(plain)[1] else plain

    return ADDRESS.sub(shown, word)


def scrub(text: str) -> str:
    """A text without what is hidden; any address in it is masked too."""
    for address in re.findall(r"\w+://\S+@\S+", text):
        text = text.replace(address, _masked(address)[0])
    said = os.environ.get(KNOWN)
    return _secrets(said).sub(MASK, text) if said else text


def first_line(error: BaseException) -> str:
    """What an error says first, without what is hidden."""
    return scrub((str(error).strip() or type(error).__name__).split("\n")[0])


def _masked(address: str) -> tuple[str, list[str]]:
    """An address as it is shown, and what that leaves out."""
    secrets: list[str] = []

    def taken(kept: str, secret: str) -> str:
        secrets.append(secret)
        return f"{kept}{MASK}"

    for user in (USER, USER_OF_SERVER):
        address = user.sub(lambda found: f"{taken(f'{found[1]}:', found[2])}@", address)
    address = TOKEN.sub(lambda found: f"{taken('', found[1])}@", address)
    address = QUERY.sub(lambda found: taken(f"{found[1]}=", found[2]), address)
    return address, secrets


def _known() -> dict[str, str]:
    return json.loads(os.environ.get(KNOWN, "{}"))


@cache
def _secrets(said: str) -> re.Pattern:
    """What finds the secrets of real addresses as whole words, as they are and as drivers get them:
    the password `post` is not taken out of postgresql."""
    given = {secret for address in json.loads(said).values() for secret in _masked(address)[1]}
    words = sorted(given | {unquote(secret) for secret in given}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)")


@cache
def _scrub_logs() -> None:
    """Have all that is logged from here on scrubbed, tracebacks too."""
    make = logging.getLogRecordFactory()

    def scrubbed(*given: Any, **more: Any) -> logging.LogRecord:
        record = make(*given, **more)
        record.msg, record.args = scrub(record.getMessage()), None
        if record.exc_info and record.exc_info[1]:
            record.exc_text = scrub(
                "".join(traceback.format_exception(record.exc_info[1])).rstrip()
            )
        return record

    logging.setLogRecordFactory(scrubbed)


if KNOWN in os.environ:  # a process that another one started
    _scrub_logs()
