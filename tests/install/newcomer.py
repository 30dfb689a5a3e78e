"""A stranger with a Debian of its own, and Debian's own Icinga and Nagios in it."""

from debian_engines import DebiansIcinga, DebiansNagios
from debian_root import surroundings
from stranger import Stranger


class Newcomer(Stranger):
    """One in a Debian of its own, with servers that are elsewhere: ssh leads out of it."""

    def __init__(self, root, servers):
        super().__init__(root.folder, servers)
        self.root = root
        self.environment = surroundings() | {"HOME": "/root"}
        self.environment["PATH"] = f"{self.programs}:{self.environment['PATH']}"

    def shell(self, line):
        return super().shell(line) if "ssh " in line else self.root.inside("sh", "-ec", f"cd\n{line}")

    def validate(self, line):
        self.root.run(*line.split())

    def icinga(self):
        """Its Icinga."""
        return DebiansIcinga(self.root)

    def nagios(self):
        """Its Nagios."""
        return DebiansNagios(self.root)
