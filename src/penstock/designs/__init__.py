"""Designs: their configurations, and what each one says of itself.

The folders of `designs/` are packages here: `penstock.designs.<design>.design` has the object DESIGN (penstock.designs.design).
"""

from penstock.paths import DESIGNS

__path__.append(str(DESIGNS))
