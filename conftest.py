# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Loads the plugin that knows what kind each test is of, and which ones --quick runs."""

from penstock.testkinds import pytest_addoption, pytest_configure

__all__ = ["pytest_addoption", "pytest_configure"]
