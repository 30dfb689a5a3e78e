"""What check_mysql_status gives for graphs: the names are those of the server."""

from stallwatch.label import Label

LABELS = (
    Label(
        "{variable}",
        "",
        "a status variable: per second where it is a counter, else as it is, in B where it counts bytes",
    ),
    Label("{variable}_per_{variable}", "", "a ratio of two of them, with --warn or --crit A/B=RANGE"),
    Label("differences", "", "numbers that differ from those of --reference by three times or more"),
)
