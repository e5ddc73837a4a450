// Package tree works on a directory tree that hostile programs write to at the same time. No operation follows a symbolic
// link or leaves the directory. Paths are relative to it, clean and with slashes; "" is the directory itself.
package tree
