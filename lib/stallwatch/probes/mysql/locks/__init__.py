"""Who holds locks, who waits for them, and who is at the head of all waiting, on MySQL and MariaDB.

`metadata` and `rows` ask for locks, `suspects` finds who probably holds what no table names, `ending` has
what ends a lock, `words` names locks, connections and these steps.
"""
