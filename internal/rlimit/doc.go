// Package rlimit lowers resource limits (getrlimit(2)) and never raises one: a limit that is already lower than asked
// for is met, and only a privileged process may raise it.
package rlimit
