"""Whether what a MySQL server is to be restored from is there, whole, recent, and has all of its tables."""
