"""Whom Icinga would wake: a user who is told of every problem of every service, and writes it down."""

import engine_user

OBJECTS = """
object NotificationComponent "notification" {{ }}
object NotificationCommand "write" {{
  command = [ "/bin/sh", "-c", "echo $service.name$ >>{file}" ]
}}
object User "operator" {{ }}
apply Notification "all" to Service {{
  command = "write"
  users = [ "operator" ]
  types = [ Problem ]
  states = [ Warning, Critical, Unknown ]
  assign where true
}}
"""


class Notifications:
    """They are in a file of that folder. ``objects`` is what an Icinga needs to write there."""

    def __init__(self, folder):
        self.file = folder / "told" / "services"
        self.file.parent.mkdir()
        self.file.touch()
        engine_user.give(self.file.parent)
        self.objects = OBJECTS.format(file=self.file)

    def told(self):
        """The names of the services of which it was told."""
        return set(self.file.read_text().split())
