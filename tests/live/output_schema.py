"""The documented schema of --output json: as it is published, and with no other fields than today's."""

import json
from copy import deepcopy
from pathlib import Path

from jsonschema import Draft202012Validator

PUBLISHED = json.loads((Path(__file__).parents[2] / "contrib" / "docs" / "output.schema.json").read_text())


def _closed(schema):
    closed = deepcopy(schema)
    for one in (closed, closed["$defs"]["finding"]):
        one["unevaluatedProperties"] = False
    return closed


TODAYS = _closed(PUBLISHED)


def validate(told):
    """Raise ValidationError unless it is what the schema describes, and nothing besides."""
    Draft202012Validator(TODAYS).validate(told)
