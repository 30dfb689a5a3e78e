"""Where jars of the tests come from, and where what Maven gets for them is kept."""

import java_software
import software


def test_maven_keeps_what_it_gets_in_the_cache_of_the_tests(monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr(java_software, "program", lambda name, *_: name)
    monkeypatch.setattr(java_software, "run", lambda _, *command: given.extend(command))
    monkeypatch.setattr(java_software, "kept", lambda _, make: make(str(tmp_path)))
    java_software.jars.__wrapped__("com.example", "pool", "1.0")
    assert f"-Dmaven.repo.local={software.CACHE}/maven" in given
