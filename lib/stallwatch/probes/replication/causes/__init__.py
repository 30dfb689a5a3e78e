"""Why a channel lags: rules that look at the replica's signals, the strongest first.

``gather`` the signals of a server, ``explain`` each case by them; ``findings`` are the signals themselves.
"""

from __future__ import annotations

from stallwatch.probes.replication.causes.case import Case, Cause
from stallwatch.probes.replication.causes.explaining import explain
from stallwatch.probes.replication.causes.gathering import gather
from stallwatch.probes.replication.causes.readings import findings
from stallwatch.probes.replication.causes.signals import Signals

__all__ = ["Case", "Cause", "Signals", "explain", "findings", "gather"]
