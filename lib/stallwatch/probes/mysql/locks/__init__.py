"""Who holds locks, who waits for them, and who is at the head of all waiting, on MySQL and MariaDB.

`metadata` and `rows` ask for locks, `suspects` and `flushes` find who probably holds what no table names,
`words` names locks, connections, and what releases a lock.
"""
