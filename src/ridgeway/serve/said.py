"""What a page says: the fields of a request, checked one by one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ridgeway.campaign.outputs import OutputList
from ridgeway.errors import CampaignError
from ridgeway.text import numbers

_LONGEST = 2_000  # characters of a text
_NAME = 80  # characters of a name
_NESTED = 100  # brackets of a body: who nests them deeper means no good
_MOST = 100  # experiments that one request may ask for


class Said:
    """The fields of a request; each is read by what it must be."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    @classmethod
    def of(cls, body: bytes) -> Said:
        """The fields of a body in JSON."""
        try:
            if body.count(b"[") + body.count(b"{") > _NESTED:
                raise ValueError
            fields = json.loads(body)
        except ValueError:
            raise CampaignError("a change must be JSON") from None
        if not isinstance(fields, dict):
            raise CampaignError(f"a change must be an object with fields, got {type(fields).__name__}")
        return cls(fields)

    @property
    def trial(self) -> int:
        """Which trial it is about."""
        return self._whole("trial")

    @property
    def many(self) -> int:
        """How many experiments are asked for."""
        n = self._whole("n")
        if not 1 <= n <= _MOST:
            raise CampaignError(f"n must be between 1 and {_MOST}, got {n}")
        return n

    @property
    def sure(self) -> bool:
        """Whether a surprising value is meant as it is."""
        return self._fields.get("sure") is True

    @property
    def person(self) -> str:
        """Who says so, as they call themselves; may be empty."""
        return " ".join(self.text("person").split())[:_NAME]

    def has(self, name: str) -> bool:
        """Whether a field was given."""
        return name in self._fields

    def number(self, name: str) -> float | None:
        """A number, from text as people write it or as JSON has it; ``None`` where it is empty."""
        value = self._fields.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        return _number(value, name)

    def by_output(self, name: str, outputs: OutputList) -> dict[str, float]:
        """Numbers by output: a field with one for each, or a number where there is one output; empty ones left out."""
        value = self._fields.get(name)
        given = value if isinstance(value, dict) else {} if outputs.only is None and value is None else {None: value}
        found: dict[str, float] = {}
        for output, one in given.items():
            if one is not None and not (isinstance(one, str) and not one.strip()):
                known = outputs.one(output).name
                found[known] = _number(one, name if output is None else known)
        return found

    def text(self, name: str) -> str:
        """Words; empty where there are none."""
        value = self._fields.get(name)
        if value is None:
            return ""
        if not isinstance(value, str) or len(value) > _LONGEST:
            raise CampaignError(f"{name} must be text of at most {_LONGEST:,} characters")
        return "".join(c if c.isprintable() else " " for c in value).strip()

    def words(self, name: str) -> list[str]:
        """Several words; none where the field is not there."""
        value = self._fields.get(name, [])
        if not isinstance(value, list) or len(value) > _MOST or not all(isinstance(word, str) for word in value):
            raise CampaignError(f"{name} must be at most {_MOST} words")
        return value

    def numbers(self, name: str) -> list[int]:
        """Numbers of trials."""
        value = self._fields.get(name)
        if not isinstance(value, list) or not 1 <= len(value) <= _MOST:
            raise CampaignError(f"{name} must be 1 to {_MOST} numbers of trials")
        if any(isinstance(number, bool) or not isinstance(number, int) for number in value):
            raise CampaignError(f"{name} must be whole numbers")
        return value

    def settings(self, name: str) -> dict[str, float] | None:
        """Numbers by name."""
        value = self._fields.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise CampaignError(f"{name} must be numbers by name, got {type(value).__name__}")
        return {str(key): _number(number, str(key)) for key, number in value.items()} or None

    def _whole(self, name: str) -> int:
        value = self._fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise CampaignError(f"{name} must be a whole number, got {value!r:.80}")
        return value


def _number(value: Any, name: str) -> float:
    try:
        if isinstance(value, str):
            return numbers.decimal(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    except (ValueError, OverflowError):
        pass
    comma = " (with a point, such as 1.5)" if isinstance(value, str) and "," in value else ""
    raise CampaignError(f"{name} must be a number{comma}, got {value!r:.80}")
