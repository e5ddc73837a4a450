package docker

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// seccompProfile is the engine's default with what the guest's guard needs: to look into a process that
// waits for its answer. The kernel asks for the right to trace that process, which nothing inside has over the guest.
func seccompProfile() (string, error) {
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
