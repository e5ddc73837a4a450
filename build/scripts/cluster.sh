# shellcheck shell=bash disable=SC2154
# Sourced by scripts that need a real Kubernetes, after engine.sh: the one that KUBECONFIG names, or the
# testbed's, which only root can start.

cluster_started=no

# cluster_known fails, and says so, where there is no cluster and none can be started.
cluster_known() {
  [[ -z ${KUBECONFIG-} && $(id -u) -ne 0 ]] || return 0
  say "no cluster: name one in KUBECONFIG, or run this as root to start one"
  return 1
}

# cluster_up sets KUBECONFIG. It fails where the testbed's cluster is not built, once, or does not start.
cluster_up() {
  [[ -z ${KUBECONFIG-} ]] || return 0
  local running=no line
  kubectl --kubeconfig "$engine_state/kubeconfig" get --raw /readyz >/dev/null 2>&1 </dev/null && running=yes
  line=$("$top/test/testbed/up.sh" </dev/null | tail -n 1) || return 1
  KUBECONFIG=${line##*KUBECONFIG=}
  export KUBECONFIG
  [[ $running = yes ]] || cluster_started=yes
}

# cluster_down ends the cluster that cluster_up has started.
cluster_down() {
  [[ $cluster_started = no ]] || "$top/test/testbed/up.sh" down kube </dev/null
}
