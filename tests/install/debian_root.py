"""A clean Debian of this machine's own release in a folder, to install packages into."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import software

POWERLESS = "root may not mount in a namespace of its own here: {}: a container needs CAP_SYS_ADMIN for it"


def not_debian():
    """Why no package can be made here; None if it can."""
    if platform.freedesktop_os_release().get("ID") != "debian":
        return "the package is made on Debian, for that release, and this is another system"
    return None


def unavailable():
    """Why there can be no such Debian here, whatever is installed; None if there can."""
    if os.geteuid():
        return "debootstrap and chroot need root: run this test as root"
    if reason := not_debian():
        return reason
    tried = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    return POWERLESS.format(tried.stderr.strip()) if tried.returncode else None


def packed():
    """A Debian with what is essential, made once and kept. Raises software.Missing."""
    suite = platform.freedesktop_os_release()["VERSION_CODENAME"]

    def make(folder):
        debootstrap = software.program("debootstrap", "debootstrap")
        root = f"{folder}/root"
        apart = ("unshare", "--mount")  # what it mounts is gone when it ends, however it does
        software.run(f"a Debian {suite}", *apart, debootstrap, "--variant=minbase", suite, root)
        software.run("its archive", "tar", "-C", root, "-cf", f"{folder}/root.tar", ".")
        shutil.rmtree(root)

    return Path(software.kept(f"debian-{suite}-{platform.machine()}", make)) / "root.tar"


class DebianRoot:
    """That Debian in a folder. A command's mounts and processes are gone when it ends, however it does."""

    def __init__(self, folder):
        self.folder = Path(folder)

    @classmethod
    def unpacked(cls, folder):
        """Make a new one, with the list of packages of today, where no daemon is started."""
        folder.mkdir()
        software.run("a Debian", "tar", "-C", folder, "-xf", packed())
        root = cls(folder)
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
        (folder / "etc/hosts").write_text(f"127.0.0.1 localhost {platform.node()}\n")
        (folder / "etc/dpkg/dpkg.cfg.d/quick").write_text("force-unsafe-io\n")
        policy = folder / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        root.run("apt-get", "update", "-qq")
        return root

    def copy(self, folder):
        """Make another one that is as this is now."""
        software.run("a copy of a Debian", "cp", "-a", self.folder, folder)
        return DebianRoot(folder)

    def remove(self):
        """Make room: it is some 500 MB, and pytest keeps the folders of three runs."""
        shutil.rmtree(self.folder)

    def inside(self, *command):
        """What to run for a command to be run in there, as root."""
        return [
            "unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.folder}/proc",
            "chroot", str(self.folder), *command,
        ]  # fmt: skip

    def run(self, *command, user=None, status=0, **environment):
        """Run a command in there, as root or that user, and give what it says, errors and all."""
        becoming = ["runuser", "-u", user, "--"] if user else []
        done = subprocess.run(
            self.inside(*becoming, *command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, env={**surroundings(), **environment},
        )  # fmt: skip
        assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def install(self, *packages):
        """Install packages by name, or files of this machine."""
        inside = [self._bring(package) if isinstance(package, Path) else package for package in packages]
        return self.run(
            "apt-get", "install", "-y", "-qq", "--no-install-recommends",
            "-o", "Dpkg::Options::=--force-confold", *inside, DEBIAN_FRONTEND="noninteractive",
        )  # fmt: skip

    def _bring(self, package):
        shutil.copy(package, self.folder / "tmp" / package.name)
        return f"/tmp/{package.name}"

    def purge(self, package):
        """Remove a package with all that it has kept."""
        return self.run("apt-get", "purge", "-y", "-qq", package, DEBIAN_FRONTEND="noninteractive")

    def files(self):
        """Every file and folder in there but the package manager's own books, caches and logs."""
        books = ("proc", "dev", "tmp", "var/cache", "var/log", "var/lib/apt", "var/lib/dpkg")
        return {
            inside: path.readlink() if path.is_symlink() else path.is_dir()
            for path in self.folder.rglob("*")
            if not (inside := str(path.relative_to(self.folder))).startswith(books)
        }

    def path(self, inside):
        """Where a file of there is for us."""
        return self.folder / inside.lstrip("/")

    def owner(self, inside):
        """Owner, group and mode, by the names of there."""
        return self.run("stat", "-c", "%U:%G %a", inside).strip()


def surroundings():
    """The environment of what runs in there."""
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **proxies}
