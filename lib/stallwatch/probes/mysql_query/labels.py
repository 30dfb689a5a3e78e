"""What check_mysql_query gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("p95", "s", "time within which 95 % of the runs were answered"),
    Label("p50", "s", "time within which half of the runs were answered"),
    Label("max", "s", "time of the slowest run"),
    Label("connection", "s", "time to connect and log in, TLS included"),
    Label("rows", "", "rows of the answer, the fewest of all runs"),
)
