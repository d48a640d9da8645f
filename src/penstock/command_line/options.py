"""`--set KEY=VALUE` of the commands that take plain keys (scenarios have their own, with paths into the file)."""

from penstock.basics.suggest import nearest
from penstock.errors import UserError

MAX_DIGITS = 1000  # Python refuses to read numbers of some thousand


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """Return the settings by key, the last one of a key wins. Raises UserError for one without `=`."""
    found = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UserError(f"--set {setting!r}: give KEY=VALUE")
        found[key.strip()] = value.strip()
    return found


def take_number(settings: dict[str, str], key: str, default: int, least: int, most: int) -> int:
    """Take the whole number `key` out of `settings`. Raises UserError when it is none or out of range."""
    text = settings.pop(key, None)
    if text is None:
        return default
    plain = text.replace("_", "").replace(",", "")
    if not plain.removeprefix("-").isdecimal():
        raise UserError(f"--set {key}={text}: give a whole number")
    if len(plain) > MAX_DIGITS or not least <= int(plain) <= most:
        raise UserError(f"--set {key}={text}: give {least:,} to {most:,}")
    return int(plain)


def take_power_of_two(settings: dict[str, str], key: str, default: int, least: int, most: int) -> int:
    """Take the power of two `key` out of `settings`. Raises UserError when it is none or out of range."""
    number = take_number(settings, key, default, least, most)
    if number & (number - 1):
        raise UserError(f"--set {key}={number}: give a power of two")
    return number


def take_choice(settings: dict[str, str], key: str, choices: tuple[str, ...]) -> str:
    """Take one of `choices` (the first is the default) out of `settings`. Raises UserError for anything else."""
    text = settings.pop(key, choices[0])
    if text not in choices:
        raise UserError(f"--set {key}={text}: there is no such choice{nearest(text, choices)}")
    return text


def nothing_left(settings: dict[str, str], known: tuple[str, ...]) -> None:
    """Raise UserError when a key is left over."""
    for key in settings:
        raise UserError(f"--set: there is no key {key!r}{nearest(key, known)}")
