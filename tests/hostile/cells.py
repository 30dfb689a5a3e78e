"""The table: every trouble that concerns a plugin, with every plugin that it concerns."""

import itertools

import pytest
from subjects import SUBJECTS


def cells(troubles, concerned=lambda trouble, subject: True, subjects=SUBJECTS, *, rare=(), one=False):
    """Parametrize a test by ``subject`` and ``trouble`` (a dict's key and its value).

    Representative, and so part of ``make test``, is each trouble with a plugin of each source, or with
    ``one`` of all; the next one for each next trouble, so that all get their turn. Those whose names are
    ``rare`` are not. ``make test-all`` runs all.
    """
    params = []
    for number, (name, trouble) in enumerate(troubles.items()):
        those = [subject for subject in subjects if concerned(trouble, subject)]
        groups = [those] if one else _by_source(those)
        chosen = [] if name in rare else [group[number % len(group)] for group in groups if group]
        for subject in those:
            marks = [pytest.mark.cell(trouble=name)]
            marks += [] if subject in chosen else [pytest.mark.only_in_all_cells]
            params.append(pytest.param(subject, trouble, id=f"{name}-{subject.plugin}", marks=marks))
    return pytest.mark.parametrize(("subject", "trouble"), params)


def _by_source(subjects):
    groups = itertools.groupby(sorted(subjects, key=lambda one: one.source), key=lambda one: one.source)
    return [[*group] for _, group in groups]
