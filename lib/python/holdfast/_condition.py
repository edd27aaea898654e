"""GraphCondition: the value that a conditional node decides by."""

from __future__ import annotations

from typing import Any

from holdfast import _core

__all__ = ["GraphCondition"]


class GraphCondition:
    """Made by create_condition of a GraphDefinition or a GraphBuilder, for one conditional node of that graph or of a
    body in it. Kernels set it with cudaGraphSetConditional: given as an argument it is its handle, 8 bytes.

    It keeps its graph alive. Equal conditions are the same condition of the same graph.
    """

    __slots__ = ("__weakref__", "_condition")

    _condition: _core.Condition

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("a GraphCondition is made by create_condition of a GraphDefinition or a GraphBuilder")

    @classmethod
    def _wrap(cls, condition: _core.Condition) -> GraphCondition:
        wrapper = cls.__new__(cls)
        wrapper._condition = condition
        return wrapper

    @property
    def handle(self) -> int:
        """CUgraphConditionalHandle."""
        return self._condition.raw

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphCondition):
            return NotImplemented
        return self._condition == other._condition

    def __hash__(self) -> int:
        return hash(self._condition)

    def __repr__(self) -> str:
        return f"<GraphCondition handle={self.handle:#x}>"


def condition_of(value: Any) -> _core.Condition:
    """TypeError for what is no GraphCondition."""
    if not isinstance(value, GraphCondition):
        raise TypeError(f"condition must be a GraphCondition, not {type(value).__name__}")
    return value._condition
