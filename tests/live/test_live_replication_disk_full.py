"""check_replication_lag on a replica whose relay log has no disk space: MariaDB's status hangs, too."""

import pytest
from replication_check import Check
from replication_pair import Pair
from small_tmpfs import small_tmpfs


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for 4 MB."""
    with small_tmpfs(tmp_path / "disk", "4m", 777) as folder:
        yield folder


@pytest.mark.own_server("its relay log is on a small file system")
def test_a_full_disk_of_the_relay_log_is_told(small_disk, tmp_path):
    with Pair(tmp_path / "pair", "mariadb", replica={"relay_log": small_disk / "relay"}) as pair:
        check = Check(tmp_path)
        assert check(pair).status == 0
        with pair.source.session() as sql:
            sql("CREATE TABLE lab.large (text LONGTEXT)")
            for _ in range(6):
                sql("INSERT INTO lab.large VALUES (REPEAT('x', 1000000))")
        said = check.until(2, pair, seconds=60)
        assert "replication waits for disk space on " in said.text
        assert "free space where its relay logs are" in said.text
