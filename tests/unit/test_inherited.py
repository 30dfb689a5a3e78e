"""Where programs that we run are looked for."""

import os

from stallwatch.sources.inherited import environment, search_path


def test_no_program_is_looked_for_in_the_working_directory_or_where_everybody_writes(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    own = tmp_path / "own"
    own.mkdir(mode=0o755)
    monkeypatch.setenv("PATH", f".::bin:{own}:{shared}:/nowhere:/usr/bin:")
    assert search_path() == f"{own}:/nowhere:/usr/bin"
    assert environment()["PATH"] == f"{own}:/nowhere:/usr/bin"


def test_where_nothing_of_it_can_be_trusted_programs_are_looked_for_where_systems_have_them(monkeypatch):
    for path in ("", ".", "::"):
        monkeypatch.setenv("PATH", path)
        assert search_path() == os.defpath
    monkeypatch.delenv("PATH")
    assert search_path() == os.defpath
