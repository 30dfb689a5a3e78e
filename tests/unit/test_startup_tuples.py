"""Named tuples that are made without typing."""

from __future__ import annotations

import copy
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest
import stallwatch
from stallwatch.startup import NamedTuple


class Place(NamedTuple):
    """Where somebody is."""

    host: str
    port: int = 1099
    tls: bool = False

    @property
    def where(self) -> str:
        """As a person writes it."""
        return f"{self.host}:{self.port}"

    @classmethod
    def here(cls) -> Place:
        """This host."""
        return cls("localhost")

    def __repr__(self) -> str:
        return f"at {self.where}"


class Pair(NamedTuple):
    """Two, one of which there may not be."""

    left: int
    right: str = ""


def test_fields_are_what_is_annotated_with_their_defaults():
    assert Place._fields == ("host", "port", "tls")
    assert Place("db1") == ("db1", 1099, False)
    assert Place("db1", 7199) == ("db1", 7199, False)
    assert Place("db1", tls=True) == ("db1", 1099, True)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((), {}),
        ((), {"port": 1}),
        (("db1",), {"host": "db2"}),
        (("db1",), {"colour": "red"}),
        (("db1", 1, True, 2), {}),
    ],
)
def test_what_makes_no_such_tuple_is_refused(values, named):
    with pytest.raises(TypeError, match="host, port, tls"):
        Place(*values, **named)


def test_it_is_a_tuple():
    host, port, _ = Place("db1", 7199)
    assert (host, port) == ("db1", 7199)
    assert isinstance(Place("db1"), tuple)
    assert Place("db1")._replace(port=1)._asdict() == {"host": "db1", "port": 1, "tls": False}
    assert Place._make(["db1", 7199]) == Place("db1", 7199)
    assert copy.deepcopy(Place("db1")) == Place("db1")
    assert type(copy.deepcopy(Place("db1"))) is Place
    with pytest.raises(TypeError, match="host, port, tls"):
        Place("db1")._replace(colour="red")
    with pytest.raises(AttributeError):
        Place("db1").port = 2
    with pytest.raises(AttributeError):
        Place("db1").another = 2


def test_what_else_the_class_says_is_kept():
    assert Place.__doc__ == "Where somebody is."
    assert Place.__module__ == __name__
    assert Place.__qualname__ == "Place"
    assert Place.here().where == "localhost:1099"
    assert repr(Place("db1")) == "at db1:1099"
    assert repr(Pair(1)) == "Pair(left=1, right='')"


def test_it_can_be_matched_by_its_fields():
    match Place("db1", 7199):
        case Place(host, 7199):
            assert host == "db1"
        case _:
            pytest.fail("it does not match")


def test_typing_is_not_imported():
    program = "import sys, stallwatch.startup; print('typing' in sys.modules)"
    asked = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert asked.stdout == "False\n"


def test_every_tuple_of_the_package_is_one_that_typing_would_take():
    for module in pkgutil.walk_packages(stallwatch.__path__, "stallwatch."):
        import_module(module.name)
    kinds = [kind for kind in NamedTuple.__subclasses__() if kind.__module__.startswith("stallwatch.")]
    assert len(kinds) > 100
    for kind in kinds:
        assert kind._fields, kind
        assert kind._fields[len(kind._fields) - len(kind._defaults) :] == tuple(kind._field_defaults), kind
        assert [
            one for one in kind.__subclasses__() if "__annotations__" in vars(one)
        ] == []  # fields of its own
