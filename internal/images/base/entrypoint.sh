#!/bin/sh
# Runs what it is given, or a shell. Walls, firewall and protected paths are applied from outside, before this runs.
set -eu
[ "$#" -gt 0 ] || set -- bash -l
exec "$@"
