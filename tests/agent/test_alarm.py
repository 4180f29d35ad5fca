"""The alarm: bells that ring at their moment, and not after they were stopped."""

import os
import threading
import time

from breaker.client.transport.alarm import Bell

LIMIT_S = 120.0


def ringing() -> tuple[Bell, threading.Event]:
    rang = threading.Event()
    return Bell(rang.set), rang


def test_a_bell_rings_at_its_moment_and_not_before() -> None:
    bell, rang = ringing()
    moment = time.monotonic() + 0.1
    bell.set(moment)

    assert rang.wait(LIMIT_S)
    assert time.monotonic() >= moment
    assert bell.rang


def test_a_moment_can_be_moved_to_a_later_one() -> None:
    bell, rang = ringing()
    bell.set(time.monotonic() + 0.02)
    moment = time.monotonic() + 0.15
    bell.set(moment)

    assert rang.wait(LIMIT_S)
    assert time.monotonic() >= moment


def test_a_moment_can_be_moved_to_an_earlier_one() -> None:
    bell, rang = ringing()
    bell.set(time.monotonic() + 1000.0)
    bell.set(time.monotonic() + 0.02)

    assert rang.wait(LIMIT_S)


def test_a_moment_that_was_put_off_without_a_word_is_heard_later() -> None:
    rang, moment = threading.Event(), time.monotonic() + 0.15
    bell = Bell(rang.set, lambda: moment)
    bell.set(time.monotonic() + 0.02)

    assert rang.wait(LIMIT_S)
    assert time.monotonic() >= moment


def test_a_bell_that_was_stopped_does_not_ring() -> None:
    stopped, never = ringing()
    stopped.set(time.monotonic() + 0.02)
    stopped.stop()
    other, rang = ringing()
    other.set(time.monotonic() + 0.05)

    assert rang.wait(LIMIT_S)
    assert not never.is_set()


def test_while_it_is_not_armed_its_moment_passes_and_it_can_be_set_again() -> None:
    bell, rang = ringing()
    bell.armed = False
    bell.set(time.monotonic() + 0.02)
    other, other_rang = ringing()
    other.set(time.monotonic() + 0.05)
    assert other_rang.wait(LIMIT_S)
    assert not rang.is_set()
    bell.armed = True
    bell.set(time.monotonic() + 0.02)

    assert rang.wait(LIMIT_S)


def test_a_bell_can_be_rung_at_once() -> None:
    bell, rang = ringing()
    bell.armed = False
    bell.now()

    assert rang.is_set()


def test_a_thousand_bells_ring() -> None:
    bells = [ringing() for _ in range(1000)]
    now = time.monotonic()
    for place, (bell, _) in enumerate(bells):
        bell.set(now + (place * 37 % 100) / 1000)

    assert all(rang.wait(LIMIT_S) for _, rang in bells)


def test_bells_ring_in_a_process_that_was_forked() -> None:
    bell, rang = ringing()
    bell.set(time.monotonic())
    assert rang.wait(LIMIT_S)
    child = os.fork()
    if child == 0:
        bell, rang = ringing()
        bell.set(time.monotonic() + 0.02)
        os._exit(0 if rang.wait(LIMIT_S) else 1)
    _, status = os.waitpid(child, 0)

    assert status == 0
