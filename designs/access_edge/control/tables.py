"""Subscribers as people and spreadsheets have them: CSV, YAML and JSON, rates with units.

A row of CSV is a queue; rows of one name are a subscriber, and its own values stand in the first of them. Where that is its only one and
has no value of a queue, there is none. YAML and JSON are the same nested.
"""

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.basics.units import describe, format_rate, parse_rate, parse_size
from penstock.designs.access_edge.control.fields import put, text
from penstock.designs.access_edge.control.keys import plain
from penstock.errors import UserError
from penstock.v1 import common_pb2, subscribers_pb2

OF_SUBSCRIBER = ("name", "index", "node", "rate", "burst", "weight", "guarantee", "gate", "bypass", "plan")
OF_MATCH = ("vlan", "pppoe", "mac", "ipv4", "ipv6", "mpls")
OF_QUEUE = ("rate", "burst", "limit_packets", "limit_bytes", "class", "weight", "guarantee", "aqm", "ecn")
TOP = ("subscribers", "ports", "nodes", "plans")  # of a file of YAML or JSON
COLUMNS = (*OF_SUBSCRIBER, *OF_MATCH, *(f"queue_{name}" for name in OF_QUEUE))
ON, OFF = frozenset({"on", "true", "yes", "1"}), frozenset({"off", "false", "no", "0"})
_TAG = re.compile(r"[.,/ ]\s*")  # between outer and inner VLAN
Subscriber = subscribers_pb2.Subscriber
Others = Callable[[str, Mapping[str, Any]], None]  # gets where a file is, and its top level
Located = tuple[str, Subscriber]  # where an entry stands, and what it says


def read(path: Path, others: Others | None = None) -> Iterator[Located]:
    """Yield the subscribers of a file (`.csv`, `.yaml`, `.yml`, `.json`), each behind where it stands; `others` gets what a file of YAML
    or JSON has beside them. Raises UserError that begins so."""
    return once(_entries(path, others))


def is_own(path: Path) -> bool:
    """Return whether a file of JSON has subscribers as `write` writes them, and is no OpenConfig."""
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False  # its reader says so
    return isinstance(found, dict) and "subscribers" in found


def once(entries: Iterable[Located]) -> Iterator[Located]:
    """Yield entries as they come. Raises UserError for a name that was there."""
    places: dict[str, str] = {}
    for where, subscriber in entries:
        if subscriber.name in places:
            raise UserError(
                f"{where}: {subscriber.name} stands at {places[subscriber.name]}, too: what is of one subscriber stands together"
            )
        places[subscriber.name] = where
        yield where, subscriber


def _entries(path: Path, others: Others | None) -> Iterator[Located]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or 'is no text'}") from None
    if path.suffix == ".csv":
        return _of_csv(path, text)
    if path.suffix in (".yaml", ".yml"):
        return _of_yaml(path, text, others)
    if path.suffix == ".json":
        return _of_json(path, text, others)
    raise UserError(f"{path}: must end with .csv, .yaml, .yml or .json")


def write(path: Path, subscribers: Iterable[Subscriber], others: Mapping[str, Any] | None = None) -> int:
    """Write subscribers and return how many; the file is there whole or not at all. `others`: lists that YAML and JSON have before them.
    Raises UserError."""
    if path.suffix == ".csv":
        text, count = _as_csv(subscribers)
    elif path.suffix in (".yaml", ".yml"):
        text, count = _as_yaml(subscribers, others or {})
    elif path.suffix == ".json":
        text, count = _as_json(subscribers, others or {})
    else:
        raise UserError(f"{path}: must end with .csv, .yaml, .yml or .json")
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    return count


def as_dict(subscriber: Subscriber) -> dict[str, Any]:
    """Return a subscriber as in YAML."""
    found: dict[str, Any] = {"name": subscriber.name}
    if subscriber.HasField("index"):
        found["index"] = subscriber.index
    found["node"] = subscriber.node
    own = {"rate": "rate_bps", "burst": "burst_bytes", "weight": "weight", "guarantee": "guarantee_bps"}
    found |= {"plan": subscriber.plan} if subscriber.plan else present(subscriber, own)  # the plan says the rest
    if subscriber.gate_closed:
        found["gate"] = "closed"
    if subscriber.bypass:
        found["bypass"] = True
    given = [plain(match) for match in subscriber.matches]
    if given:
        found["match"] = given[0] if len(given) == 1 else given
    found["queues"] = [plain_queue(queue) for queue in (() if subscriber.plan else subscriber.queues)]
    return found


def plain_queue(queue: common_pb2.QueueSettings) -> dict[str, Any]:
    """Return the settings of a queue as in YAML."""
    names = {"rate": "rate_bps", "burst": "burst_bytes", "limit_packets": "limit_packets", "limit_bytes": "limit_bytes",
             "class": "traffic_class", "weight": "weight", "guarantee": "guarantee_bps"}  # fmt: skip
    return present(queue, names) | _aqm_of(queue)


def of_dict(values: Mapping[str, Any], where: str) -> Subscriber:
    """Return a subscriber from what YAML or a command says. Raises UserError that begins with `where`."""
    known(values, (*OF_SUBSCRIBER, "match", "queues"), where)
    made = Subscriber()
    fill(made, values, where, ("name", "index", "node", "rate", "burst", "weight", "guarantee", "plan"))
    gate = values.get("gate", "open")
    if gate not in ("open", "closed"):
        raise UserError(f"{where}: gate must be open or closed, not {gate!r}")
    made.gate_closed = gate == "closed"
    made.bypass = bool(_flag(values.get("bypass"), f"{where}: bypass"))
    given = values.get("match")
    given = given if isinstance(given, list) else [] if given is None else [given]
    made.matches.extend(match_of(one, f"{where}: match" + (f"[{number}]" if len(given) > 1 else "")) for number, one in enumerate(given))
    queues = values.get("queues") or []
    if not isinstance(queues, list) or not all(isinstance(queue, Mapping) for queue in queues):
        raise UserError(f"{where}: queues must be a list of settings")
    made.queues.extend(queue_of(queue, f"{where}: queues[{number}]") for number, queue in enumerate(queues))
    return made


def fill(message: Any, values: Mapping[str, Any], where: str, keys: Iterable[str]) -> None:
    """Put the values of some keys into the fields of a message. Raises UserError that begins with `where`."""
    of: dict[str, tuple[str, Any]] = {
        "name": ("name", _text), "index": ("index", _whole), "node": ("node", _whole), "port": ("port", _whole),
        "rate": ("rate_bps", _rate), "burst": ("burst_bytes", _size), "weight": ("weight", _whole), "guarantee": ("guarantee_bps", _rate),
        "plan": ("plan", _text),
    }  # fmt: skip
    for key in keys:
        _set(message, of[key][0], values, key, of[key][1], where)


def match_of(values: object, where: str) -> subscribers_pb2.Match:
    """Return a match. Raises UserError that begins with `where`."""
    if not isinstance(values, Mapping):
        raise UserError(f"{where}: must be keys with values such as vlan: [100, 7], not {describe(values)}")
    known(values, OF_MATCH, where)
    made = subscribers_pb2.Match()
    vlan = values.get("vlan")
    if vlan is not None:
        tags = vlan if isinstance(vlan, list | tuple) else _TAG.split(vlan.strip()) if isinstance(vlan, str) else [vlan]
        for tag in tags:
            number = _whole(tag, f"{where}: vlan")
            if not 0 <= number < 4096:
                raise UserError(f"{where}: vlan must be one VLAN id or two, 0 to 4,095, not {describe(vlan)}")
            made.vlan.append(number)
    for key in ("pppoe", "mpls"):
        _set(made, key, values, key, _whole, where)
    for key in ("mac", "ipv4", "ipv6"):
        _set(made, key, values, key, _text, where)
    return made


def matches_of_cells(cells: Mapping[str, str], where: str) -> list[dict[str, Any]]:
    """Return the matches of a row: cells with several have blanks between them; sessions and MAC addresses go together, one by one. Raises
    UserError."""
    words = {key: value.split() for key, value in cells.items()}
    macs, sessions = words.get("mac", []), words.get("pppoe", [])
    if sessions and len(macs) != len(sessions):
        raise UserError(f"{where}: has {len(sessions)} pppoe and {len(macs)} mac; each session needs the MAC address of its subscriber")
    found = (
        [{"pppoe": session, "mac": mac} for session, mac in zip(sessions, macs, strict=True)]
        if sessions
        else [{"mac": mac} for mac in macs]
    )
    return [*found, *({key: one} for key in ("vlan", "ipv4", "ipv6", "mpls") for one in words.get(key, []))]


def queue_of(values: Mapping[str, Any], where: str) -> common_pb2.QueueSettings:
    """Return the settings of a queue. Raises UserError that begins with `where`."""
    known(values, OF_QUEUE, where)
    made = common_pb2.QueueSettings()
    for key, field, reader in (
        ("rate", "rate_bps", _rate), ("burst", "burst_bytes", _size), ("limit_packets", "limit_packets", _whole),
        ("limit_bytes", "limit_bytes", _size), ("class", "traffic_class", _whole), ("weight", "weight", _whole),
        ("guarantee", "guarantee_bps", _rate),
    ):  # fmt: skip
        _set(made, field, values, key, reader, where)
    settings = aqm_settings(values.get("aqm"), f"{where}: aqm")
    ecn = _flag(values.get("ecn"), f"{where}: ecn")
    if settings is not None:
        within = _flag(settings.pop("ecn", None), f"{where}: aqm: ecn")
        if None not in (ecn, within) and ecn != within:
            raise UserError(f"{where}: ecn is {'on' if ecn else 'off'}, and {'on' if within else 'off'} within aqm")
        made.aqm.ecn = bool(ecn or within)
        made.aqm.settings.update({text(str(key), f"{where}: aqm"): text(str(value), f"{where}: aqm") for key, value in settings.items()})
    elif ecn:
        raise UserError(f"{where}: ecn says what an AQM does, so it needs aqm: on, or settings")
    return made


def aqm_settings(value: object, where: str) -> dict[str, Any] | None:
    """Return the settings of an AQM that is on, with `ecn` where that stands among them; None: it is off. Raises UserError."""
    if isinstance(value, Mapping):
        return dict(value)
    words = str(value or "").split()
    if not words or len(words) == 1 and words[0].lower() in OFF:
        return None
    return pairs(words[1:] if words[0].lower() in ON else words, f"{where}: must be on, off, or settings such as target=5ms interval=100ms")


def pairs(words: Iterable[str], where: str) -> dict[str, Any]:
    """Return KEY=VALUE words as a mapping. Raises UserError that begins with `where`."""
    found: dict[str, Any] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign:
            raise UserError(f"{where}, not {word!r}")
        if key in found:
            raise UserError(f"{where}, each of them once; {key} is {found[key]} and {value}")
        found[key] = value
    return found


def _flag(value: object, where: str) -> bool | None:
    """Return what a word for yes or no says; None where there is none. Raises UserError."""
    word = "" if value is None else str(value).strip().lower()
    if word not in ON | OFF | {""}:
        raise UserError(f"{where} must be on or off (also true, yes, 1, false, no, 0), not {value!r}")
    return word in ON if word else None


def _of_csv(path: Path, text: str) -> Iterator[Located]:
    for name, rows in itertools.groupby(_rows(path, text), key=lambda row: row[1]["name"]):
        (first, own, queue), *further = rows
        cells = {key: own.pop(key) for key in OF_MATCH if key in own}
        made = of_dict(own | {"match": matches_of_cells(cells, first)}, first)
        for where, more, _ in further:
            if set(more) != {"name"}:
                raise UserError(f"{where}: {name} has its own values in its first row; this row is a further queue")
        if queue or further:  # else it has no queue
            made.queues.extend(queue_of(values, where) for where, _, values in [(first, own, queue), *further])
        yield first, made


def _rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Yield where each row stands, and what it says of its subscriber and of a queue."""
    rows = csv.DictReader(io.StringIO(text))
    unknown = [name for name in rows.fieldnames or [] if name not in COLUMNS]
    if unknown or "name" not in (rows.fieldnames or []):
        raise UserError(f"{path}:1: must have the column name and any of {', '.join(COLUMNS[1:])}, not {', '.join(unknown) or 'none'}")
    twice = next((name for name in COLUMNS if (rows.fieldnames or []).count(name) > 1), None)
    if twice is not None:
        raise UserError(f"{path}:1: must have each column once, but {twice} is there twice")
    while (row := _next(path, rows)) is not None:
        where = f"{path}:{rows.line_num}"
        if None in row:
            raise UserError(f"{where}: has more values than there are columns")
        given = {key: value if key == "name" else value.strip() for key, value in row.items() if value and value.strip()}
        own = {key: value for key, value in given.items() if key in OF_SUBSCRIBER or key in OF_MATCH}
        if "name" not in own:
            raise UserError(f"{where}: has no name")
        yield where, own, {key.removeprefix("queue_"): value for key, value in given.items() if key.startswith("queue_")}


def _next(path: Path, rows: "csv.DictReader[str]") -> dict[Any, Any] | None:
    """Return the next row; None: there is none. Raises UserError."""
    begin = rows.line_num + 1
    try:
        return next(rows, None)
    except csv.Error as error:
        raise UserError(f"{path}:{begin}: is no row of CSV ({error}); a quote may not be closed") from None


def _of_yaml(path: Path, text: str, others: Others | None) -> Iterator[Located]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        found = YAML(typ="safe").load(text)
    except YAMLError as error:
        raise UserError(f"{path}: is no YAML ({' '.join(str(error).split())[:120]})") from None
    yield from _listed(path, found, others)


def _of_json(path: Path, text: str, others: Others | None) -> Iterator[Located]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise UserError(f"{path}: is no JSON") from None
    yield from _listed(path, found, others)


def _listed(path: Path, found: object, others: Others | None) -> Iterator[Located]:
    entries = found.get("subscribers") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(entries, list):
        raise UserError(f"{path}: must have a list `subscribers`")
    known(found, TOP, str(path))
    if others is not None:
        others(str(path), found)
    for number, entry in enumerate(entries):
        where = f"{path}: subscribers[{number}]"
        if not isinstance(entry, dict):
            raise UserError(f"{where}: must be keys with values")
        yield where, of_dict(entry, where)


def _as_csv(subscribers: Iterable[Subscriber]) -> tuple[str, int]:
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    count = 0
    for subscriber in subscribers:
        count += 1
        values = as_dict(subscriber)
        own = {key: value for key, value in values.items() if key not in ("queues", "match")} | _cells(subscriber)
        if not values["queues"]:
            writer.writerow(own)
        for queue in values["queues"]:
            aqm = queue.get("aqm")
            cells = {f"queue_{key}": value for key, value in queue.items()} or {"queue_aqm": "off"}  # a queue has a value
            if aqm is not None:
                cells["queue_aqm"] = " ".join(f"{key}={value.replace(' ', '')}" for key, value in aqm.items()) or "on"
            writer.writerow(own | cells)
            own = {"name": subscriber.name}
    return file.getvalue(), count


def _cells(subscriber: Subscriber) -> dict[str, str]:
    """Return the cells of a subscriber's matches. Raises UserError for what CSV cannot say."""
    found: dict[str, list[str]] = {}
    given = [plain(match) for match in subscriber.matches]
    if any("pppoe" in one for one in given) and any(one.keys() == {"mac"} for one in given):
        raise UserError(f"{subscriber.name}: has matches by session and by MAC address alone, which CSV cannot say; use .yaml or .json")
    for one in given:
        for key, value in one.items():
            found.setdefault(key, []).append(".".join(map(str, value)) if isinstance(value, list) else str(value))
    return {key: " ".join(values) for key, values in found.items()}


def _as_json(subscribers: Iterable[Subscriber], others: Mapping[str, Any]) -> tuple[str, int]:
    entries = [as_dict(subscriber) for subscriber in subscribers]
    return json.dumps({**others, "subscribers": entries}, indent=1) + "\n", len(entries)


def _as_yaml(subscribers: Iterable[Subscriber], others: Mapping[str, Any]) -> tuple[str, int]:
    from ruamel.yaml import YAML

    entries = [as_dict(subscriber) for subscriber in subscribers]
    file = io.StringIO()
    yaml = YAML(typ="safe")
    yaml.default_flow_style = None
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.dump({**others, "subscribers": entries}, file)
    return file.getvalue(), len(entries)


def present(message: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that a message has, as in YAML."""
    found: dict[str, Any] = {}
    for key, field in names.items():
        if message.HasField(field):
            value = getattr(message, field)
            found[key] = exact_rate(value) if key in ("rate", "guarantee") else f"{value} B" if key in ("burst", "limit_bytes") else value
    return found


def exact_rate(bps: int) -> str:
    """Return a rate with the largest unit that keeps it exact."""
    text = format_rate(bps)
    return text if parse_rate(text) == bps else f"{bps} bit/s"


def _aqm_of(queue: common_pb2.QueueSettings) -> dict[str, Any]:
    if not queue.HasField("aqm"):
        return {}
    return {"aqm": dict(sorted(queue.aqm.settings.items()))} | ({"ecn": True} if queue.aqm.ecn else {})


def _set(message: Any, field: str, values: Mapping[str, Any], key: str, reader: Any, where: str) -> None:
    if values.get(key) is not None:
        put(message, field, reader(values[key], f"{where}: {key}"), f"{where}: {key}")


def known(values: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    """Raise UserError for a key that is none of these."""
    wrong = next((str(key) for key in values if key not in names), None)
    if wrong is not None:
        raise UserError(f"{where}: {wrong} is nothing that is known here; there are {', '.join(names)}")


def _rate(value: object, where: str) -> int:
    try:
        return int(parse_rate(value))
    except ValueError as error:
        raise UserError(f"{where} {error}") from None


def _size(value: object, where: str) -> int:
    try:
        return int(parse_size(value))
    except ValueError as error:
        raise UserError(f"{where} {error}") from None


def _whole(value: object, where: str) -> int:
    try:
        if not isinstance(value, (bool, float)):
            return int(str(value))
    except ValueError:
        pass
    raise UserError(f"{where} must be a whole number, not {describe(value)}")


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):  # YAML has made another number of 0123 or 1e3
        raise UserError(f"{where} must be text, in quotes where it looks like a number, not {describe(value)}")
    return value
