"""Replication lag of MySQL and MariaDB: how much, where it comes from, where it is going, and why."""
