"""Talking to an API server: get list watch create patch apply delete bind evict, over HTTP or in process."""

from gangline.client.client import Client, Listing
from gangline.client.lanes import Lanes
from gangline.client.watch_events import WatchEvent
from gangline.client.wire import InProcess, Request, Response, Transport, User

__all__ = ["Client", "InProcess", "Lanes", "Listing", "Request", "Response", "Transport", "User", "WatchEvent"]
