import math

import nagiosplugin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.thresholds import Range
from stallwatch.units import (
    NotUnderstoodError,
    count,
    duration,
    in_range,
    integer,
    is_number,
    number,
    percent,
    plain,
    say_count,
    say_duration,
    say_rate,
    say_roughly,
    say_short,
    say_size,
    size,
)

bounds = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "unit", "value", "alerts"),
    [
        ("10", "", 10, False),
        ("10", "", 10.1, True),
        ("10", "", -0.1, True),
        ("10:", "", 9.9, True),
        ("10:", "", 1e12, False),
        ("~:10", "", -1e12, False),
        ("~:10", "", 11, True),
        (":10", "", -1, True),
        ("10:20", "", 10, False),
        ("10:20", "", 21, True),
        ("@10:20", "", 20, True),
        ("@10:20", "", 21, False),
        ("@9:", "", 9, True),
        ("@9:", "", 8.9, False),
        ("~:", "", -5, False),
        ("-3:3", "", -3, False),
        ("1e3", "", 1000, False),
        (".5", "", 0.6, True),
        ("512M", "B", 512 * 1024 * 1024, False),
        ("512M", "B", 512 * 1024 * 1024 + 1, True),
        ("500ms:2h", "s", 7200, False),
        ("500ms:2h", "s", 0.4, True),
        ("90%:", "%", 89, True),
    ],
)
def test_a_range_alerts_outside_of_its_bounds_and_with_an_at_inside(text, unit, value, alerts):
    assert Range(text, unit).alerts(value) is alerts


@pytest.mark.parametrize(
    ("text", "unit", "sentence"),
    [
        ("-5", "", 'range "-5" means 0 to -5, which is empty: write "~:-5" or "-5:"'),
        ("@-5", "", 'range "@-5" means 0 to -5, which is empty: write "@~:-5" or "@-5:"'),
        ("5:1", "", 'range "5:1" starts after it ends: write the smaller number first'),
        ("10:20:30", "", 'range "10:20:30" has more than one ":": write start:end'),
        (" 10", "", 'range " 10" has a blank in it: leave it out'),
        ("", "", 'range "" has no bounds: write "~:" to allow everything'),
        ("@", "", 'range "@" has no bounds: write "~:" to allow everything'),
        (":", "", 'range ":" has no bounds: write "~:" to allow everything'),
        ("nan", "", 'range "nan": "nan" is not a plain number'),
        ("inf", "", 'range "inf": "inf" is not a plain number'),
        ("1e999", "", 'range "1e999": "1e999" is too large a number'),
        ("5:~", "", 'range "5:~": "~" is not a plain number'),
        ("0x10", "", 'range "0x10": "0x10" is not a plain number'),
        ("1_000", "", 'range "1_000": "1_000" is not a plain number'),
        ("٣", "", 'range "٣": "٣" is not a plain number'),
        ("512M", "s", 'range "512M": "512M" is not a time in seconds such as 90, 500ms, 5m, 2h or 1d'),
        ("5m", "B", 'range "5m": "5m" is not a size in bytes such as 4096, 512M or 1.5GiB'),
        ("5m", "", 'range "5m": "5m" is not a plain number'),
        ("2h", "%", 'range "2h": "2h" is not a percentage such as 90 or 90%'),
    ],
)
def test_a_range_that_makes_no_sense_is_refused_with_a_sentence(text, unit, sentence):
    with pytest.raises(NotUnderstoodError) as error:
        Range(text, unit)
    assert str(error.value) == sentence


def test_nan_is_neither_inside_nor_outside_a_range():
    with pytest.raises(ValueError, match="NaN is neither inside nor outside"):
        Range("10").alerts(math.nan)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("10", 10),
        ("0:10", 10),
        ("@9:", 9),
        ("@0:", 0),
        ("10:", None),
        ("~:10", None),
        ("5:10", None),
        ("@5:10", None),
        ("@~:10", None),
        ("~:", None),
        ("@~:", None),
        ("0:", None),
    ],
)
def test_only_an_upper_limit_is_a_plain_number_for_the_perfdata(text, limit):
    assert Range(text).plain_limit == limit


@pytest.mark.parametrize(
    ("text", "value", "slope", "seconds"),
    [
        ("600", 300.0, 0.5, 600.0),
        ("600", 600.0, 0.5, None),  # it is reached
        ("600", 300.0, 0.0, None),
        ("600", 300.0, -0.5, None),
        ("600", 300.0, 1e-307, None),
        ("~:", 300.0, 0.5, None),
        ("@10:20", 5.0, 0.5, None),
    ],
)
def test_a_range_is_reached_by_what_grows(text, value, slope, seconds):
    assert Range(text).reached_in(value, slope) == seconds


@pytest.mark.parametrize(
    ("text", "unit", "written"),
    [
        ("10", "", "10"),
        ("0:10", "", "10"),
        ("10:", "", "10:"),
        ("0:", "", "0:"),
        ("~:", "", "~:"),
        ("@~:-5", "", "@~:-5"),
        ("@1m:2m", "s", "@60:120"),
        ("1.5K", "B", "1536"),
    ],
)
def test_a_range_is_written_in_base_units(text, unit, written):
    assert str(Range(text, unit)) == written


@given(bounds, bounds, st.booleans())
def test_a_range_reads_back_as_the_same_range(one, other, inside):
    text = f"{'@' * inside}{min(one, other)!r}:{max(one, other)!r}"
    assert Range(str(Range(text))) == Range(text)


@given(st.integers(-9, 9), st.integers(-9, 9), st.booleans(), st.integers(-12, 12))
def test_a_range_means_what_it_means_to_nagiosplugin(one, other, inside, value):
    text = f"{'@' * inside}{min(one, other)}:{max(one, other)}"
    assert Range(text).alerts(value) is not nagiosplugin.Range(text).match(value)


def test_ranges_that_mean_the_same_are_equal():
    assert Range("0:90", "s") == Range("1.5m", "s")


def test_option_values_are_read_in_base_units():
    assert number("-1.5e3") == -1500
    assert size("256MB") == 268435456
    assert duration("1h") == 3600
    assert percent("90%") == 90


def test_a_size_and_a_duration_are_never_negative():
    with pytest.raises(NotUnderstoodError, match='"-1K" is less than nothing'):
        size("-1K")
    with pytest.raises(NotUnderstoodError, match='"-1h" is less than nothing'):
        duration("-1h")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (1e-7, "0.0000001"),
        (-1e-12, "0"),
        (1e22, "10000000000000000000000"),
        (18446744073709551615, "18446744073709551615"),
        (100.0, "100"),
        (-2.5, "-2.5"),
    ],
)
def test_a_number_in_the_perfdata_is_a_plain_decimal(value, text):
    assert plain(value) == text


@pytest.mark.parametrize("digits", [309, 400, 5000])
def test_a_whole_number_that_no_float_holds_is_infinite(digits):
    assert integer("9" * digits) == in_range(10**digits) == math.inf
    assert integer("-" + "9" * digits) == in_range(-(10**digits)) == -math.inf


def test_a_whole_number_is_exact():
    assert integer("18446744073709551617") == in_range(2**64 + 1) == 2**64 + 1
    assert isinstance(integer("9" * 299), int)
    with pytest.raises(ValueError, match="invalid literal"):
        integer("9 V")


@pytest.mark.parametrize("value", [True, False, math.nan, math.inf, -math.inf, None, "5", 10**400])
def test_what_is_no_finite_number_is_not_written(value):
    assert not is_number(value)
    with pytest.raises(ValueError, match="is not a finite number"):
        plain(value)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (1e-12, "0 s"),
        (3.066e-5, "30.66 us"),
        (2.7192e-4, "272 us"),
        (0.9996e-3, "1 ms"),
        (0.04, "40 ms"),
        (0.9996, "999.6 ms"),
        (0.99996, "1 s"),
        (2.907, "2.9 s"),
        (59.97, "1 min"),
        (185, "3 min 5 s"),
        (3599.7, "1 h"),
        (7800, "2 h 10 min"),
        (86399, "1 d"),
        (5 * 86400 + 3 * 3600 + 59, "5 d 3 h"),
        (-90, "-1 min 30 s"),
        (math.inf, "inf s"),
    ],
)
def test_a_duration_is_said_in_at_most_two_units(seconds, said):
    assert say_duration(seconds) == said


@pytest.mark.parametrize(
    ("octets", "said"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (512 * 1024 * 1024, "512 MiB"),
        (1024 * 1024 - 1, "1 MiB"),
        (2**60, "1024 PiB"),
        (-2048, "-2 KiB"),
        (math.nan, "nan B"),
    ],
)
def test_a_size_is_said_in_binary_units(octets, said):
    assert say_size(octets) == said


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("007", 7), ("999999999", 999999999)])
def test_a_count_is_a_whole_number(text, number):
    assert count(text) == number


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "1e3", "1234567890", "\u0661", " 1", "x"])
def test_what_is_no_count_is_refused(text):
    with pytest.raises(NotUnderstoodError, match="is not a whole number from 1 to"):
        count(text)


@pytest.mark.parametrize(
    ("number", "counted", "per_second"),
    [
        (0.0, "0", "0/s"),
        (0.0512, "0", "0.051/s"),
        (3.0, "3", "3/s"),
        (12.34, "12", "12/s"),
        (99.9, "100", "100/s"),
        (941.0, "940", "940/s"),
        (33_333.0, "33 000", "33 000/s"),
        (2_200_000.0, "2.2 million", "2.2 million/s"),
        (150e6, "150 million", "150 million/s"),
        (12_345e6, "12 300 million", "12 300 million/s"),
    ],
)
def test_counts_and_rates_in_words(number, counted, per_second):
    assert (say_count(number), say_rate(number)) == (counted, per_second)


@pytest.mark.parametrize(
    ("number", "said"),
    [(0.0, "0"), (0.0512, "0.051"), (9.54, "9.5"), (9.96, "10"), (12.6, "13"), (1234.0, "1234")],
)
def test_a_number_in_two_digits_or_all_before_the_point(number, said):
    assert say_short(number) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (26.83, "26.8 s"),
        (537, "8 min 57 s"),
        (1037, "17 min"),
        (5430, "1 h 30 min"),
        (41_500, "12 h"),
        (900_000, "10 d"),
    ],
)
def test_a_rough_time_has_three_digits(seconds, said):
    assert say_roughly(seconds) == said
