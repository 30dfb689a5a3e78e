"""The table: every trouble that concerns a plugin, with every plugin that it concerns."""

import itertools
from collections import Counter

import pytest
from subjects import SUBJECTS

_turns = Counter()  # of each plugin in the tables of all modules that have ``one``


def cells(troubles, concerned=lambda trouble, subject: True, subjects=SUBJECTS, *, rare=(), one=False):
    """Parametrize a test by ``subject`` and ``trouble`` (a dict's key and its value).

    Representative, and so part of ``make test``, is each trouble with a plugin of each source, the next one
    for each next trouble, or with ``one`` of all, whose turn it is. Those whose names are ``rare`` are not.
    ``make test-all`` runs all.
    """
    params = []
    for number, (name, trouble) in enumerate(troubles.items()):
        those = [subject for subject in subjects if concerned(trouble, subject)]
        if name in rare:
            chosen = []
        elif one:
            chosen = [_next(those)]
        else:
            chosen = [group[number % len(group)] for group in _by_source(those)]
        for subject in those:
            marks = [pytest.mark.cell(trouble=name)]
            marks += [] if subject in chosen else [pytest.mark.only_in_all_cells]
            params.append(pytest.param(subject, trouble, id=f"{name}-{subject.plugin}", marks=marks))
    return pytest.mark.parametrize(("subject", "trouble"), params)


def _next(subjects):
    """Give the one that has had the fewest turns."""
    subject = min(subjects, key=lambda one: _turns[one.plugin])
    _turns[subject.plugin] += 1
    return subject


def _by_source(subjects):
    groups = itertools.groupby(sorted(subjects, key=lambda one: one.source), key=lambda one: one.source)
    return [[*group] for _, group in groups]
