"""Plugins where the engine, the shell or the machine give them less than they are used to."""

from cells import cells
from runs import environment, run
from subjects import NETWORK, Place

TIMEOUT = 8  # seconds, the default
LOCALES = {
    "C": {"LC_ALL": "C"},
    "POSIX": {"LC_ALL": "POSIX"},
    "of no kind": {"LC_ALL": "xx_XX.nonsense"},
}


@cells({f"locale {name}": variables for name, variables in LOCALES.items()})
def test_locale(home, subject, trouble):
    outcome = run(subject, Place(), home, env=environment(home, **trouble))
    outcome.holds(TIMEOUT)
    if subject.source in NETWORK:
        assert outcome.status == subject.unreachable
