"""Which optimizer hints leave the server's time limit alone.

Those that steer the plan do. SET_VAR(max_execution_time=0) does not, nor does MAX_EXECUTION_TIME with a long
time; RESOURCE_GROUP gives a statement another share of the processors. A hint that is not known may be one of
a later version (MariaDB has hints from 12.0 on). MySQL 9.7.2 takes a comment for a hint only right behind the
verb; SET_VAR is for one variable.
"""

from __future__ import annotations

import re

_NAMES = """
BKA BNL DERIVED_CONDITION_PUSHDOWN GROUP_INDEX HASH_JOIN ICP INDEX INDEX_MERGE JOIN_FIXED_ORDER JOIN_INDEX
JOIN_ORDER JOIN_PREFIX JOIN_SUFFIX MERGE MRR ORDER_INDEX QB_NAME RANGE_OPTIMIZATION ROWID_FILTER SEMIJOIN
SKIP_SCAN SPLIT_MATERIALIZED SUBQUERY
"""
_STEERING = frozenset(_NAMES.split())
_TIME = "MAX_EXECUTION_TIME"
_QUOTED = r"'[^']*'|\"[^\"]*\"|`[^`]*`"


def refusal(hints: str, longest: float) -> str:
    """Say why what stands in ``/*+ */`` is refused; "" if it is not.

    ``longest`` is how many seconds a statement may take.
    """
    if not re.fullmatch(rf"(?:[^'\"`]|{_QUOTED})*", hints):
        return "its hint has a quote that does not end"
    bare = re.sub(_QUOTED, "''", hints).upper()
    for hint in re.finditer(r"(\w+)\s*\(([^()]*)", bare):
        name, value = hint[1], hint[2].strip()
        if name == _TIME and re.fullmatch(r"[0-9]{1,9}", value) and int(value) <= longest * 1000:
            continue
        if name == "SET_VAR" and value.startswith("OPTIMIZER_"):
            continue
        if name.removeprefix("NO_") not in _STEERING:
            return f"its hint {name} may lift the server's time limit"
    return ""
