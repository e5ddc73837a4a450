package shell

import (
	"slices"
	"strings"
)

// LookupEnv returns the variable of the process's environment, and whether it is there.
func (p *Proc) LookupEnv(name string) (string, bool) {
	if p.env == nil {
		return p.sh.lookupEnv(name)
	}
	// The last of several wins, as a shell that imports them takes them.
	for _, v := range slices.Backward(p.env) {
		if k, v, ok := strings.Cut(v, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// Getenv returns the variable of the process's environment; "" when it is not there.
func (p *Proc) Getenv(name string) string {
	v, _ := p.LookupEnv(name)
	return v
}

// Environ returns the environment as "NAME=value"; the slice is the caller's.
func (p *Proc) Environ() []string {
	if p.env == nil {
		return p.sh.environ()
	}
	return append([]string(nil), p.env...)
}
