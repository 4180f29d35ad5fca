#!/usr/bin/env bash
# Firstbyte, Prometheus and Alertmanager side by side on this machine, until Ctrl-C. For a look at the whole, and for small use.
#
#   deploy/local.sh [ARGUMENTS OF firstbyte run]
#
# Prometheus and Alertmanager are Debian's (apt-get install prometheus prometheus-alertmanager); the ports differ from theirs,
# so that those which Debian starts may stay. All data lies in FIRSTBYTE_DATA.
#   PROMETHEUS_PORT, ALERTMANAGER_PORT    19090, 19093
#   PROMETHEUS_CONFIG                     a folder like deploy/prometheus (default)
#   ALERTMANAGER_CONFIG                   a file like deploy/alertmanager/alertmanager.yml (default)
set -euo pipefail
set -m # a group for each: else a signal to the whole group would come twice, which is an order to drop everything
here=$(cd "$(dirname "$0")" && pwd -P)
data=${FIRSTBYTE_DATA:-${XDG_STATE_HOME:-$HOME/.local/state}/firstbyte}
port=${FIRSTBYTE_PORT:-8642}
prometheus_port=${PROMETHEUS_PORT:-19090}
alertmanager_port=${ALERTMANAGER_PORT:-19093}
export FIRSTBYTE_DATA=$data FIRSTBYTE_PORT=$port

firstbyte=$here/../.venv/bin/firstbyte
[ -x "$firstbyte" ] || firstbyte=firstbyte
for program in "$firstbyte" prometheus prometheus-alertmanager; do
    command -v "$program" >/dev/null && continue
    echo "local.sh: there is no $program; make environment-run, and apt-get install prometheus prometheus-alertmanager" >&2
    exit 2
done

# A copy, since the addresses in it are this machine's.
mkdir -p "$data/prometheus" "$data/alertmanager"
config=$data/prometheus/config
rm -rf "$config"
cp -r "${PROMETHEUS_CONFIG:-$here/prometheus}" "$config"
echo "- targets: ['127.0.0.1:$port']" >"$config/targets.yml"
echo "- targets: ['127.0.0.1:$alertmanager_port']" >"$config/alertmanagers.yml"

started=()
end() {
    trap - EXIT INT TERM HUP
    kill "${started[@]}" 2>/dev/null || true
    wait
}
trap end EXIT
trap 'exit 0' INT TERM HUP

"$firstbyte" run "$@" &
started+=($!)
prometheus --config.file="$config/prometheus.yml" --storage.tsdb.path="$data/prometheus/data" \
    --web.listen-address="127.0.0.1:$prometheus_port" --enable-feature=exemplar-storage --log.level=warn &
started+=($!)
prometheus-alertmanager --config.file="${ALERTMANAGER_CONFIG:-$here/alertmanager/alertmanager.yml}" \
    --storage.path="$data/alertmanager/data" --web.listen-address="127.0.0.1:$alertmanager_port" \
    --cluster.listen-address= --log.level=warn &
started+=($!)

echo "status page   http://127.0.0.1:$port/"
echo "Prometheus    http://127.0.0.1:$prometheus_port/alerts"
echo "Alertmanager  http://127.0.0.1:$alertmanager_port/"
wait -n "${started[@]}" # one that ends takes the others with it
echo "local.sh: one of the three has ended, see above" >&2
exit 1
