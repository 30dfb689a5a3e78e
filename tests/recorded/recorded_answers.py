"""The answers of one recorded log-in. A statement gets one after the other, whatever is asked in between.

A statement that was not recorded gets those of the recorded statement that asks the same question.
"""

import same_question
import sql_statement

# MySQL's errors of a column or a variable: unknown, not permitted, unknown. They answer these columns alone.
OF_COLUMNS = {1054, 1143, 1193}


class NotAskedError(Exception):
    """There is no answer to this statement, or none any more."""


class Answers:
    """Recorded answers by the text of statements, as ``recorded_mysql.statement`` writes them."""

    def __init__(self, answers, statements):
        self._left = {}
        for answer in answers:
            sql, columns = statements[answer["statement"]].values()
            self._left.setdefault(sql, []).append((columns, answer))
        # An answer without rows has no columns, either.
        self._columns = {
            sql: max((columns for columns, _ in told), key=len) for sql, told in self._left.items()
        }

    def next(self, asked):
        """The next answer, its rows as dictionaries, and what it lacks of what is asked, or None."""
        text = asked if asked in self._left else self._same_question(asked)
        if text is None:
            nearest = same_question.nearest(sql_statement.parsed(asked), self._recorded())
            raise NotAskedError(f"was not asked when it was recorded: {asked} ({nearest})")
        if not self._left[text]:
            raise NotAskedError(f"was not asked so often when it was recorded: {asked}")
        columns, answer = self._left[text].pop(0)
        if "error" in answer:
            return answer, None
        rows, lack = [dict(zip(columns, row, strict=True)) for row in answer["rows"]], None
        if text != asked:
            recorded = sql_statement.parsed(text).of_columns(columns)
            rows, lack = same_question.asked_of(rows, sql_statement.parsed(asked), recorded)
        return {**answer, "rows": rows}, lack

    def _recorded(self):
        """What was asked, by text."""
        return {
            text: sql_statement.parsed(text).of_columns(columns) for text, columns in self._columns.items()
        }

    def _same_question(self, asked):
        """The text of the recorded statement that asks the same; None: there is none."""
        text = same_question.best(sql_statement.parsed(asked), self._recorded())
        _, answer = next(iter(self._left.get(text, ())), ((), {}))
        return None if answer.get("error", [0])[0] in OF_COLUMNS else text
