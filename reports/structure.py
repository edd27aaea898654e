"""Reads JSON values into dataclasses, and refuses whatever has another form, with a JSON pointer to the place.

A reader is compiled once for a type. What a type hint cannot say stands in a field's metadata: `pattern` for text,
`minimum` for numbers, `least` for how many entries a list has, `words` for the only ones there are.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

Reader = Callable[[Any], Any]

_WORDS = {str: "string", int: "integer", bool: "boolean", types.NoneType: "null"}


class StructureError(Exception):
    """A value has another form than it must have."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.path: list[str] = []  # innermost first

    def inside(self, name: object) -> StructureError:
        """The same, of a value that is the member `name` of another."""
        self.path.append(str(name).replace("~", "~0").replace("/", "~1"))
        return self

    def __str__(self) -> str:
        return f"/{'/'.join(reversed(self.path))}: it {self.what}"


class Structures:
    """Readers for types. With `defaults`, a member whose field has a default may be left out, and members are written
    with dashes; without, each member has to be there. `overrides` has readers of the caller's own.
    """

    def __init__(self, defaults: bool = False, overrides: Mapping[Any, Reader] | None = None) -> None:
        self._defaults = defaults
        self._readers: dict[Any, Reader] = dict(overrides or {})

    def reader(self, kind: Any) -> Reader:
        """A function that makes a value of the type `kind`, or raises StructureError."""
        if kind not in self._readers:
            self._readers[kind] = self._compile(kind)
        return self._readers[kind]

    def structure(self, kind: Any) -> Reader:
        """The reader of a dataclass, whatever the overrides say."""
        hints = typing.get_type_hints(kind)
        fields = dataclasses.fields(kind)
        if not self._defaults:
            return _closed(kind, [(field.name, self._field(field, hints)) for field in fields])
        members = {field.name.replace("_", "-"): (field, self._field(field, hints)) for field in fields}
        return _open(kind, members)

    def _field(self, field: dataclasses.Field[Any], hints: Mapping[str, Any]) -> Reader:
        reader = self.reader(hints[field.name])
        return _bounded(reader, field.metadata) if _BOUNDS & field.metadata.keys() else reader

    def _compile(self, kind: Any) -> Reader:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if kind is Any:
            return lambda value: tuple(value) if isinstance(value, list) else value
        if origin in (types.UnionType, typing.Union):
            return self._alternative(arguments)
        if origin is tuple:
            return _list(self.reader(arguments[0]))
        if origin is dict:
            return _dictionary(self.reader(arguments[1]))
        if dataclasses.is_dataclass(kind):
            return self.structure(kind)
        return _number if kind is float else _scalar(kind)

    def _alternative(self, kinds: tuple[Any, ...]) -> Reader:
        plain = {kind for kind in kinds if not dataclasses.is_dataclass(kind)}
        plain |= {int} if float in plain else set()
        structures = [self.reader(kind) for kind in kinds if dataclasses.is_dataclass(kind)]

        def read(value: Any) -> Any:
            if type(value) in plain:
                return value
            if len(structures) != 1:
                raise StructureError(f"has a value of a wrong type: {value!r:.40}")
            return structures[0](value)

        return read


def _scalar(kind: Any) -> Reader:
    what = f"is no {_WORDS[kind]}"

    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise StructureError(what)
        return value

    return read


def _number(value: Any) -> Any:
    if type(value) is not float and type(value) is not int:
        raise StructureError("is no number")
    return value


def _list(entry: Reader) -> Reader:
    def read(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise StructureError("is no array")
        result: list[Any] = []
        try:
            for one in value:
                result.append(entry(one))  # a comprehension would not leave behind how far it came
        except StructureError as problem:
            raise problem.inside(len(result)) from None
        return tuple(result)

    return read


def _dictionary(entry: Reader) -> Reader:
    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise StructureError("is no object")
        result = {}
        for name, one in value.items():
            try:
                result[name] = entry(one)
            except StructureError as problem:
                raise problem.inside(name) from None
        return result

    return read


def _closed(kind: Any, fields: list[tuple[str, Reader]]) -> Reader:
    """Of a dataclass all of whose members have to be there."""
    names = {name for name, _ in fields}

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise StructureError("is no object")
        if value.keys() != names:
            raise _other_members(value, names)
        arguments: list[Any] = []
        name = ""
        try:
            for name, field in fields:
                arguments.append(field(value[name]))
        except StructureError as problem:
            raise problem.inside(name) from None
        return kind(*arguments)

    return read


def _other_members(value: Mapping[str, Any], names: set[str]) -> StructureError:
    for name in value:
        if name not in names:
            return StructureError(f"has the unknown member {name!r}")
    return StructureError(f"lacks the member {min(names - value.keys())!r}")


def _open(kind: Any, members: Mapping[str, tuple[dataclasses.Field[Any], Reader]]) -> Reader:
    """Of a dataclass whose members may be left out where they have a default."""

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise StructureError("is no object")
        given = {}
        for name, one in value.items():
            if name not in members:
                raise StructureError(f"has the unknown member {name!r}; there are {', '.join(members) or 'none'}")
            field, member = members[name]
            try:
                given[field.name] = member(one)
            except StructureError as problem:
                raise problem.inside(name) from None
        for name, (field, _) in members.items():
            if field.name not in given and is_required(field):
                raise StructureError(f"lacks the member {name!r}")
        return kind(**given)

    return read


def is_required(field: dataclasses.Field[Any]) -> bool:
    """Whether a field has no default."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


# What the metadata of a field can ask of its value.
_BOUNDS = {"pattern", "words", "minimum", "maximum", "least"}


def _bounded(reader: Reader, bounds: Mapping[str, Any]) -> Reader:
    """The reader, for a field whose metadata says more."""
    checked = within(bounds)
    return lambda value: checked(reader(value))


def within(bounds: Mapping[str, Any]) -> Reader:
    """A function that returns its argument, or raises StructureError if that is not as `bounds` ask."""
    pattern = re.compile(bounds["pattern"]) if "pattern" in bounds else None
    words = frozenset(bounds["words"]) if "words" in bounds else None
    minimum, maximum, least = bounds.get("minimum"), bounds.get("maximum"), bounds.get("least", 0)

    def checked(value: Any) -> Any:
        if value is None:
            return None
        if pattern and not pattern.fullmatch(value):
            raise StructureError(f"is {value!r:.40} and must look like {bounds['form']}")
        if words is not None and not (words.issuperset(value) if isinstance(value, tuple) else value in words):
            raise StructureError(f"is none of {', '.join(filter(None, bounds['words']))}")
        if minimum is not None and value < minimum:
            raise StructureError(f"is {value} and must be at least {minimum}")
        if maximum is not None and value > maximum:
            raise StructureError(f"is {value} and must be at most {maximum:g}")
        if least and len(value) < least:
            raise StructureError("is empty")
        return value

    return checked
