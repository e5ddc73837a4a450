//go:build !linux

package guest

func (p process) store([]string) int { return p.fail(exitRefused, "store: only Linux has pods") }
