"""What check_jmx gives for graphs: whatever it is asked for."""

from stallwatch.label import Label

LABELS = (
    Label(
        "{quantity}",
        "",
        "what was asked for, in the unit of --unit, or in % with --of; called as --label says, or by the "
        "bean, the attribute and its key",
    ),
)
