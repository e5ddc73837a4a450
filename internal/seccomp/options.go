package seccomp

// DenyOptions opens what a policy asks for. The zero value is the strictest.
type DenyOptions struct {
	Userns    bool `json:"userns,omitempty"`    // user namespaces and, in them, the old mount calls: browsers, nested bubblewrap
	Debuggers bool `json:"debuggers,omitempty"` // ptrace, process_vm_readv and process_vm_writev, personality without randomization
	// Offline leaves Unix sockets only: for walls that come with a network which cannot be taken away otherwise.
	Offline bool `json:"offline,omitempty"`
	// Loopback is for Offline: a program that asks for a TCP socket reports that, and every connect and bind, so that
	// somebody can answer who has no such socket to give either (seccomp_unotify(2)).
	Loopback bool `json:"loopback,omitempty"`
	// Dumpable keeps processes from hiding their memory: a guard without privileges could answer no call of theirs
	// (PR_SET_DUMPABLE in prctl(2)). They hear that it worked; other commands cannot trace them anyway, without
	// Debuggers. The guest, which is a static program, still can.
	Dumpable bool `json:"dumpable,omitempty"`
}
