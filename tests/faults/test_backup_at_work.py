"""A directory of backups in which some are written, renamed and removed while it is looked at."""

import contextlib
import re
import subprocess
import sys
import time

import backup_maker
import pytest
from remembering import PLUGINS

RUNS = 20
DIFFERENT = 5  # backups at least that are judged
PATIENCE = 600  # seconds for that, on a busy machine


@pytest.fixture
def folder(tmp_path):
    """A directory in which backups are made without end; one at least is finished."""
    folder = tmp_path / "backups"
    folder.mkdir()
    maker = subprocess.Popen([sys.executable, backup_maker.__file__, folder])
    with maker, contextlib.ExitStack() as then:
        then.callback(maker.kill)
        end = time.monotonic() + PATIENCE
        while len(list(folder.iterdir())) < 3:
            assert time.monotonic() < end
            time.sleep(0.01)
        yield folder
        assert maker.poll() is None


def test_only_a_finished_backup_is_taken_for_one(folder, note):
    """Unless a run says that what it has just listed is not there any more."""
    command = [sys.executable, str(PLUGINS / "check_mysql_backup"), "--no-state", "--no-binlog", "-d", folder]
    judged = []
    end = time.monotonic() + PATIENCE
    while len(judged) < RUNS or len(set(judged)) < DIFFERENT:
        assert time.monotonic() < end, judged
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert said.stderr == "", said
        if said.returncode == 3:
            gone = rf"MYSQL_BACKUP UNKNOWN - {folder}/\S+ does not exist - check the path"
            assert re.match(gone, said.stdout), said
            continue
        assert said.returncode == 0, said
        assert f" size={backup_maker.WHOLE}B" in said.stdout, said
        judged.append(re.search(r" in (\w+-\d+), ", said.stdout)[1])
    note("counted", ("looks at backups that are being made and removed", RUNS))
