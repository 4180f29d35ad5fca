from pathlib import Path

from monitor.config import load
from tests.config_cases import FOLDER


def control(name: str) -> list[str]:
    return [str(address) for address in load(FOLDER / name, {"HOME": f"{Path.home()}"}).control]


def test_of_a_control_address_only_host_and_port_count() -> None:
    assert control("good-control.yaml") == [
        "1.1.1.1:53",
        "status.example:443",
        "status.example:8080",
        "[2001:db8::1]:443",
    ]


def test_there_are_none_unless_they_are_named() -> None:
    assert control("good-smallest.yaml") == []
