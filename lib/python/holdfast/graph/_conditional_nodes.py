"""The classes of conditional nodes.

CUDA does not say what a conditional node decides by, nor how. A wrapper that was made anew for a node whose first one
is gone is a plain ConditionalNode, then, unless the C++ library remembers.
"""

from __future__ import annotations

from typing import Any

from holdfast import _core
from holdfast._condition import GraphCondition
from holdfast.graph import _identity
from holdfast.graph._definition import GraphDefinition
from holdfast.graph._node import GraphNode
from holdfast.typing import GraphConditionalType, GraphNodeType

__all__ = ["ConditionalNode", "IfElseNode", "IfNode", "SwitchNode", "WhileNode"]


@_identity.wraps_nodes_of(GraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL)
class ConditionalNode(GraphNode):
    """Runs one of its bodies, or none."""

    __slots__ = ("_condition",)

    _condition: GraphCondition | None
    _type: GraphConditionalType | None = None

    @classmethod
    def _wrap(cls, node: _core.GraphNode) -> Any:
        wrapper: Any = super()._wrap(node)
        wrapper._condition = None
        return wrapper

    @classmethod
    def _wrap_with(cls, node: _core.GraphNode, condition: GraphCondition) -> Any:
        wrapper = cls._wrap(node)
        wrapper._condition = condition
        return wrapper

    @property
    def condition(self) -> GraphCondition | None:
        """What it decides by; None if that is not known."""
        return self._condition

    @property
    def cond_type(self) -> GraphConditionalType | None:
        """If, while or switch; None if that is not known."""
        return self._type

    @property
    def branches(self) -> tuple[GraphDefinition, ...]:
        """The bodies, in order, to look at and to fill; empty if the node was made by other means."""
        return tuple(map(_identity.wrap_graph, self._parameters()))

    def _read(self) -> list[_core.GraphDefinition]:
        return self._node.bodies()


@_identity.is_conditional_class
class IfNode(ConditionalNode):
    """Runs its body if the condition is not zero."""

    __slots__ = ()
    _type = GraphConditionalType.IF

    @property
    def then(self) -> GraphDefinition:
        """The body."""
        return self.branches[0]


@_identity.is_conditional_class
class IfElseNode(ConditionalNode):
    """Runs one body if the condition is not zero, the other if it is."""

    __slots__ = ()
    _type = GraphConditionalType.IF

    @property
    def then(self) -> GraphDefinition:
        """The body for a condition that is not zero."""
        return self.branches[0]

    @property
    def else_(self) -> GraphDefinition:
        """The body for zero."""
        return self.branches[1]


@_identity.is_conditional_class
class WhileNode(ConditionalNode):
    """Runs its body again and again while the condition is not zero."""

    __slots__ = ()
    _type = GraphConditionalType.WHILE

    @property
    def body(self) -> GraphDefinition:
        """The body."""
        return self.branches[0]


@_identity.is_conditional_class
class SwitchNode(ConditionalNode):
    """Runs the body whose index the condition is, if there is one."""

    __slots__ = ()
    _type = GraphConditionalType.SWITCH
