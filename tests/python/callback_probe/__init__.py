"""What the destructor callback costs."""

from callback_probe._core import has_work, shutdown, time_callbacks, time_pending_calls

__all__ = ["has_work", "shutdown", "time_callbacks", "time_pending_calls"]
