"""argparse without gettext, locale and their search for a translation, which argparse does not have."""

from __future__ import annotations

from types import SimpleNamespace

from stallwatch.startup.imports import without

with without(gettext=SimpleNamespace(gettext=str, ngettext=lambda one, many, n: one if n == 1 else many)):
    from argparse import Action, ArgumentParser, ArgumentTypeError, HelpFormatter

__all__ = ["Action", "ArgumentParser", "ArgumentTypeError", "HelpFormatter"]
