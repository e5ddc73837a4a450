#!/bin/sh
# Stands in for npm inside the sandbox; see web.jsonc.
case "$1" in
  publish | unpublish | deprecate)
    echo "npm $1 is for people, outside the sandbox" >&2
    exit 1
    ;;
esac
exec "$AGENT_SANDBOX_REAL" "$@"
