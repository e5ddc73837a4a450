package hook

import "syscall"

// workerAttributes puts a worker into its own process group, so that a terminal's signals do not reach it.
func workerAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
