"""The frame of every plugin: its options, its time, its end, what it keeps between runs, its secrets."""
