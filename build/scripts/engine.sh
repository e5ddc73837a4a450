# shellcheck shell=bash disable=SC2154
# Sourced by scripts that need a real container engine: the one that DOCKER_HOST names, or
# the testbed's, which only root can start.

engine_state=${TESTBED:-/var/tmp/agent-sandbox-testbed}
engine_started=no

# engine_up sets DOCKER_HOST; it fails, and says so, where there is no engine.
engine_up() {
  [[ -z ${DOCKER_HOST-} ]] || return 0
  if [[ $(id -u) -ne 0 ]]; then
    say "no container engine: name one in DOCKER_HOST, or run this as root to start one"
    return 1
  fi
  local running=no line
  docker -H "unix://$engine_state/docker.sock" info >/dev/null 2>&1 </dev/null && running=yes
  line=$("$top/test/testbed/up.sh" docker </dev/null | tail -n 1) || {
    say "the testbed's engine does not start, so what needs one is skipped"
    return 1
  }
  DOCKER_HOST=${line#export DOCKER_HOST=}
  export DOCKER_HOST
  [[ $running = yes ]] || engine_started=yes
}

# engine_down ends the engine that engine_up has started.
engine_down() {
  [[ $engine_started = no ]] || "$top/test/testbed/up.sh" down docker </dev/null
}
