package seccomp

// DenyOptions allows what a policy permits. The zero value is the strictest.
type DenyOptions struct {
	Userns    bool `json:"userns,omitempty"`    // user namespaces and, in them, the old mount calls: browsers, nested bubblewrap
	Debuggers bool `json:"debuggers,omitempty"` // ptrace, process_vm_readv and process_vm_writev, personality without randomization
	NoExec    bool `json:"noExec,omitempty"`    // no other program replaces this one
	// Offline allows Unix sockets only, for isolation with a network that cannot be removed in another way.
	Offline bool `json:"offline,omitempty"`
	// Loopback is for Offline: a program that asks for a TCP socket reports that, and every connect and bind, so that
	// a process that has no such socket either can answer (seccomp_unotify(2)).
	Loopback bool `json:"loopback,omitempty"`
	// Dumpable keeps processes from hiding their memory: a guard without privileges could answer no call of theirs
	// (PR_SET_DUMPABLE in prctl(2)). The call reports success; other commands cannot trace them anyway, without
	// Debuggers. The guest, which is a static program, still can.
	Dumpable bool `json:"dumpable,omitempty"`
}
