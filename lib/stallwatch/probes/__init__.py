"""One folder for each plugin, called like it, and what several share; `probe.py` there runs one check."""
