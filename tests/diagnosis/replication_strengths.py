"""Strengths that many faults of replication have: how much is written meanwhile. Seconds between commits."""

RATES = {"a commit in 5 s": 5.0, "2 commits/s": 0.5, "10 commits/s": 0.1}
