// Package guest is the program that runs inside an operating-system sandbox: one small static program with one
// operation for each task. [Main] chooses the operation by argv 0 and the first argument. Started under the name of a
// wrapped command it applies that command's rule (package wrapper); otherwise it is one of
//
//	check             reports whether it runs inside a sandbox
//	init              prepares the network and becomes a command
//	serve, runner     the supervisor of a resident sandbox (packages supervisor and session)
//	files             one operation on files (package files)
//	connect, bridge   connections through the sandbox's loopback (package guestnet)
//	stage             mounts a staged view of a workspace (package view)
//	pod, join, ...    the first process of a pod (package podinit)
//	store             the volume of a persistent pod (package podstore)
//
// The host finds the program with package program, and the paths inside a sandbox in package layout.
package guest
