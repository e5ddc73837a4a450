//go:build !linux

package docker

import "context"

// killWithSession does nothing: the engine's processes run in a virtual machine.
func (i *instance) killWithSession(context.Context, holding) {}
