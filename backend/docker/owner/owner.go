// Package owner identifies the user, the process and the directory to which a container belongs, so that a later process can
// tell whether they still exist.
package owner

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
)

// User identifies this user of this machine; an engine may have containers of other machines and users. On a machine
// without an ID the result changes with each boot. It contains a hash, since the ID itself must not be published
// (machine-id(5)).
func User() string {
	machine := firstLine("/etc/machine-id")
	if machine == "" {
		machine = bootID()
	}
	sum := sha256.Sum256([]byte("agent-sandbox " + machine))
	return hex.EncodeToString(sum[:8]) + " " + strconv.Itoa(os.Geteuid())
}

// bootID identifies this boot of the machine.
func bootID() string { return firstLine("/proc/sys/kernel/random/boot_id") }

// firstLine returns the first line of a file, "" if it cannot be read.
func firstLine(name string) string {
	data, _ := os.ReadFile(name)
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

// Process identifies a process of this host: boot, PID, start time and PID namespace, so that it differs from every later
// process. It returns "" if the process has ended.
func Process(pid int) string {
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
	return strings.Join([]string{bootID(), strconv.Itoa(pid), rest[start], pidNamespace()}, " ")
}

// pidNamespace identifies the PID namespace of this process; "" on other systems than Linux.
func pidNamespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

// HasEnded reports whether a process of this machine, as Process identified it, has ended. It is false for a process of
// another PID namespace, which is invisible here, unless the machine has booted since.
func HasEnded(label string) bool {
	f := strings.Fields(label)
	if len(f) != 4 {
		return false // another form
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil {
		return false
	}
	return f[0] != bootID() || f[3] == pidNamespace() && Process(pid) != label
}
