package seccomp

// DenyOptions allows what a policy permits. The zero value is the strictest.
type DenyOptions struct {
	Userns    bool `json:"userns,omitempty"`    // user namespaces and, in them, the old mount calls: browsers, nested bubblewrap
	Debuggers bool `json:"debuggers,omitempty"` // ptrace, process_vm_readv and process_vm_writev, personality without randomization
	NoExec    bool `json:"noExec,omitempty"`    // do not refuse other seccomp programs
	// Offline allows Unix sockets only, for isolation in which the network cannot be removed in another way.
	Offline bool `json:"offline,omitempty"`
	// Loopback is for Offline: it reports requests for a TCP socket, and every connect and bind, so that another
	// process can answer them (seccomp_unotify(2)).
	Loopback bool `json:"loopback,omitempty"`
	// Reported leaves the calls that a policy could permit, and pairs of datagram sockets, to the program of Ask, which
	// reports them to a guard. Without that program in the same process they would all be allowed.
	Reported bool `json:"reported,omitempty"`
	// Dumpable prevents processes from hiding their memory: a guard without privileges could not answer their
	// calls (PR_SET_DUMPABLE in prctl(2)). The call reports success; other commands cannot trace them anyway,
	// without Debuggers. The guest, which is a static program, still can.
	Dumpable bool `json:"dumpable,omitempty"`
}
