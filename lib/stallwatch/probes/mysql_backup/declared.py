"""What check_mysql_backup declares: labels, privileges, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Times
from stallwatch.probes.mysql_backup.queries import BINARY_LOG, TABLES

DECLARED = Declared(
    labels=(
        Label("age"),
        Label("size", "B", "its size"),
        Label("size_change"),
        Label("missing_tables"),
        Label("damaged_files", "", "files of it that are known to be damaged"),
        Label("verified", "%", "how much of it was read to its end, with --verify"),
    ),
    privileges=(TABLES, BINARY_LOG),
    services=(),  # the server does not show where its backups are
    panels=(
        Panel("Backups: age", ("age",)),
        Panel("Backups: size", ("size",)),
        Panel("Backups: what is wrong", ("missing_tables", "damaged_files")),
    ),
    healthy=Healthy("here", (), "backup of 20", arguments=("-d", "{backup}", "-w", "20000d", "-c", "20000d")),
    row="MySQL, MariaDB, InnoDB",
    times=Times(interval=1800, retry=300, attempts=2),
)
