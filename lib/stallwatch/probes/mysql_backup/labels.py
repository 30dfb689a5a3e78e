"""What check_mysql_backup gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("age", "s", "age of the newest finished backup"),
    Label("size", "B", "its size"),
    Label("size_change", "%", "its size against that of the one before"),
    Label("missing_tables", "", "base tables of the server that are not in it, and are older"),
    Label("damaged_files", "", "files of it that are known to be damaged"),
    Label("verified", "%", "how much of it was read to its end, with --verify"),
)
