"""Whether a warning range can show beside a critical one."""

import pytest
from stallwatch.thresholds import Range, must_be_in_order
from stallwatch.units import NotUnderstoodError


@pytest.mark.parametrize(
    ("warning", "critical"),
    [
        ("80", "60"),
        ("80", "~:60"),
        ("5:", "1000:"),
        ("5:80", "10:90"),
        ("10:80", "5:60"),
        ("~:80", "60"),
        ("@10:20", "@5:30"),
    ],
)
def test_a_warning_that_the_critical_range_hides_is_refused(warning, critical):
    said = f"^--warning {warning} is beyond --critical {critical}: no value would be a warning$"
    with pytest.raises(NotUnderstoodError, match=said):
        must_be_in_order(Range(warning), Range(critical))


@pytest.mark.parametrize(
    ("warning", "critical"),
    [
        ("60", "80"),
        ("0", "0"),
        ("60", "~:80"),
        ("1000:", "5:"),
        ("80", "10:90"),  # too few is critical, too many a warning first
        ("10:", "5"),
        ("10:80", "5:90"),
        ("~:", "80"),
        ("@10:20", "30"),
        ("@5:30", "@10:20"),
        ("60", "@80:"),
    ],
)
def test_ranges_that_both_show_are_in_order(warning, critical):
    must_be_in_order(Range(warning), Range(critical))


def test_how_far_a_value_is_outside():
    assert Range("10:20").distance(25) == 5
    assert Range("10:20").distance(7) == 3
    assert Range("10:20").distance(15) == Range("@10:20").distance(15) == 0
