#!/usr/bin/env bash
# Starts a real Docker engine and a real one-node Kubernetes (etcd, API server, controller manager,
# scheduler, kubelet, containerd) on this machine, for tests. Debian 12, root, no image registry.
#
#   up.sh             start what is not running; prints the environment to use
#   up.sh docker      start the Docker engine alone
#   up.sh build       build Kubernetes, and start nothing
#   up.sh load IMAGE  copy an image from the engine to the node
#   up.sh down        stop everything that this script started; down docker, down kube: that alone. A cluster that is
#                     started again is empty
#   up.sh files       print the directory in memory that the engine's containers can mount
#
# State: $TESTBED (default /var/tmp/agent-sandbox-testbed). The first run builds Kubernetes from its
# Go module (about 10 CPU minutes) and bootstraps a Debian base image (about 40 s); both are stored, the
# former by the hash of its sources in ~/.cache/agent-sandbox (or $AGENT_SANDBOX_CACHE), also when the state is removed.
# A second testbed has a state of its own, seven ports of its own, from $TESTBED_PORT (default 16443) on, and a kubelet
# that leaves the first one's cgroups alone. Addresses of containers and pods are the same in both: run the second in a
# network namespace of its own.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TESTBED=${TESTBED:-/var/tmp/agent-sandbox-testbed}
K8S=v1.35.4
KEY=$(cat "$HERE"/go.mod "$HERE"/go.sum "$HERE"/{,pause/}*.go | sha256sum | cut -c1-16)
BIN=${AGENT_SANDBOX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-sandbox}/kubernetes-$K8S-$KEY
RUN=$TESTBED/run LOG=$TESTBED/log
DOCKER_SOCK=$TESTBED/docker.sock
# Files in memory for tests that make many. Sandboxes have a /tmp and a /var/tmp of their own.
FILES=/srv/agent-sandbox-testbed-$(sha256sum <<<"$TESTBED" | cut -c1-8)
PORT=${TESTBED_PORT:-16443}
API=https://127.0.0.1:$PORT ETCD=http://127.0.0.1:$((PORT + 1)) ETCD_PEER=http://127.0.0.1:$((PORT + 2))
mkdir -p "$BIN" "$RUN" "$LOG"
# Memory for time. The engine executes itself several times for each container, and collects garbage each time.
export GOGC=400

# shellcheck source=test/testbed/process.sh
source "$HERE/process.sh"

await() { # seconds what command...
  local limit=$1 what=$2; shift 2
  for ((i = 0; i < limit * 5; i++)); do "$@" >/dev/null 2>&1 && return 0; sleep 0.2; done
  echo "testbed: $what did not come up in ${limit}s; see $LOG" >&2
  return 1
}
kc() { kubectl --kubeconfig "$TESTBED/kubeconfig" "$@"; }
dk() { docker -H "unix://$DOCKER_SOCK" "$@"; }

cluster=(kubelet storage scheduler controller-manager apiserver etcd containerd)

down() {
  [[ ${1-} != docker ]] || { stop docker; remove_files; return 0; }
  local all=(agents "${cluster[@]}") # agents.sh starts the first, which is of no use for another cluster
  if alive apiserver; then
    timeout 20 kubectl --kubeconfig "$TESTBED/kubeconfig" delete pods --all -A --force --grace-period=0 >/dev/null 2>&1 || true
  fi
  [[ ${1-} = kube ]] || all+=(docker)
  local name
  for name in "${all[@]}"; do stop "$name"; done
  [[ ${1-} = kube ]] || remove_files
}

# make_files mounts the directory before the engine starts, which sees the mounts of that moment only.
make_files() {
  mountpoint -q "$FILES" && return 0
  mkdir -p "$FILES"
  mount -t tmpfs -o mode=0755 tmpfs "$FILES"
}

remove_files() {
  ! mountpoint -q "$FILES" || umount --lazy "$FILES"
  [[ ! -d $FILES ]] || rmdir "$FILES"
}

packages() { # docker|all
  local missing=()
  command -v bwrap >/dev/null || missing+=(bubblewrap)
  command -v dockerd >/dev/null || missing+=(docker.io)
  command -v debootstrap >/dev/null || missing+=(debootstrap)
  command -v iptables >/dev/null || missing+=(iptables)
  command -v ipset >/dev/null || missing+=(ipset)
  if [[ $1 = all ]]; then
    command -v etcd >/dev/null || missing+=(etcd-server)
    command -v kubectl >/dev/null || missing+=(kubernetes-client)
    [[ -x /usr/lib/cni/bridge ]] || missing+=(containernetworking-plugins)
  fi
  ((${#missing[@]} == 0)) && return 0
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# build makes one program that has all of Kubernetes, once, also when several scripts ask for it at the same time.
build() {
  [[ ! -x $BIN/testbed ]] || return 0
  local lock
  exec {lock}>"$BIN/.lock"
  flock "$lock"
  [[ -x $BIN/testbed ]] || (
    cd "$HERE"
    export CGO_ENABLED=0
    # The process that holds a pod's namespaces.
    go build -trimpath -buildvcs=false -o "$BIN/pause" ./pause
    go build -trimpath -buildvcs=false -o "$BIN/testbed.new" -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$K8S" .
    mv "$BIN/testbed.new" "$BIN/testbed"
  )
  exec {lock}>&-
}

# static_busybox TO: the busybox of this machine may need a C library, which the image lacks.
static_busybox() {
  local dir; dir=$(mktemp -d)
  (
    cd "$dir"
    fetch() { apt-get download -qq -o APT::Sandbox::User=root busybox-static; }
    fetch || { apt-get update -qq; fetch; }
    dpkg-deb -x busybox-static_*.deb .
  ) >&2
  cp "$dir/bin/busybox" "$1"
  rm -rf "$dir"
}

docker_up() {
  # An engine that was killed leaves these files, and does not start if other processes have their ids.
  alive docker || { rm -f "$RUN/dockerd.pid" "$RUN/docker/containerd/containerd.pid"; make_files; }
  # In a mount namespace of its own: each container's mounts come and go in it, and do not disturb a program that
  # walks those of this machine.
  spawn docker unshare --mount --propagation slave dockerd --data-root "$TESTBED/docker" --exec-root "$RUN/docker" -H "unix://$DOCKER_SOCK" --pidfile "$RUN/dockerd.pid"
  await 30 "the Docker engine" dk info
  if ! dk image inspect busybox:latest >/dev/null 2>&1; then
    local root; root=$(mktemp -d); mkdir -p "$root"/{bin,tmp,etc,root}
    static_busybox "$root/bin/busybox"
    "$root/bin/busybox" --list | while read -r applet; do [[ $applet == busybox ]] || ln -sf busybox "$root/bin/$applet"; done
    printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$root/etc/passwd"
    chmod 1777 "$root/tmp"
    tar -C "$root" -c . | dk import -c 'CMD ["/bin/sh"]' - busybox:latest; rm -rf "$root"
  fi
  if ! dk image inspect debian:bookworm-slim >/dev/null 2>&1; then
    local root; root=$(mktemp -d)
    debootstrap --variant=minbase --include=ca-certificates bookworm "$root" >"$LOG/debootstrap.log" 2>&1
    tar -C "$root" -c . | dk import -c 'CMD ["bash"]' - debian:bookworm-slim; rm -rf "$root"
  fi
}

# node_ready starts the kubelet, which ends where containerd listens and does not serve yet.
node_ready() {
  spawn kubelet nsenter --mount="/proc/$(cat "$RUN/containerd.pid")/ns/mnt" "$BIN/testbed" kubelet --config "$TESTBED/kubelet.yaml" \
    --kubeconfig "$TESTBED/kubeconfig" --root-dir "$TESTBED/kubelet" --cert-dir "$TESTBED/kubelet-pki" --hostname-override node1 --node-ip "$1"
  (: <"/dev/tcp/127.0.0.1/$((PORT + 6))") &&
    [[ $(kc get node node1 -o jsonpath='{.status.conditions[?(@.type=="Ready")].status} {.spec.taints}') = "True " ]]
}

kube_up() {
  cd "$TESTBED"
  # A cluster begins empty: it would read the files of one that was killed as its own state.
  if ! alive etcd; then
    local name
    for name in "${cluster[@]}"; do stop "$name"; rm -f "$LOG/$name.log"; done
    rm -rf etcd kubelet volumes log/pods
  fi
  if ! dk image inspect local/pause:2 >/dev/null 2>&1; then
    tar -C "$BIN" -c pause | dk import -c 'ENTRYPOINT ["/pause"]' - local/pause:2
  fi
  [[ -s sa.key ]] || { openssl genrsa -out sa.key 2048 2>/dev/null; openssl rsa -in sa.key -pubout -out sa.pub 2>/dev/null; }
  [[ -s token ]] || head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' >token
  echo "$(cat token),admin,admin,\"system:masters\"" >tokens.csv; chmod 600 tokens.csv token
  # awk reads to the end: a writer to a pipe without a reader would be killed, and the script with it.
  local node_ip; node_ip=$(ip -4 -o addr show scope global | awk '$2 !~ /docker|cni|veth/ && !n++ {sub("/.*","",$4); print $4}')
  cat >kubeconfig <<X
apiVersion: v1
kind: Config
clusters: [{name: testbed, cluster: {server: "$API", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: "$(cat token)"}}]
contexts: [{name: testbed, context: {cluster: testbed, user: admin, namespace: default}}]
current-context: testbed
X
  spawn etcd etcd --data-dir "$TESTBED/etcd" --listen-client-urls "$ETCD" --advertise-client-urls "$ETCD" --listen-peer-urls "$ETCD_PEER"
  spawn apiserver "$BIN/testbed" kube-apiserver --etcd-servers="$ETCD" --secure-port="$PORT" --bind-address=127.0.0.1 \
    --cert-dir="$TESTBED/certs" --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=sa.pub \
    --service-account-signing-key-file=sa.key --token-auth-file=tokens.csv --authorization-mode=Node,RBAC \
    --service-cluster-ip-range=10.96.0.0/16 --kubelet-preferred-address-types=InternalIP
  await 60 "the API server" kc get --raw /readyz
  local config=(--kubeconfig kubeconfig --authentication-kubeconfig kubeconfig --authorization-kubeconfig kubeconfig)
  spawn controller-manager "$BIN/testbed" kube-controller-manager "${config[@]}" --leader-elect=false --service-account-private-key-file sa.key --secure-port $((PORT + 3))
  spawn scheduler "$BIN/testbed" kube-scheduler "${config[@]}" --leader-elect=false --secure-port $((PORT + 4))
  spawn storage "$BIN/testbed" local-storage --kubeconfig kubeconfig --root "$TESTBED/volumes"
  kc apply -f - >/dev/null <<X
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: agent-sandbox.dev/local
volumeBindingMode: WaitForFirstConsumer
reclaimPolicy: Delete
X
  mkdir -p cni
  cat >cni/10-bridge.conflist <<X
{"cniVersion":"0.4.0","name":"testbed","plugins":[{"type":"bridge","bridge":"cni0","isGateway":true,"ipMasq":true,"ipam":{"type":"host-local","ranges":[[{"subnet":"10.244.0.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}},{"type":"portmap","capabilities":{"portMappings":true}}]}
X
  # restrict_oom_score_adj: without CAP_SYS_RESOURCE the runtime may not lower its own score, and every pod would fail
  cat >containerd.toml <<X
version = 2
root = "$TESTBED/containerd"
state = "$RUN/containerd"
[grpc]
  address = "$RUN/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "local/pause:2"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$TESTBED/cni"
X
  # In a mount namespace of their own, which the kubelet shares: the mounts of pods come and go in it, and do not
  # disturb a program that walks those of this machine.
  alive containerd || stop kubelet
  spawn containerd unshare --mount --propagation slave containerd -c "$TESTBED/containerd.toml"
  await 30 containerd ctr -a "$RUN/containerd.sock" version
  local image
  for image in local/pause:2 busybox:latest debian:bookworm-slim; do load "$image"; done
  cat >kubelet.yaml <<X
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix://$RUN/containerd.sock
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: /etc/resolv.conf
podLogsDir: $TESTBED/log/pods
port: $((PORT + 5))
healthzPort: $((PORT + 6))
imageGCHighThresholdPercent: 100
evictionHard: {}
X
  # A kubelet removes what it did not create below the cgroup of all pods, which two would share.
  [[ $PORT = 16443 ]] || printf 'cgroupsPerQOS: false\nenforceNodeAllocatable: []\n' >>kubelet.yaml
  await 60 "node node1" node_ready "$node_ip"
  # Objects that existed before the controllers do not show that these run.
  local probe=ready-$RANDOM$RANDOM
  kc create namespace "$probe" >/dev/null
  await 60 "the controllers" kc get serviceaccount default -n "$probe"
  kc delete namespace "$probe" --wait=false >/dev/null
  await 30 "the default service account" kc get serviceaccount default
}

# load IMAGE: copies an image from the Docker engine to the node, which has no registry to pull from
load() {
  local name=$1 have
  case $name in */*) have=$name ;; *) have=docker.io/library/$name ;; esac
  ctr -a "$RUN/containerd.sock" -n k8s.io images ls -q | grep -x -e "$have" >/dev/null && return 0
  dk save "$name" | ctr -a "$RUN/containerd.sock" -n k8s.io images import - >/dev/null
  case $name in */*) ctr -a "$RUN/containerd.sock" -n k8s.io images tag "docker.io/$name" "$name" >/dev/null 2>&1 || true ;; esac
}

case ${1:-up} in
up)
  packages all
  build
  docker_up
  kube_up
  echo "export DOCKER_HOST=unix://$DOCKER_SOCK KUBECONFIG=$TESTBED/kubeconfig"
  ;;
build) build ;;
docker) packages docker; docker_up; echo "export DOCKER_HOST=unix://$DOCKER_SOCK" ;;
load) load "$2" ;;
files) ! mountpoint -q "$FILES" || echo "$FILES" ;;
down) down "${2-}" ;;
*) echo "usage: up.sh [up|docker|build|load IMAGE|files|down [docker|kube]]" >&2; exit 2 ;;
esac
