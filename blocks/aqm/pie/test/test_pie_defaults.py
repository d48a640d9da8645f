"""PIE's defaults: RFC 8033's numbers, converted by hand, against the model's and the configurations'; test_pst_pie.py has the RTL's."""

from fractions import Fraction

from penstock.designs import configs
from penstock.engine import engine

TICK = Fraction(1 << 8, 220_000_000)  # seconds
# RFC 8033, sections 4.2 and 5.1: T_UPDATE 15 ms, alpha 0.125 Hz, beta 1.25 Hz.
RFC = {
    "update_ticks": Fraction(15, 1000) / TICK,
    "alpha": Fraction(1, 8) * TICK * 2**32,
    "beta": Fraction(5, 4) * TICK * 2**32,
}


KEYS = {"update_ticks": "update_us", "alpha": "alpha", "beta": "beta"}  # of a configuration


def test_defaults_are_the_rfcs() -> None:
    """The nearest whole number of ticks, and of 2^-32 per tick."""
    defaults = engine.models("aqm/pie").pie_defaults
    assert defaults == {name: int(exact + Fraction(1, 2)) for name, exact in RFC.items()} | {"mean_packet_bytes": 1024}
    assert defaults["beta"] == 6247


def test_a_configuration_computes_the_same() -> None:
    defaults = engine.models("aqm/pie").pie_defaults
    assert configs.load("pie_2048").aqm_numbers == {KEYS[name]: defaults[name] for name in RFC}
