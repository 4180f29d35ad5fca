#!/bin/sh
# Prints the rules of deploy/prometheus as the resource that the Prometheus Operator reads: rules.sh > rules.yaml
set -eu
cd "$(dirname "$0")/../prometheus"
echo "# Made of deploy/prometheus by rules.sh."
cat <<'HEAD'
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: firstbyte}
spec:
  groups:
HEAD
for file in recording.yml alerts.yml; do
    sed '1,/^groups:$/d; s/^\(.\)/  \1/' $file
done
