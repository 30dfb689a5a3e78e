"""What check_bonding gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("{bond}_links_down", "", "links of the bond that are down"),
    Label("{bond}_links", "", "links that the bond has"),
    Label("{bond}_link_failures", "", "failures of the bond's links within --hold; not in the first run"),
)
