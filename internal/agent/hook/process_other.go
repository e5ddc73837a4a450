//go:build !linux

package hook

import "syscall"

func workerAttributes() *syscall.SysProcAttr { return nil }
