# stallwatch: `make` without a target lists the targets.

# Debian's own Python: one under a private home could not be run by the user nagios.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
PREFIX ?= /usr/local
PLUGINDIR ?= /usr/lib/nagios/plugins
DESTDIR ?=
EXTRAS ?=
# Not every shell puts the home there: dash and zsh do not.
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
override PLUGINDIR := $(patsubst ~/%,$(HOME)/%,$(PLUGINDIR))
override DESTDIR := $(patsubst ~/%,$(HOME)/%,$(DESTDIR))

VENV := .venv
HOME_OF_IT := $(PREFIX)/lib/stallwatch
PLUGINS := $(notdir $(wildcard plugins/check_*))
TOOLS := $(notdir $(wildcard contrib/stallwatch-*))
PROGRAMS := $(PLUGINS) $(TOOLS) stallwatchd

help:
	@echo "make demo      run the plugins on recorded logs and on real servers, which it starts; takes minutes; WHAT=replication: that part"
	@echo "make unit      run the tests that need no server"
	@echo "make test      run the tests on real servers; GROUP=replication or GROUP=\"host load\": those groups only"
	@echo "make test-all  run all tests, also all troubles, long tests and benches; GROUP= as above"
	@echo "make durations measure the tests on an idle machine, for tests/durations.json; GROUP= as above"
	@echo "make fuzz      give the parsers random input, 10 minutes in all; TARGETS= SECONDS="
	@echo "make check     run lint and all of make test, and check that generated files are unchanged"
	@echo "make audit     ask PyPI for known vulnerabilities of the pinned packages"
	@echo "make bench     compare the costs of checks with those of other tools, 15 minutes in all; WHAT= ROUNDS="
	@echo "make diagnosis make faults on real servers and judge what the checks say, 40 minutes; WHAT= QUICK=1"
	@echo "make pictures  make the pictures in the documentation anew: as root, 15 minutes"
	@echo "make generate  write all generated files"
	@echo "make record    write the output of the plugins on recorded logs and servers as the expected output"
	@echo "make install   PREFIX=$(PREFIX) PLUGINDIR=$(PLUGINDIR) DESTDIR=$(DESTDIR) EXTRAS=$(EXTRAS)"
	@echo "               install the plugins; manual pages, completions and definitions go to PREFIX/share"
	@echo "make uninstall remove what make install wrote to the same places"
	@echo "make deb       build a Debian package for this release of Debian, in dist/"
	@echo "make wheel     build the wheel for pip, in dist/; make sdist: the source"
	@echo "make clean     remove everything that make wrote in this folder"

# A virtual environment with the package as it stands here, and with the tools.
$(VENV)/ready: setup.py pyproject.toml
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || contrib/debian-install python3-venv
	@echo "getting the Python packages of the tests from PyPI into $(VENV): 320 MB"
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/pip install --quiet --editable '.[test]'
	@touch $@

# All parts, or WHAT="replication jvm". What is downloaded is announced before anything is, the environment too.
demo: announced $(VENV)/ready
	@$(VENV)/bin/python contrib/demo --announce not $(WHAT)

announced:
	@$(PYTHON) contrib/demo --announce only $(WHAT)

# Tests that compute get a worker for each processor, and one that waits; those of real servers mostly wait, so they
# get more, of which each may need 3 GB of memory.
PROCESSORS := $(shell nproc)
WORKERS ?= $(shell expr 3 '*' $(PROCESSORS) '&' $(PROCESSORS) '<=' 4 '|' 12)
# In CI, on a machine that others keep busy, what fails is run once more; the end of the output shows both.
PYTEST := $(VENV)/bin/python -m pytest -q --durations=20 $(if $(CI),--reruns 1)
# GROUP= without a name is refused by pytest, which lists the groups.
CHOSEN = $(if $(filter undefined,$(origin GROUP)),,$(or $(GROUP:%=--group %),--group ''))
# Modules are compiled once, not by every worker and every run of a plugin.
export PYTHONDONTWRITEBYTECODE :=

unit: $(VENV)/ready
	$(PYTEST) -n $(shell expr 1 + $(PROCESSORS)) --group unit

test: $(VENV)/ready
	$(PYTEST) -n $(WORKERS) $(CHOSEN)

# The result is kept in tests/figures.json, for contrib/docs/reliability.md. How late plugins end is measured: so no
# more workers than processors.
test-all: $(VENV)/ready
	$(PYTEST) -n $(PROCESSORS) --all-cells $(CHOSEN)
	$(VENV)/bin/python contrib/generate

durations: $(VENV)/ready
	$(PYTEST) -n $(WORKERS) --write-durations $(CHOSEN)

# Other inputs than make test has, led by coverage: all targets, or TARGETS="range host"; SECONDS for each of them.
fuzz: $(VENV)/ready
	$(VENV)/bin/pip install --quiet atheris
	$(VENV)/bin/python tests/fuzz/coverage_guided.py $(SECONDS:%=--seconds %) --keep build/fuzz $(TARGETS)

lint: $(VENV)/ready
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

check: lint test
	$(VENV)/bin/python contrib/generate --check

generate: $(VENV)/ready
	$(VENV)/bin/python contrib/generate

# What the plugins say about recorded logs becomes what the tests expect: read the difference.
record: $(VENV)/ready
	STALLWATCH_RECORD=1 $(VENV)/bin/python -m pytest -q tests/recorded tests/unit/test_documented_screens.py

# Other parts than the usual: WHAT="replication capacity growth before"; ROUNDS=5 for a quick look.
bench: $(VENV)/ready
	$(VENV)/bin/python tests/bench/run.py $(WHAT)

# Faults on real servers, and how right the checks are about them: all parts, or WHAT="replication"; QUICK=1 for one
# strength of each. The result is kept in tests/diagnosis/results, for contrib/docs/accuracy.md.
diagnosis: $(VENV)/ready
	$(VENV)/bin/python tests/diagnosis/run.py $(WHAT) $(if $(QUICK),--quick)

# Screenshots of Icinga Web and Nagios, and the panels of the dashboards, of real servers in trouble.
pictures: $(VENV)/ready
	$(VENV)/bin/python tests/pictures/web.py
	$(VENV)/bin/python tests/pictures/panels.py

# A private virtual environment and a link to each plugin. Byte-compiled, because the user nagios may not write
# there; without pip and setuptools, whose .pth file would cost every check. DESTDIR must not be seen in it.
# It is made beside the one that is there: checks go on meanwhile, and also if it fails.
# What is not pinned is not fetched, and the SBOM tells what was. -I: no variable, no home and no working directory
# can put a module before the plugins' own. Not -S: it saves less than a millisecond (CPython 3.11 of Debian 12), and
# each plugin would have to name the folder of packages.
FINAL := $(DESTDIR)$(HOME_OF_IT)
STAGED := $(FINAL).new
COMMA := ,
PINS := contrib/requirements.txt $(patsubst %,contrib/requirements-%.txt,$(subst $(COMMA), ,$(EXTRAS)))
# Folders that the installation makes, besides its own.
FOLDERS := $(dir $(HOME_OF_IT)) $(PREFIX)/bin $(PLUGINDIR) \
    $(addprefix $(PREFIX)/share/,stallwatch doc/stallwatch man/man1 bash-completion/completions zsh/site-functions)
places: export PREFIX := $(PREFIX)
places: export PLUGINDIR := $(PLUGINDIR)
places: export DESTDIR := $(DESTDIR)
places: export EXTRAS := $(EXTRAS)
places: export FOLDERS := $(FOLDERS)
places:
	@contrib/install-places $(filter install uninstall,$(MAKECMDGOALS))

install: places
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || contrib/debian-install python3-venv
	@echo "installing into $(HOME_OF_IT), with Python packages from PyPI: 2 MB$(EXTRAS:%=, and those of %)"
	@contrib/new-folders "$(DESTDIR)" $(SHARE)/stallwatch/folders $(STAGED).folders $(FOLDERS)
	@umask 022 && $(PYTHON) -m venv --clear $(STAGED)
	@umask 022 && $(STAGED)/bin/pip install --quiet --no-compile --require-hashes $(PINS:%=-r %) \
	    --report $(STAGED)/pip.json
	@umask 022 && $(STAGED)/bin/pip install --quiet --no-compile --no-build-isolation --no-deps --no-index .
	@umask 022 && $(STAGED)/bin/python3 -I contrib/sbom.py $(STAGED)/pip.json >$(STAGED)/sbom.cdx.json
	@$(STAGED)/bin/pip uninstall --quiet --yes setuptools pip 2>/dev/null
	@rm -rf $(STAGED)/bin/[Aa]ctivate* $(STAGED)/bin/pip* $(STAGED)/include $(STAGED)/pip.json
	@rm -f $(STAGED)/lib/python3.*/site-packages/stallwatch-*/direct_url.json
	@umask 022 && $(STAGED)/bin/python3 -I -m compileall -q -f -s $(STAGED) -p $(HOME_OF_IT) $(STAGED)/lib
	@sed -i '/^command = /d' $(STAGED)/pyvenv.cfg
	@sed -i '1s|^#!.*|#!$(HOME_OF_IT)/bin/python3 -I|' $(addprefix $(STAGED)/bin/,$(PROGRAMS))
	@umask 022 && mkdir $(STAGED)/warm && sed 's|/usr/lib/stallwatch|$(HOME_OF_IT)|' contrib/warm-stub >$(STAGED)/warm/stub
	@chmod 755 $(STAGED)/warm/stub && for plugin in $(PLUGINS); do ln -s stub $(STAGED)/warm/$$plugin; done
	@$(PYTHON) contrib/exchange.py $(STAGED) $(FINAL)
	@install -d $(DESTDIR)$(PLUGINDIR)
	@for plugin in $(PLUGINS); do contrib/link-plugin $(HOME_OF_IT)/bin/$$plugin $(DESTDIR)$(PLUGINDIR); done
	@install -d $(DESTDIR)$(PREFIX)/bin
	@for tool in $(TOOLS); do ln -sfn ../lib/stallwatch/bin/$$tool $(DESTDIR)$(PREFIX)/bin/$$tool; done
	@contrib/install-share $(PREFIX) $(DESTDIR)
	@mv $(STAGED).folders $(SHARE)/stallwatch/folders
	@mv $(FINAL)/sbom.cdx.json $(SHARE)/doc/stallwatch
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then contrib/state-directory nagios; fi
	@echo "installed: programs in $(HOME_OF_IT), plugins in $(PLUGINDIR), other files in $(PREFIX)/share"

# Whether anything is known against what is installed. Strict: what nobody could be asked about is not clean.
audit:
	@rm -rf build/audit && $(PYTHON) -m venv build/audit && build/audit/bin/pip install --quiet pip-audit
	build/audit/bin/pip-audit --strict --require-hashes --disable-pip $(addprefix -r ,$(wildcard contrib/requirements*.txt))

# What is remembered in /var/lib/stallwatch stays: others may use it, too.
SHARE := $(DESTDIR)$(PREFIX)/share
REMEMBERED := $(if $(DESTDIR),,$(wildcard /var/lib/stallwatch $(HOME)/.local/state/stallwatch))
# Links of the Debian package, which make install took over, lead to its plugins again.
uninstall: places
	@for plugin in $(PLUGINS); do contrib/unlink-plugin $(HOME_OF_IT)/bin/$$plugin $(DESTDIR)$(PLUGINDIR) "$(DESTDIR)"; done
	@rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(TOOLS))
	@[ ! -e $(SHARE)/stallwatch/folders ] || mv $(SHARE)/stallwatch/folders $(STAGED).folders
	@rm -rf $(FINAL) $(STAGED) $(SHARE)/stallwatch $(SHARE)/doc/stallwatch $(SHARE)/zsh/site-functions/_stallwatch
	@rm -f $(PROGRAMS:%=$(SHARE)/man/man1/%.1)
	@rm -f $(addprefix $(SHARE)/bash-completion/completions/,$(PROGRAMS) stallwatch.bash)
	@[ ! -e $(STAGED).folders ] || contrib/new-folders --remove "$(DESTDIR)" $(STAGED).folders
	@echo "removed$(if $(REMEMBERED),; what the plugins remember is kept in $(REMEMBERED))"

# Into dist/. The wheel is built from the sdist, so that nothing here can get into it by chance.
deb:
	rm -f dist/stallwatch_*.deb
	contrib/debian/build-deb dist

BUILDER := build/packaging
$(BUILDER)/ready:
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || contrib/debian-install python3-venv
	$(PYTHON) -m venv --clear $(BUILDER) && $(BUILDER)/bin/pip install --quiet build
	@touch $@

sdist: $(BUILDER)/ready
	$(BUILDER)/bin/python -m build --sdist --outdir dist

wheel: $(BUILDER)/ready
	$(BUILDER)/bin/python -m build --outdir dist

clean:
	rm -rf $(VENV) build dist try stallwatch-[0-9]*/ lib/*.egg-info .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help demo announced unit test fuzz test-all durations lint check generate record bench diagnosis pictures audit places install uninstall deb sdist wheel clean
