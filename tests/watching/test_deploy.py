"""What is shipped to run it: container, compose, systemd, Kubernetes."""

import asyncio
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from breaker.policy import Policy
from monitor.cli import main
from monitor.config import load
from monitor.simulator import Simulator
from tests.processes import FIRSTBYTE, ROOT, environment
from tests.service import plan, running, settings

DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
TOKENS = {"FIRSTBYTE_AGENT_TOKEN": "a" * 40, "FIRSTBYTE_ADMIN_TOKEN": "b" * 40, "FIRSTBYTE_HOST": "0.0.0.0"}
KEYS = {"OPENROUTER_API_KEY": "made-up", "ZAI_API_KEY": "made-up"}


def documents() -> list[dict[str, Any]]:
    """All resources, leaving out what kustomize reads itself."""
    files = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    texts = [(KUBERNETES / name).read_text() for name in files if name.endswith(".yaml")]
    return [one for text in texts for one in yaml.safe_load_all(text)]


RESOURCES = documents()
DEPLOYMENTS = [one for one in RESOURCES if one["kind"] == "Deployment"]


# systemd


UNIT = DEPLOY / "systemd" / "firstbyte@.service"


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that is here."""
    made = tmp_path / "firstbyte@run.service"
    made.write_text(UNIT.read_text().replace("/opt/firstbyte/bin/firstbyte", sys.executable))
    return made


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("verify", "--man=no"), id="it holds together"),
        pytest.param(("security", "--offline=true", "--threshold=20"), id="it may do little"),
    ],
)
def test_systemd_finds_no_fault(unit: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        ["systemd-analyze", *words, str(unit)], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "firstbyte@run.service:" not in done.stderr


def test_the_unit_can_be_each_part_of_the_service() -> None:
    instances = set(re.findall(r"firstbyte@(\w+)", UNIT.read_text()))
    for name in instances:
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0

    assert instances == {"run", "serve", "monitor"}


def test_a_unit_with_a_mistake_is_found(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("ProtectHome=yes", "ProtectHomes=yes"))
    words = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)

    assert "ProtectHomes" in done.stderr


async def test_what_the_docs_do_on_a_machine_with_systemd_works(tmp_path: Path) -> None:
    """But for what needs root or the network: the folders are others, the program is the one that is here."""
    page = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
    (block,) = (each for each in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "systemctl" in each)
    lines = [line for line in block.splitlines() if not re.match("python3|systemctl|journalctl", line)]
    script = "\n".join(lines).replace("/opt/firstbyte/bin/firstbyte", shlex.join(FIRSTBYTE)).replace("/etc/", "etc/")
    script = script.replace("etc/", f"{tmp_path}/etc/")
    (tmp_path / "etc" / "systemd" / "system").mkdir(parents=True)
    done = await asyncio.to_thread(
        subprocess.run,
        ["bash", "-euc", script],
        env=environment(tmp_path, {"OPENROUTER_API_KEY": "made-up-key", "DEEPSEEK_API_KEY": "made-up-key"}),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "firstbyte.yaml is good" in done.stdout
    assert (tmp_path / "etc" / "systemd" / "system" / UNIT.name).read_text() == UNIT.read_text()
    assert (tmp_path / "etc" / "firstbyte" / "environment").stat().st_mode & 0o077 == 0


# The container


def test_the_container_is_nobodys_and_holds_the_service_alone() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]

    assert re.findall(r"^USER (\S+)", last, re.MULTILINE) == ["65532:65532"]
    assert re.findall(r"^COPY (.+)", last, re.MULTILINE) == ["--from=build /opt/firstbyte /opt/firstbyte"]
    assert not re.search(r"curl|apt-get|ADD ", last)


def test_what_is_copied_into_the_container_is_there_and_not_left_out() -> None:
    copied = [
        name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()
    ]
    let_in = re.findall(r"^!([\w.]+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE)

    assert sorted(copied) == sorted(let_in)
    assert all((ROOT / name).exists() for name in copied)


def test_the_container_is_built_by_the_uv_that_the_lock_is_made_by() -> None:
    wanted = re.search(r"^uv_version=(\S+)", (ROOT / ".ci" / "environment").read_text(), re.MULTILINE)

    assert wanted is not None
    assert f"uv=={wanted[1]} " in DOCKERFILE


async def test_the_containers_health_check_tells_a_service_from_none(tmp_path: Path, store_url: str) -> None:
    asked = re.search(r"HEALTHCHECK [^[]+(\[.+\])", DOCKERFILE)
    assert asked is not None
    _, *words = json.loads(asked[1])

    def healthy(url: str) -> int:
        here = [word.replace("http://127.0.0.1:8642", url) for word in words]
        return subprocess.run([sys.executable, *here], capture_output=True, timeout=60, check=False).returncode

    async with Simulator({"a/m": "healthy"}) as simulator:
        chosen = settings([plan(simulator, "a/m", Policy(probing=False))], tmp_path, store_url=store_url)
        async with running(chosen) as service:
            said = await asyncio.to_thread(healthy, service.url)

    assert (said, healthy(service.url) != 0) == (0, True)


# Compose


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_of_the_set_may_write_nothing_and_is_reached_from_here_alone(name: str) -> None:
    service = SERVICES[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert "latest" not in service["image"]


def test_what_the_set_mounts_is_there() -> None:
    mounts = [mount.split(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])]
    named = {mount for mount in mounts if not mount.startswith(".")}

    assert named == set(COMPOSE["volumes"])
    assert [mount for mount in mounts if mount.startswith(".") and not (DEPLOY / mount).exists()] == []


def test_all_that_the_rules_need_is_mounted() -> None:
    mounted = {Path(mount.split(":")[1]).name for mount in SERVICES["prometheus"]["volumes"]}
    wanted = set(re.findall(r"[\w-]+\.yml", (DEPLOY / "prometheus" / "prometheus.yml").read_text()))

    assert wanted <= mounted


def test_the_set_finds_its_parts_by_their_names() -> None:
    files = [*(DEPLOY / "compose").glob("*.yml"), DEPLOY / "compose" / "firstbyte.yaml", DEPLOY / "compose.yml"]
    named = {host for path in files for host in re.findall(r'(?:"|//)([a-z]+):\d{4}', path.read_text())}

    assert named <= set(SERVICES)
    assert {"firstbyte", "monitor", "prometheus", "alertmanager", "simulator", "valkey"} <= named


def test_grafana_gets_the_dashboards_where_it_looks_for_them() -> None:
    provider = yaml.safe_load((DEPLOY / "grafana/provisioning/dashboards/firstbyte.yml").read_text())["providers"][0]
    places = dict(mount.split(":")[:2] for mount in SERVICES["grafana"]["volumes"])

    assert places["../dashboards"] == provider["options"]["path"]
    assert SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] == (
        f"{provider['options']['path']}/overview.json"
    )


def test_the_sets_simulator_answers_where_its_configuration_says() -> None:
    command, *targets = [word for word in SERVICES["simulator"]["command"] if not word.startswith("-")][:3]
    configured = load(DEPLOY / "compose" / "firstbyte.yaml", TOKENS)
    ports = [one.target.provider.base_url.rpartition(":")[2] for one in configured.targets]

    assert command == "simulate"
    assert [one.name for one in configured.targets] == targets
    assert ports == ["9701/v1", "9702/v1"]  # one after the other behind the control interface's 9700


# Kubernetes


def test_every_file_of_the_manifests_is_named() -> None:
    kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    there = {path.name for path in KUBERNETES.glob("*.yaml")}
    generated = {name for one in kustomization["configMapGenerator"] for name in one["files"]}

    assert {*kustomization["resources"], *generated, "kustomization.yaml"} == there | {"../../dashboards"}


def test_every_dashboard_is_handed_to_grafana() -> None:
    kustomization = yaml.safe_load((ROOT / "dashboards" / "kustomization.yaml").read_text())
    files = [name for one in kustomization["configMapGenerator"] for name in one["files"]]

    assert sorted(files) == sorted(path.name for path in (ROOT / "dashboards").glob("*.json"))
    assert (
        max((ROOT / "dashboards" / name).stat().st_size for name in files) < 200_000
    )  # apply's annotation holds 262,144


def test_the_operators_rules_are_those_of_prometheus() -> None:
    made = subprocess.run([KUBERNETES / "rules.sh"], capture_output=True, text=True, timeout=60, check=True).stdout
    groups = [
        group
        for name in ("recording.yml", "alerts.yml")
        for group in yaml.safe_load((DEPLOY / "prometheus" / name).read_text())["groups"]
    ]

    assert made == (KUBERNETES / "rules.yaml").read_text(), "make it anew: deploy/kubernetes/rules.sh > …/rules.yaml"
    assert yaml.safe_load(made)["spec"]["groups"] == groups


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda one: one["metadata"]["name"])
def test_a_pod_may_do_what_the_restricted_standard_allows(deployment: dict[str, Any]) -> None:
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]

    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not pod["automountServiceAccountToken"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda one: one["metadata"]["name"])
def test_a_pod_starts_a_command_that_there_is_and_is_asked_at_its_own_port(
    deployment: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    with pytest.raises(SystemExit) as ended:
        main([*container["args"], "--help"])
    probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]

    assert ended.value.code == 0
    assert f"firstbyte {container['args'][0]}" in capsys.readouterr().out
    assert [(probe["path"], probe["port"]) for probe in probes] == [
        ("/readyz", "http"),
        ("/livez", "http"),
        ("/livez", "http"),
    ]
    assert container["ports"] == [{"name": "http", "containerPort": 8642}]


def test_monitors_probe_and_doors_answer_agents() -> None:
    commands = {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0]["args"] for one in DEPLOYMENTS
    }

    assert commands == {"firstbyte-door": ["serve"], "firstbyte-monitor": ["monitor"]}
    assert SERVICES["monitor"]["command"] == ["monitor"]


def test_every_selector_finds_pods() -> None:
    pods = [one["spec"]["template"]["metadata"]["labels"] for one in DEPLOYMENTS]
    found = {
        "Service": lambda spec: spec["selector"],
        "PodDisruptionBudget": lambda spec: spec["selector"]["matchLabels"],
        "NetworkPolicy": lambda spec: spec["podSelector"]["matchLabels"],
        "Deployment": lambda spec: spec["selector"]["matchLabels"],
    }
    for one in RESOURCES:
        if one["kind"] in found:
            wanted = found[one["kind"]](one["spec"])
            assert any(wanted.items() <= labels.items() for labels in pods), one["metadata"]["name"]


def test_a_budget_of_disruption_leaves_room_for_one() -> None:
    replicas = {one["metadata"]["name"]: one["spec"]["replicas"] for one in DEPLOYMENTS}
    budgets = {one["metadata"]["name"]: one["spec"] for one in RESOURCES if one["kind"] == "PodDisruptionBudget"}

    assert {name: budgets[name]["minAvailable"] for name in replicas} == {name: n - 1 for name, n in replicas.items()}


def test_prometheus_is_told_the_job_that_rules_go_by() -> None:
    (monitor,) = [one for one in RESOURCES if one["kind"] == "ServiceMonitor"]
    kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    (service,) = [one for one in RESOURCES if one["metadata"]["name"] == "firstbyte-metrics"]

    assert kustomization["labels"][0]["pairs"][monitor["spec"]["jobLabel"]] == "firstbyte"
    assert monitor["spec"]["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]
    wanted = monitor["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= (service["metadata"]["labels"] | kustomization["labels"][0]["pairs"]).items()


def test_the_sample_configuration_can_be_used() -> None:
    configured = load(KUBERNETES / "firstbyte.yaml", {**TOKENS, **KEYS, "FIRSTBYTE_STORE": "redis://store:6379/0"})

    assert configured.store_url == "redis://store:6379/0"
    assert [route.name for route in configured.routes] == ["coder"]
