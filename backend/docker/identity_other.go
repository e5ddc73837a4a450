//go:build !linux

package docker

// identity fails: it is only called where the engine runs on this kernel.
func identity(string) (dev, ino uint64, err error) { return 0, 0, errLink }

// kernel returns "", which is the release of no engine.
func kernel() string { return "" }
