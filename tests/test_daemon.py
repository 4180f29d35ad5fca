"""The service's own socket."""

import socket

import pytest

from monitor.daemon import DoorTakenError, bind
from monitor.settings import Door


def test_a_reply_waits_for_no_acknowledgement_of_its_first_part() -> None:
    with bind(Door(port=0)) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_that_is_taken_is_named_with_the_remedy() -> None:
    with bind(Door(port=0)) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(DoorTakenError, match=rf"can't listen at 127.0.0.1 port {port}: .*FIRSTBYTE_PORT"):
            bind(Door(port=port))
