//go:build !linux

package docker

import "context"

// outlive does nothing: the engine's processes are a virtual machine's.
func (i *instance) outlive(context.Context, holding) {}
