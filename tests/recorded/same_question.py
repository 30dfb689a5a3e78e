"""Whether a recorded statement asks what another one asks, for other columns or other names."""

from typing import NamedTuple

from sql_statement import Statement


class Lack(NamedTuple):
    """What a recorded answer lacks of what is asked today: columns, or names of rows."""

    asked: Statement
    columns: tuple
    names: tuple


def difference(asked, recorded):
    """Why the recorded answer is none to this statement; "": it is one."""
    return next(_differences(asked, recorded), "")


def _differences(asked, recorded):
    for word in {**asked.parts, **recorded.parts}:
        if asked.parts.get(word) != recorded.parts.get(word):
            yield f"another {word.upper()}"
            return  # nothing else can be compared
    if not all(_same_inside(asked, *both) for both in zip(asked.inner, recorded.inner, strict=True)):
        yield "other columns of a SELECT in FROM"
    if asked.whole and not recorded.whole:
        yield "not all columns"
    if "distinct" in asked.parts.get("select", "") and _lacking_columns(recorded, asked):
        yield "DISTINCT rows of other columns"
    if _exchanged_variables(asked, recorded):
        yield "other variables"
    if asked.columns and len(_lacking_columns(asked, recorded)) == len(asked.columns):
        yield "no column of these"
    if asked.names and not asked.names.keys() & recorded.names.keys():
        yield "no name of these"
    if asked.names.keys() != recorded.names.keys() and recorded.columns and not _column_of_names(recorded):
        yield "other names, and the answer does not show which"


def _same_inside(asked, ours, theirs):
    """Whether these SELECTs in FROM give the same rows, and the same columns wherever both have them."""
    both = ours.columns.keys() & theirs.columns.keys()
    needed = asked.whole or "distinct" in ours.parts.get("select", "")
    return all(ours.columns[name] == theirs.columns[name] for name in both) and (
        not needed or ours.columns.keys() == theirs.columns.keys()
    )


def _exchanged_variables(asked, recorded):
    """Whether a SELECT without a table lacks some columns and has others: nothing else tells what it asks."""
    without_table = "select" in asked.parts and "from" not in asked.parts
    return without_table and all(_missed(asked, recorded))


def best(asked, recorded):
    """The text of the recorded statement that has most of what is asked, of a dictionary by text; or None."""
    found = {text: _missed(asked, one) for text, one in recorded.items() if not difference(asked, one)}
    return min(found, key=found.get, default=None)


def _missed(asked, recorded):
    """How much is lacking in the recording, and how much it has that is not asked."""
    return tuple(
        len(_lacking_columns(one, other)) + len(one.names.keys() - other.names.keys())
        for one, other in ((asked, recorded), (recorded, asked))
    )


def nearest(asked, recorded):
    """The recorded statement that is most like this one, and why it is not the same question."""
    words = set(asked.text.split())

    def likeness(text):
        return len(words & set(text.split())) / len(words | set(text.split()))

    if not recorded:
        return "nothing was asked in that log-in"
    text = max(recorded, key=likeness)
    why = difference(asked, recorded[text]) or "an error of its columns"
    return f"the nearest recorded statement has {why}, {text}"


def asked_of(rows, asked, recorded):
    """What is asked of recorded rows, None being a column that they lack; and what they lack, or None."""
    lacking = tuple(name for key, name in asked.names.items() if key not in recorded.names)
    if asked.names.keys() != recorded.names.keys():
        names = _column_of_names(recorded)
        rows = [row for row in rows if str(row[names]).casefold() in asked.names]
    if not asked.whole:
        own = {name: recorded.column(expression) for name, expression in asked.columns.items()}
        rows = [{name: row.get(column) for name, column in own.items()} for row in rows]
    columns = tuple(asked.written[name] for name in _lacking_columns(asked, recorded)) if rows else ()
    lack = Lack(asked, columns, lacking)
    return rows, lack if lack.columns or lack.names else None


def _column_of_names(recorded):
    return recorded.column(recorded.names_of)


def _lacking_columns(asked, recorded):
    """Names of columns that a recorded statement lacks, as far as it is known which columns SELECT * gave."""
    if recorded.whole and not recorded.columns:
        return []
    return [name for name, one in asked.columns.items() if recorded.column(one) is None]
