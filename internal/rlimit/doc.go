// Package rlimit lowers resource limits (getrlimit(2)) and never raises one: a limit that is already lower than
// requested is sufficient, and only a privileged process may raise it.
package rlimit
