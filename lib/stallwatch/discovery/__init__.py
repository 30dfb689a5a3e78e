"""What there is to watch at a server that runs, as definitions for Icinga or Nagios.

``mysql`` and ``jmx`` ask a server and make a plan; ``icinga2`` and ``nagios`` write it down.
"""
