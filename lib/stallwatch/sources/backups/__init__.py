"""The files of backups: which there are, what is in them, whether that is whole."""
