"""What waits to be sent is bounded over all connections; the slowest goes first."""

from __future__ import annotations

from gangline.cluster.server.wire.send_backlog import SendBacklog


class Reader:
    """A connection that notes that it was hung up on."""

    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


class Hours:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_one_that_has_waited_the_longest_is_hung_up_on() -> None:
    backlog, readers = SendBacklog(25, 0.0, Hours()), [Reader() for _ in range(3)]
    for number, reader in enumerate(readers):
        backlog.enter(reader, 10, str(number).encode())
    assert [reader.aborted for reader in readers] == [True, False, False]
    assert backlog.bytes == 22


def test_who_reads_on_is_behind_those_who_do_not() -> None:
    backlog, readers = SendBacklog(25, 0.0, Hours()), [Reader() for _ in range(3)]
    backlog.enter(readers[0], 10, b"")
    backlog.enter(readers[1], 10, b"")
    backlog.leave(readers[0])
    backlog.enter(readers[0], 10, b"")
    backlog.enter(readers[2], 10, b"")
    assert [reader.aborted for reader in readers] == [False, True, False]


def test_a_text_that_many_wait_for_is_counted_once() -> None:
    text = b"x" * 100
    backlog, readers = SendBacklog(1000, 0.0, Hours()), [Reader() for _ in range(50)]
    for reader in readers:
        backlog.enter(reader, 1, text)
    assert backlog.bytes == 150
    for reader in readers:
        backlog.leave(reader)
        backlog.leave(reader)
    assert backlog.bytes == 0
    assert not any(reader.aborted for reader in readers)


def test_nobody_is_hung_up_on_for_a_moment() -> None:
    hours = Hours()
    backlog, reader = SendBacklog(5, 1.0, hours), Reader()
    backlog.enter(reader, 10, b"")
    hours.now = 0.5
    backlog.shrink()
    assert not reader.aborted
    hours.now = 1.0
    backlog.shrink()
    assert reader.aborted
