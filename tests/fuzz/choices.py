"""Octets that choose: what is made up of them is always well-formed, and can be replayed."""

import json
from copy import deepcopy

ODD_NUMBERS = (
    0,
    -1,
    1,
    2,
    255,
    4096,
    2**31 - 1,
    2**31,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64 - 1,
    -(2**63),
    10**30,
    10**400,
    0.0,
    -0.0,
    0.5,
    -1.5,
    1e-300,
    1e15,
    1e300,
    -1e300,
    1.7e308,
)
NOT_NUMBERS = (float("nan"), float("inf"), float("-inf"))
ODD_TEXTS = (
    "",
    " ",
    "0",
    "1",
    "-1",
    "1.5",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "9" * 30,
    "9" * 400,
    "9" * 5000,
    "x",
    "Yes",
    "No",
    "ON",
    "NULL",
    "\u0661\u0662",
    "\u00b2",
    "a|b",
    "a\nb",
    "a'b\"c`d",
    "=;:,",
    "%s%d{}",
    "\x00",
    "\x1b[31m",
    "\u202eabc",
    "\ud800",
    "0000-00-00 00:00:00",
    "1970-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
    "2026-13-45 25:61:61",
    "-838:59:59",
    "12:34:56",
    "1-2-3",
    "0-1-18446744073709551615",
    "mysql-bin.000001",
    "b0c6f8d6-e537-11f1-b3bb-02fc00000001:1-9223372036854775807",
    "x" * 20_000,
    "-" * 20_000,
    "(" * 5000,
)
ODD_JSON = (
    None,
    True,
    False,
    *ODD_NUMBERS,
    *NOT_NUMBERS,
    *ODD_TEXTS,
    [],
    {},
    [[]],
    [None],
    {"": None},
    [0, 1],
    {"a": 1},
)


class Choices:
    """Decisions, two octets each; where there are none left, the first of all possibilities."""

    def __init__(self, octets):
        self.octets = octets
        self.at = 0

    @property
    def left(self):
        """Whether there are octets left."""
        return self.at < len(self.octets)

    def below(self, limit):
        """A number from 0 to below ``limit``."""
        chosen = int.from_bytes(self.octets[self.at : self.at + 2], "big")
        self.at += 2
        return chosen % limit if limit else 0

    def one(self, of):
        """One of these."""
        return of[self.below(len(of))]

    def rest(self):
        """What is left."""
        left, self.at = self.octets[self.at :], len(self.octets)
        return left


def seeds(count=64, length=24):
    """Octets to begin with: as good as any."""
    from random import Random

    chance = Random(f"choices {count}")
    return [chance.randbytes(chance.randrange(2, length)) for _ in range(count)]


def changed_json(value, choices, odd=ODD_JSON, most=8):
    """Change a value of JSON in some places, of which the choices tell; gives the new one."""
    whole = [json.loads(json.dumps(value))]
    for _ in range(most):
        if not choices.left:
            break
        _change(whole, choices, odd)
    return whole[0]


def _change(whole, choices, odd):
    """Go down from the root, and change what is there."""
    holder, key = whole, 0
    while isinstance(holder[key], dict | list) and holder[key] and choices.below(8):
        holder = holder[key]
        key = choices.one(sorted(holder)) if isinstance(holder, dict) else choices.below(len(holder))
    match choices.below(8):
        case 0 if holder is not whole:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[choices.one(ODD_TEXTS)] = deepcopy(holder[key])
        case 1 if holder is not whole:
            holder.insert(choices.below(len(holder)), deepcopy(holder[key]))
        case 2:
            holder[key] = [holder[key]]
        case 3:
            holder[key] = str(holder[key])
        case _:
            holder[key] = deepcopy(choices.one(odd))
