package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
)

// Labels of our containers.
const (
	labelOurs      = "agent-sandbox"           // "1": one of ours
	labelHost      = "agent-sandbox.host"      // whose: the machine and the user
	labelID        = "agent-sandbox.id"        // the sandbox
	labelName      = "agent-sandbox.name"      // its name, for people
	labelWorkspace = "agent-sandbox.workspace" // the host's directory
	labelOwner     = "agent-sandbox.owner"     // the process that it ends with: boot, pid, start time and PID namespace
	labelState     = "agent-sandbox.state"     // the directory that it ends with, when it is to go on later
	labelPlace     = "agent-sandbox.place"     // what that directory lies in
	labelConfig    = "agent-sandbox.config"    // the sum of its configuration
)

// ownLabels are those of a container that ends with this process and is no sandbox.
func ownLabels() map[string]string {
	return map[string]string{labelOurs: "1", labelHost: self(), labelOwner: owner(os.Getpid())}
}

// self names this user of this machine; an engine may have containers of others. Where the machine has no name
// it is known until it boots again. The name itself is nobody else's business (machine-id(5)).
func self() string {
	machine := firstLine("/etc/machine-id")
	if machine == "" {
		machine = boot()
	}
	sum := sha256.Sum256([]byte("agent-sandbox " + machine))
	return hex.EncodeToString(sum[:8]) + " " + strconv.Itoa(os.Geteuid())
}

func boot() string { return firstLine("/proc/sys/kernel/random/boot_id") }

// firstLine is "" when the file cannot be read.
func firstLine(name string) string {
	data, _ := os.ReadFile(name)
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

// owner names a process of this boot of this host so that no later one is taken for it; "" when it has ended.
func owner(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name in parentheses may hold anything, spaces and parentheses included (proc_pid_stat(5)).
	rest := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const state, start = 0, 19
	if len(rest) <= start || rest[state] == "Z" || rest[state] == "X" {
		return ""
	}
	return strings.Join([]string{boot(), strconv.Itoa(pid), rest[start], pids()}, " ")
}

// pids names the PID namespace in which our numbers mean something.
func pids() string {
	name, _ := os.Readlink("/proc/self/ns/pid") // another system has none
	return name
}

// abandoned reports whether the process of this machine that a label names has ended. One of another PID namespace is not
// to be seen from here, unless the machine has booted since.
func abandoned(label string) bool {
	f := strings.Fields(label)
	if len(f) != 4 {
		return false // not ours to judge
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil {
		return false
	}
	return f[0] != boot() || f[3] == pids() && owner(pid) != label
}
