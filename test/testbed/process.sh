# shellcheck shell=bash disable=SC2154
# Sourced by the scripts of the testbed, which set RUN and LOG: processes by name, which outlive the script.

# born PID: its start, in ticks since the machine's. Fails for a zombie: the machine's init may be slow to reap.
born() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  read -ra stat <<<"${stat##*) }"
  [[ ${stat[0]} != [ZX] ]] && echo "${stat[19]}"
}

# alive NAME: another process may have taken the id of one that was killed.
alive() {
  local pid
  pid=$(cat "$RUN/$1.pid" 2>/dev/null) && [[ -n $pid && $(born "$pid") = "$(cat "$RUN/$1.born" 2>/dev/null)" ]]
}

# spawn NAME COMMAND...: starts it where it does not run.
spawn() {
  local name=$1
  shift
  alive "$name" && return 0
  setsid "$@" >>"$LOG/$name.log" 2>&1 </dev/null &
  echo $! >"$RUN/$name.pid"
  born $! >"$RUN/$name.born" || true # it may have ended
}

# stop NAME: asks, waits 20 s for it to be gone, then insists.
stop() {
  local pid
  alive "$1" || { rm -f "$RUN/$1".{pid,born}; return 0; }
  pid=$(cat "$RUN/$1.pid")
  kill "$pid" 2>/dev/null || true
  for ((i = 0; i < 100; i++)); do alive "$1" || break; sleep 0.2; done
  if alive "$1"; then kill -9 "$pid" 2>/dev/null || true; fi
  rm -f "$RUN/$1".{pid,born}
}
