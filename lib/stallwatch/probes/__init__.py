"""One folder for each plugin, called like it, and what several share.

Files of a plugin, in the order in which a datum passes them. A small plugin has fewer:

- `options`: options, default thresholds, examples; its ``findings`` connects and calls the probe
- `declared`: labels of the perfdata, privileges, services, panels, and how tests see that all is well
- `probe`: one run, step by step. Start reading here
- `collect`, `queries`: the statements, what a refusal means, and what is kept for the next run
- `model`: the types of what was read, with units and sources
- `diagnosis`: what is wrong, by rules with their sources. It knows no thresholds: it calls ``is_problem``
- `messages`: sentences, and readings for the perfdata

`ndb_page_buffer` is a simple one, `mysqld_process` has all of them.
"""
