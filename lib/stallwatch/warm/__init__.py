"""Checks in processes that stay: stallwatchd, which spares each check the start of an interpreter.

A front hands a check's command line over a Unix socket: the stub (contrib/warm-stub) for any engine, or the
Nagios worker (``nagios``). The ``supervisor`` passes it to a ``worker``, which runs it and answers.
``protocol`` is what they send each other, ``trust`` whom they trust, ``daemon`` the command line.
"""
