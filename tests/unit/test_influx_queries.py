"""What the queries of the dashboard for InfluxDB find among lines that Icinga has written."""

from influx_queries import Point, found

QUERY = (
    'SELECT mean("value") FROM /^(replication_lag)$/ WHERE "hostname" =~ /^$hostname$/ '
    'AND "metric" =~ /^(lag|.+_lag)$/ AND "metric" !~ /^(apply_lag)$/ AND $timeFilter'
)
LINES = (
    'replication_lag,hostname=db1,service=the\\ lag,metric=lag crit=600,unit="seconds",value=3.5,warn=60 17',
    "replication_lag,hostname=db1,service=the\\ lag,metric=apply_lag value=1 17",
    "replication_lag,hostname=db1,service=the\\ lag,metric=backlog value=2 17",
    "replication_lag,hostname=db1,service=the\\ lag state=0,execution_time=1 17",
    "mysql_stalls,hostname=db1,service=locks,metric=lag value=4 17",
)


def test_a_query_finds_its_own_metrics_of_its_own_commands():
    tags = {"hostname": "db1", "service": "the\\ lag", "metric": "lag"}
    assert [*found(QUERY, LINES)] == [Point("replication_lag", tags, 3.5, ",warn=60 17")]
