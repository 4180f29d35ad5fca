#!/bin/sh
# An agent in any language: here it is a shell with curl. `firstbyte guard` is an endpoint of this machine that looks like
# OpenAI's and Anthropic's, and goes where the route says.
#
# Start the demonstration in one terminal (`make run`; its providers are simulated, so no key is needed), and this in
# another:
#
#     examples/curl.sh
set -eu
PATH="$(dirname "$0")/../.venv/bin:$PATH"
service=${FIRSTBYTE_URL:-http://127.0.0.1:8642}
said=$(mktemp)

# Port 0 takes a free one; yours would be a fixed one (8643 without --port), and run for as long as the machine does.
firstbyte guard --port 0 >"$said" 2>&1 &
guard=$!
trap 'kill $guard 2>/dev/null || true; rm -f "$said"' EXIT
until grep -q "guarding at" "$said"; do
    kill -0 $guard || { cat "$said"; exit 1; }
    sleep 0.1
done
base=$(sed -n 's/^guarding at \(http[^ ,]*\)\/v1,.*/\1/p' "$said")

# One step of an agent. The model is replaced by the target's, and no key is needed: the guard has them.
ask() {
    curl -s -i "$base/coder/v1/chat/completions" -H 'content-type: application/json' \
        -d '{"model": "replaced", "messages": [{"role": "user", "content": "What is the next step?"}]}'
    echo
}

# Only a provider of the demonstration can be told to fail.
behave() {
    curl -s "$simulator/_sim/targets?target=aurora/swift-1" -d "$1" >/dev/null
}
simulator=$(curl -s "$service/routes?route=coder" | sed -n 's/.*"target": "aurora\/swift-1"[^}]*"base_url": "\([^"]*\)\/v1".*/\1/p')
[ -n "$simulator" ] || { echo "this wants the demonstration: make run" >&2; exit 1; }

# When a circuit has closed, agents return to its target over a minute, each at its own turn.
until ask | grep -q '^x-firstbyte-role: primary'; do
    echo "waiting until aurora/swift-1 is well and this agent is back there" && sleep 5
done
echo "== a step with a primary that is well"
ask
echo "== a step with one that answers with an error's text, under HTTP 200: the backup's answer comes"
behave '{"behaviour": "gateway_text"}'
ask
behave '{"behaviour": "healthy"}'
