"""A tiny controller runtime: cache (list + watch → indexed Reader), work queue, controller, writer, manager, events,
clock."""

from gangline.runtime.cache import Cache, Reader
from gangline.runtime.clock import Clock, ManualClock, SystemClock
from gangline.runtime.controller import Again, Context, Controller, Watch, itself, owner
from gangline.runtime.keys import Key, key_of
from gangline.runtime.manager import BackgroundService, Component, Manager, stop_all

__all__ = [
    "Again",
    "BackgroundService",
    "Cache",
    "Clock",
    "Component",
    "Context",
    "Controller",
    "Key",
    "Manager",
    "ManualClock",
    "Reader",
    "SystemClock",
    "Watch",
    "itself",
    "key_of",
    "owner",
    "stop_all",
]
