"""Importing with less: what is left out is left out for that import only."""

import sys
from importlib import import_module
from types import SimpleNamespace

import pytest
from stallwatch.startup.imports import without, without_package

ABSENT, PUT_INSTEAD = "quopri", "put_instead"  # that no test and no tool has loaded
BY_IT = "imports_both"


@pytest.fixture
def importing(tmp_path, monkeypatch):
    """A module that imports two others, and none of the three is loaded."""
    for name in (ABSENT, PUT_INSTEAD, BY_IT):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / f"{PUT_INSTEAD}.py").write_text("class Base:\n    is_real = True\n")
    (tmp_path / f"{BY_IT}.py").write_text(
        f"from {PUT_INSTEAD} import Base\n"
        "class Own(Base):\n    pass\n"
        f"try:\n    import {ABSENT} as absent\nexcept ImportError:\n    absent = None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


def test_what_is_imported_goes_without(importing):
    with without(ABSENT, **{PUT_INSTEAD: SimpleNamespace(Base=object)}):
        module = import_module(BY_IT)
    assert module.absent is None
    assert module.Own.__mro__ == (module.Own, object)
    assert not {ABSENT, PUT_INSTEAD} & set(sys.modules)


def test_whoever_imports_them_afterwards_gets_them(importing):
    with without(ABSENT, **{PUT_INSTEAD: SimpleNamespace(Base=object)}):
        import_module(BY_IT)
    assert import_module(ABSENT).encodestring
    assert import_module(PUT_INSTEAD).Base.is_real


def test_what_is_loaded_already_stays(importing):
    loaded = import_module(ABSENT)
    with without(ABSENT):
        assert import_module(BY_IT).absent is loaded
    assert sys.modules[ABSENT] is loaded


def test_an_import_that_fails_leaves_nothing_behind(importing):
    with pytest.raises(ImportError), without(PUT_INSTEAD):
        import_module(BY_IT)
    assert import_module(BY_IT).Own.is_real


def test_a_module_that_is_no_package_has_no_modules_in_it(importing, tmp_path):
    (tmp_path / "stranger.py").touch()
    with pytest.raises(ModuleNotFoundError, match="stranger"), without_package(PUT_INSTEAD):
        import_module(f"{PUT_INSTEAD}.stranger")
