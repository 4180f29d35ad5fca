"""Reads a configuration's file: bytes become text, within a limit."""

from pathlib import Path

from monitor.config.faults import Place, unreadable

# Reading stays within two seconds at this size, whatever is in it; a target takes about a hundred bytes.
MAX_BYTES = 128 * 1024


def text_of(path: Path) -> str:
    """A file's text. Raises ConfigError where there is none."""
    source = str(path)
    data = _bytes(path, Place(source))
    if len(data) > MAX_BYTES:
        wrong = f"the file is larger than {MAX_BYTES // 1024} KiB"
        raise unreadable(Place(source), wrong, "is this the right file? A target takes about a hundred bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = place_after(source, data[: error.start].decode("utf-8-sig", errors="replace"))
        raise unreadable(place, f"byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8") from None


def _bytes(path: Path, place: Place) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        hint = (
            "for the standard input write /dev/stdin"
            if place.source == "-"
            else "`firstbyte init` writes one to begin with"
        )
        raise unreadable(place, "there is no such file", hint) from None
    except IsADirectoryError:
        raise unreadable(place, "is a folder, not a file", f"did you mean {place.source}/firstbyte.yaml?") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise unreadable(place, f"can't be read: {reason}", "the file must be readable for this user") from None


def place_after(source: str, before: str) -> Place:
    """Where a text goes on after what has been read."""
    return Place(source, before.count("\n") + 1, len(before) - before.rfind("\n"))
