// Package coreutils has the programs of a virtual machine: those of GNU coreutils, grep, sed and their
// neighbors on every system. They see only the process that they are given (shell.Proc): its arguments,
// streams and file system. Options, messages and exit statuses are GNU's; an unknown option is an error.
//
// Each family of programs is a package below this one, and package program has what they share.
package coreutils
