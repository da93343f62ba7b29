"""What reports are made of: objects whose attributes are the fields of the JSON reports."""

from __future__ import annotations

import json
import types
import typing
from functools import lru_cache
from typing import Any, Iterator

__all__ = ["Quantity", "Record"]


class Quantity(float):
    """A number with its provenance. It can be used as any other float.

    Attributes
    ----------
    spread : float
        Half the distance from the first to the third quartile, relative to the median; 0 where nothing was sampled.
    samples : int
        Samples taken; 0 where nothing was sampled.
    provenance : str
        ``measured``, ``counted``, ``modelled`` or ``assumed``.
    """

    spread: float
    samples: int
    provenance: str

    def __new__(cls, value: float, spread: float = 0.0, samples: int = 0, provenance: str = "assumed") -> Quantity:
        self = super().__new__(cls, value)
        self.spread, self.samples, self.provenance = spread, samples, provenance
        return self

    def __getnewargs__(self) -> tuple[float, float, int, str]:  # type: ignore[override]
        return float(self), self.spread, self.samples, self.provenance


_QUANTITY = {"value", "spread", "samples", "provenance"}


class Record:
    """A part of a report. Its attributes are the fields of the report's JSON form, of which :meth:`to_dict` is a copy."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        # Pickle and copy ask before there are any fields.
        fields = self.__dict__.get("_fields", {})
        if name not in fields:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        value = _wrapped(fields[name], _parts(type(self)).get(name))  # type: ignore[arg-type]
        # Lists that are handed out twice are the same list.
        self.__dict__[name] = value
        return value

    def __dir__(self) -> Iterator[str]:
        return iter({*super().__dir__(), *self._fields})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._fields == other._fields  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self._fields.items() if _is_short(value))
        return f"{type(self).__name__}({', '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """The fields as dictionaries, lists, numbers and strings: the JSON form of this part of the report.

        Returns
        -------
        dict
        """
        return json.loads(json.dumps(self._fields))


def _is_short(value: Any) -> bool:
    return value is not None and not isinstance(value, (list, dict)) and len(str(value)) <= 60


def _wrapped(value: Any, part: type[Record] | None) -> Any:
    if isinstance(value, list):
        return [_wrapped(each, part) for each in value]
    if isinstance(value, dict):
        if value.keys() == _QUANTITY:
            return Quantity(**value)
        return value if part is None else part(value)
    return value


@lru_cache(maxsize=None)
def _parts(cls: type[Record]) -> dict[str, type[Record]]:
    """The fields that are records themselves, as the annotations of a class say."""
    hints = typing.get_type_hints(cls)
    found = {name: _record_in(hint) for name, hint in hints.items()}
    return {name: part for name, part in found.items() if part is not None}


def _record_in(hint: Any) -> type[Record] | None:
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias) and issubclass(hint, Record):
        return hint
    return next((part for arg in typing.get_args(hint) if (part := _record_in(arg)) is not None), None)
