"""What check_bonding declares: labels, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Times

DECLARED = Declared(
    labels=(
        Label("{bond}_links_down", "", "links of the bond that are down"),
        Label("{bond}_links", "", "links that the bond has"),
        Label("{bond}_link_failures", "", "failures of the bond's links within --hold; not in the first run"),
    ),
    privileges=(),
    services=(),
    panels=(Panel("Bonds", ("{bond}_links_down", "{bond}_link_failures")),),
    healthy=Healthy("here", (), "bond0 active-backup over eth0, 2 of 2 links up"),
    times=Times(attempts=2),  # a link that has failed is reported for ten minutes
)
