//go:build !linux

package guest

func (p process) pod([]string) int { return p.fail(exitRefused, "pod: only Linux has pods") }

func (p process) attend([]string) int { return p.fail(exitRefused, "attend: only Linux has pods") }

func (p process) join([]string) int { return p.fail(exitRefused, "join: only Linux has pods") }

func (p process) install([]string) int { return p.fail(exitRefused, "install: only Linux has pods") }
