"""Who holds locks, who waits for them, and who is at the head of all waiting, on MySQL and MariaDB.

`metadata` and `rows` ask for locks, `suspects` finds who probably holds what no table names, `ending` judges
who is at the head and what ends that, `words` names locks, heads and these steps.
"""
