"""Who holds locks, who waits for them, and who is at the head of all waiting, on MySQL and MariaDB.

`metadata` and `rows` ask for locks, `suspects` and `flushes` say who probably holds what no table names,
`words` names locks and connections, and says what makes them let go.
"""
