"""Objects of responses: the fields of the API as attributes, whatever else a later version sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar


class Model:
    """An object of the API.

    Fields are attributes. Nothing is validated: a field that this version of the client does not know is kept and can be read by its name, an
    unknown value of an enum is a plain text, and a field that an older service does not send raises AttributeError when it is read.
    """

    _nested: ClassVar[Nested] = {}

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)
        self._models: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._models:
            return self._models[name]
        # `from` is a keyword of Python: its attribute is `from_`.
        key = name if name in self._data or not name.endswith("_") else name[:-1]
        if key not in self._data:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}: the service did not send it")
        value = self._data[key]
        nested = self._nested.get(key)
        if nested is None:
            return value
        self._models[name] = nested.wrap(value) if isinstance(nested, Values) else wrap(nested, value)
        return self._models[name]

    def to_json(self) -> dict[str, Any]:
        """Returns the object as the service sent it."""
        return self._data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._data!r})"


class Values:
    """Marks an object whose keys are names and whose values are models."""

    def __init__(self, model: type[Model]) -> None:
        self._model = model

    def wrap(self, value: Any) -> Any:
        return {key: wrap(self._model, item) for key, item in value.items()} if isinstance(value, dict) else value


Nested: TypeAlias = Mapping[str, type[Model] | Values]
"""The models of fields, by their names."""


def wrap(model: type[Model], value: Any) -> Any:
    """Returns an object as its model, a list of objects as a list of models, and everything else as it is."""
    if isinstance(value, dict):
        return model(value)
    if isinstance(value, list):
        return [wrap(model, item) for item in value]
    return value


Item = TypeVar("Item", covariant=True)


class Page(Model, Generic[Item]):
    """A page of a list (specification.md#logs)."""

    items: list[Item]
    """Items of this page"""
    total: int
    """Number of items on all pages, counted up to 10,000 beyond this one"""
    page: int
    """1-based number of this page"""
    size: int
    """Largest number of items of a page"""
    pages: int
    """Number of pages"""
