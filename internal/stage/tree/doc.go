// Package tree works on a directory tree to which hostile programs write at the same time. No operation follows a
// symbolic link or accesses files outside of the directory. Paths are relative to it, clean and with slashes; "" is the
// directory itself.
package tree
