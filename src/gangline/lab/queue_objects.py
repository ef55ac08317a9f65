"""Queues of a simulation from Queue objects in YAML, as `kubectl apply` takes them."""

from __future__ import annotations

import msgspec

from gangline.api.kai import Queue
from gangline.errors import BadInput
from gangline.rules.values.documents import DocumentUnreadable, read_documents
from gangline.scheduler.objects.gangs import queue_record
from gangline.scheduler.objects.reading import ObjectUnreadable as UnreadableObject
from gangline.scheduler.records import QueueRecord


def read_queues(source: str, text: str, named: set[str]) -> list[QueueRecord]:
    """Every Queue of the file; queues that jobs name must be among them."""
    try:
        documents = [document for document in read_documents(text) if isinstance(document, dict)]
        queue_records = [
            queue_record(msgspec.convert(document, Queue)) for document in documents if document.get("kind") == "Queue"
        ]
    except (DocumentUnreadable, UnreadableObject, msgspec.ValidationError) as error:
        raise BadInput(f"{source} cannot be read: {error}") from None
    missing = sorted(named - {queue.name for queue in queue_records})
    if missing:
        raise BadInput(f"{source} has no queue {', '.join(missing)}, which jobs of the trace name")
    return queue_records
