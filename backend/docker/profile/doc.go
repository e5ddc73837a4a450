// Package profile makes the seccomp profile of containers.
package profile
