"""From equations of a jaxpr to C text. Each of these modules adds the handlers of its primitives to the table."""

from . import control, dma, elementwise, grid, indexing, loops, reductions, scopes, semaphores, shapes, sorting, views

__all__ = ["control", "dma", "elementwise", "grid", "indexing", "loops", "reductions", "scopes", "semaphores", "shapes", "sorting", "views"]
