"""A password in a URL that the user gave is nowhere repeated, whichever option of whichever plugin has it."""

import importlib
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from stallwatch.declared import every

PASSWORD = "hunter/:2"  # not one that our own words cannot hold
URLS = (f"mysql://mon:{PASSWORD}@db1:3306/x", f"service:jmx:rmi:///jndi/rmi://mon:{PASSWORD}@db1:1/jmxrmi")
PLACES = ("hostname", "url", "source", "reference", "management", "rmi_host")
REQUIRED = {"ndb_log": ("--log", "/nothing"), "mysql_backup": ("-d", "/nothing")}
DISCOVER = Path(__file__).parents[2] / "contrib/stallwatch-discover"


def unknown(*_, **__):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("name", every())
def test_each_option(name, tmp_path, monkeypatch):
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # a directory may be made
    monkeypatch.setattr(socket, "getaddrinfo", unknown)  # nobody is waited for
    options = importlib.import_module(f"stallwatch.probes.{name}.options")
    for option in options.check.options:
        if option.nargs == 0:
            continue
        flag = option.option_strings[-1] if option.option_strings else ""
        given = (*URLS, f"mon:{PASSWORD}@db1:3306", f"mon:{PASSWORD}@db1") if option.dest in PLACES else URLS
        for value in given:
            for style in ("-vvv", "--output=json"):
                argv = ["-t", "1min", *REQUIRED.get(name, ()), style, f"{flag}={value}" if flag else value]
                _, text = options.check.run(options.findings, argv)
                assert "hunter" not in text, (argv, text)


@pytest.mark.parametrize("words", [("mysql", "-H"), ("mysql", "--source"), ("jmx", "-U"), ("jmx", "-P")])
def test_discover(words):
    for url in URLS:
        command = [sys.executable, DISCOVER, *words, url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 3
        assert "hunter" not in done.stdout + done.stderr
