#!/bin/sh
# Holds the dashboards against Grafana's published types (@grafana/schema), and sees that a mistake is found. Wants npm.
set -eu
cd "$(dirname "$0")/.."
tools=build/grafana-types
mkdir -p $tools
[ -e $tools/node_modules/.made ] || {
    npm install --prefix $tools --ignore-scripts --no-audit --no-fund --silent @grafana/schema@13.2.3 typescript@5.9.3
    touch $tools/node_modules/.made
}
check() {
    (cd $tools && node_modules/.bin/tsc --noEmit --skipLibCheck --strict --module esnext --moduleResolution bundler \
        --target es2022 "$1")
}
.venv/bin/python -m dashboards.typescript >$tools/dashboards.ts
check dashboards.ts
sed 's/"graphTooltip"/"grahpTooltip"/' $tools/dashboards.ts >$tools/mistake.ts
if check mistake.ts >/dev/null; then
    echo "typescript.sh: a misspelt key wasn't found" >&2
    exit 1
fi
