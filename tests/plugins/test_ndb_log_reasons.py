"""Why a node ended, where the lines before its end know more than the line of its end."""

import pytest

ENDED = "Forced node shutdown completed."
ARBITRATION = f"{ENDED} Caused by error 2305: 'Node lost connection to other nodes'."
NO_PATH = f"{ENDED} Occurred during startphase 0. Caused by error 2805: 'Illegal file system path'."


@pytest.mark.parametrize(
    ("before", "end", "expected"),
    [
        (
            ["Data node configured to have encryption but password not provided"],
            f"{ENDED} Occurred during startphase 0.",
            ["the file system is encrypted, no password was given", "--filesystem-password-from-stdin"],
        ),
        (
            ["Cannot change directory to '/srv/lab/4', error: 2"],
            NO_PATH,
            ["error 2805: DataDir /srv/lab/4 is missing", "create it, or correct DataDir"],
        ),
        (
            ["Cannot change directory to '/srv/lab/4', error: 13"],
            NO_PATH,
            ["error 2805: permission denied on DataDir /srv/lab/4", "give it to the user that runs the node"],
        ),
        (
            ["Cannot change directory to '/srv/lab/4', error: 20"],
            NO_PATH,
            ["cannot enter DataDir /srv/lab/4 (errno 20)"],
        ),
        ([], f"{ENDED} Initiated by signal 11. Caused by error 6000: 'x'.", ["signal 11"]),
        (
            ["Something odd in page 7", "DBLQH (Line: 4040) 0x00000000", "Error handler shutting down"],
            ENDED,
            ['no reason found, the line before is "Something odd in page 7"'],
        ),
        ([], ENDED, ["no reason found"]),
    ],
)
def test_the_lines_before_an_end_explain_it(check, log, before, end, expected):
    for text in before:
        log.say(text, ago=61)
    log.say(end, ago=60, level="ALERT")
    said = check("--log", log)
    assert said.status == 2
    for text in expected:
        assert text in said.text
    assert "does not say why" not in said.output


@pytest.mark.parametrize(
    ("before", "ago", "end"),
    [
        ("Cannot change directory to '/srv/lab/4', error: 2", 61, ARBITRATION),
        ("Cannot change directory to '/srv/lab/4', error: 2", 600, NO_PATH),
    ],
)
def test_what_does_not_lead_to_this_end_does_not_explain_it(check, log, before, ago, end):
    """Another error, or too long ago."""
    log.say(before, ago=ago)
    log.say(end, ago=60, level="ALERT")
    said = check("--log", log)
    assert "DataDir" not in said.text


def test_an_angel_that_gives_up_names_the_failures_once(check, log):
    log.say("Angel detected too many startup failures(3), not restarting again", ago=60, level="ALERT")
    said = check("--log", log)
    assert "gave up after 3 failures" in said.output
    assert "3 times" not in said.output
