"""Files that commands write."""

from __future__ import annotations

from pathlib import Path

from ..errors import HeddleError


def write_file(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as wrong:
        raise HeddleError(f"cannot write {path}: {wrong.strerror}") from None
