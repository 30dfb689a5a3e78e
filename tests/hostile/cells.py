"""The table: every trouble that concerns a plugin, with every plugin that it concerns."""

import pytest
from subjects import SUBJECTS


def cells(troubles, concerned=lambda trouble, subject: True):
    """Parametrize a test by ``subject`` and ``trouble`` (a dict's key and its value).

    Representative, and so part of ``make test``, is each trouble with one plugin of each source: the next
    one for each next trouble, so that all get their turn. ``make test-all`` runs all.
    """
    params = []
    for number, (name, trouble) in enumerate(troubles.items()):
        for source in dict.fromkeys(subject.source for subject in SUBJECTS):
            those = [one for one in SUBJECTS if one.source == source and concerned(trouble, one)]
            params += [
                pytest.param(
                    one, trouble, id=f"{name}-{one.plugin}", marks=_marks(name, index == number % len(those))
                )
                for index, one in enumerate(those)
            ]
    return pytest.mark.parametrize(("subject", "trouble"), params)


def _marks(name, representative):
    marks = [pytest.mark.cell(trouble=name)]
    return marks if representative else [*marks, pytest.mark.only_in_all_cells]
