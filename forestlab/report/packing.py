"""What a page holds, made small: numbers rounded to bytes, arrays behind one JSON header, all of it
compressed and written as text.

The text is base64, so that no name or label, whatever letters it has, can end the element that it
stands in. `web/data.js` reads it back::

    length of the header, uint32 | header, JSON, padded | arrays, each padded to 8 bytes

In the header an array is ``{"array": k}``, of which ``arrays[k]`` has type, shape and place.
"""

import base64
import json
import zlib
from typing import Any

import numpy as np

SHARES = 250  # steps from 0 to 1: a probability is off by 0.002 at most
NO_SHARE = 255
NO_NUMBER = 65535
TYPES = ("uint8", "uint16", "uint32", "int32", "float32")  # that a page can read
LONGEST = 80  # letters of a name


def shares(p: np.ndarray) -> np.ndarray:
    """Probabilities as bytes: p * SHARES, or NO_SHARE for NaN."""
    known = np.isfinite(p)
    return np.where(known, np.rint(np.where(known, p, 0.0) * SHARES), NO_SHARE).astype(np.uint8)


def numbers(values: np.ndarray) -> dict[str, Any]:
    """Numbers as codes of 16 bits: low + step * code, or NO_NUMBER for what is not finite."""
    known = np.isfinite(values)
    some = values[known] if known.any() else np.zeros(1)
    low, high = float(some.min()), float(some.max())
    step = (high - low) / (NO_NUMBER - 1) or 1.0
    with np.errstate(invalid="ignore"):
        codes = np.where(known, np.rint((np.where(known, values, low) - low) / step), NO_NUMBER)
    return {"low": low, "step": step, "codes": codes.astype(np.uint16)}


def floats(values: np.ndarray) -> np.ndarray:
    """Numbers of 32 bits; what is too great for them is infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(np.float32)


def smallest(whole: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 on, in the smallest type that holds them."""
    most = int(whole.max()) if whole.size else 0
    return whole.astype(np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32)


def brief(name: Any, letters: int = LONGEST) -> str:
    """A name as a page shows it: in one line, and of long ones the beginning."""
    text = " ".join(str(name).split())
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def packed(content: dict[str, Any]) -> str:
    """The content, arrays and all, as text."""
    arrays: list[np.ndarray] = []
    plain = _plain(content, arrays)
    places, start = [], 0
    for array in arrays:
        places.append({"type": array.dtype.name, "shape": array.shape, "start": start})
        start += -(-array.nbytes // 8) * 8
    text = json.dumps({"content": plain, "arrays": places}, allow_nan=False, ensure_ascii=False)
    header = text.encode()
    header += b" " * (-(4 + len(header)) % 8)
    parts = [len(header).to_bytes(4, "little"), header]
    parts += [array.tobytes() + b"\0" * (-array.nbytes % 8) for array in arrays]
    return base64.b64encode(zlib.compress(b"".join(parts), 6)).decode()


def _plain(content: Any, arrays: list[np.ndarray]) -> Any:
    """The content with arrays taken out, each put behind those before."""
    if isinstance(content, dict):
        return {key: _plain(value, arrays) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value, arrays) for value in content]
    if isinstance(content, np.ndarray):
        if content.dtype.name not in TYPES:
            raise TypeError(f"a page does not read arrays of {content.dtype}")
        arrays.append(np.ascontiguousarray(content))
        return {"array": len(arrays) - 1}
    return content.item() if isinstance(content, np.generic) else content
