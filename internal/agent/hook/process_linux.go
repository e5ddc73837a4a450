package hook

import "syscall"

// workerAttributes puts a worker into a process group of its own, so that a terminal's signals do not reach it.
func workerAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
