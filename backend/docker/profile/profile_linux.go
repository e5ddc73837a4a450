package profile

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// Seccomp returns the engine's default profile with the calls that the guest's guard needs to read the memory of a process
// that waits for its answer. The kernel requires the right to trace that process, which no process inside has over the guest.
func Seccomp() (string, error) {
	profile := seccomp.DefaultProfile()
	profile.Syscalls = append(slices.Clone(profile.Syscalls), &seccomp.Syscall{
		LinuxSyscall: specs.LinuxSyscall{Names: []string{"pidfd_getfd", "pidfd_open", "process_vm_readv"}, Action: specs.ActAllow},
	})
	data, err := json.Marshal(profile)
	if err != nil {
		return "", fmt.Errorf("seccomp profile: %w", err)
	}
	return string(data), nil
}
