"""LaunchConfig: in how many threads a kernel runs."""

from __future__ import annotations

from typing import Any

from holdfast import _core
from holdfast._foreign import is_a

__all__ = ["LaunchConfig", "config_of", "configuration_of"]


class LaunchConfig:
    """How a kernel is launched. Sizes are an int or a tuple of up to three; what is missing is 1.

    grid: blocks, or with `cluster` clusters.
    cluster: blocks in a cluster; None for no clusters.
    block: threads in a block.
    shmem_size: dynamic shared memory of a block, in bytes.
    is_cooperative: all blocks run at the same time, and may wait for each other.
    programmatic_stream_serialization: known for programs written for cuda.core; True is refused where the kernel is
        launched (NotImplementedError).

    ValueError for sizes that are no positive integers. Equal by value; not to be changed once made.
    """

    __slots__ = ("block", "cluster", "grid", "is_cooperative", "programmatic_stream_serialization", "shmem_size")

    grid: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    block: tuple[int, int, int]
    shmem_size: int
    is_cooperative: bool
    programmatic_stream_serialization: bool

    def __init__(
        self,
        grid: int | tuple[int, ...] | None = None,
        cluster: int | tuple[int, ...] | None = None,
        block: int | tuple[int, ...] | None = None,
        shmem_size: int | None = None,
        is_cooperative: bool = False,
        programmatic_stream_serialization: bool = False,
    ) -> None:
        self.grid = _three(grid, "grid")
        self.cluster = None if cluster is None else _three(cluster, "cluster")
        self.block = _three(block, "block")
        self.shmem_size = 0 if shmem_size is None else shmem_size
        if not isinstance(self.shmem_size, int) or self.shmem_size < 0:
            raise ValueError(f"shmem_size must be a number of bytes, not {shmem_size!r}")
        self.is_cooperative = bool(is_cooperative)
        self.programmatic_stream_serialization = bool(programmatic_stream_serialization)

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LaunchConfig):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        said = f"grid={self.grid}, cluster={self.cluster}, block={self.block}, shmem_size={self.shmem_size}"
        return f"LaunchConfig({said}, is_cooperative={self.is_cooperative})"


def configuration_of(config: Any) -> _core.Configuration:
    """As the C++ library takes it, of a LaunchConfig, or one of cuda.core. TypeError for anything else,
    NotImplementedError for a programmatic launch, OverflowError for sizes beyond 32 bits."""
    if not isinstance(config, LaunchConfig) and not is_a(config, "cuda.core", "LaunchConfig"):
        raise TypeError(f"config must be a LaunchConfig, not {type(config).__name__}")
    if config.programmatic_stream_serialization:
        raise NotImplementedError("programmatic stream serialization is not supported")
    cluster = config.cluster
    # CUDA counts the grid in blocks, always.
    grid = config.grid if cluster is None else tuple(a * b for a, b in zip(config.grid, cluster, strict=True))
    for number in (*grid, *config.block, config.shmem_size):
        if not 0 <= number < 1 << 32:
            raise OverflowError(f"a launch has sizes below 2**32, not {number}")
    return _core.Configuration(grid, config.block, config.shmem_size, cluster or (0, 0, 0), bool(config.is_cooperative))


def config_of(configuration: _core.Configuration) -> LaunchConfig:
    """The LaunchConfig that means the same."""
    cluster = tuple(configuration.cluster)
    has_clusters = 0 not in cluster
    grid = tuple(configuration.grid)
    return LaunchConfig(
        grid=tuple(a // b for a, b in zip(grid, cluster, strict=True)) if has_clusters else grid,
        cluster=cluster if has_clusters else None,
        block=tuple(configuration.block),
        shmem_size=configuration.shared_memory_bytes,
        is_cooperative=configuration.cooperative,
    )


def _three(value: Any, name: str) -> tuple[int, int, int]:
    sizes = (value,) if isinstance(value, int) else value
    if not isinstance(sizes, tuple) or not 1 <= len(sizes) <= 3 or not all(isinstance(size, int) for size in sizes):
        raise ValueError(f"{name} must be an integer or a tuple of up to three, not {value!r}")
    if min(sizes) < 1:
        raise ValueError(f"{name} must not be less than 1 anywhere: {value!r}")
    x, y, z = sizes + (1,) * (3 - len(sizes))
    return x, y, z
