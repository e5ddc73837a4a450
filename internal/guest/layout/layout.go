// Package layout names the paths inside a sandbox that drivers prepare and the guest reads.
package layout

import (
	"path"
	"strings"
)

// Where a driver puts things inside a sandbox. All directories have mode 0111, so
// that their entries can be used but not listed.
//
// The launcher is [Program] bind-mounted over every resolved target of a wrapped
// command (/usr/bin/git, /usr/lib/git-core/git). It finds the rule of the name it
// was started as in this order, and the first that exists decides:
//
//  1. DenyDir/NAME, WrapperDir/NAME, PresetDir/NAME, where NAME is the base name of argv 0;
//  2. the rule of git, when NAME starts with "git-" (git-upload-pack);
//  3. TargetDir/EXE, where EXE is the path the launcher was started from
//     (/proc/self/exe): the program that the launcher hides there serves other names
//     than the wrapped one (busybox, bun for bunx), and runs with its original argv 0;
//  4. the rule of the base name of EXE, directly or through AliasDir: the target
//     goes by another name than the command (python3.11 for python3), or argv 0 is not its name;
//  5. nothing: the command is refused.
//
// For each target of a command a driver asks [IsShared]: when true it mounts the
// real target at TargetDir/TARGET, and otherwise, when the base names differ, makes the
// symbolic link AliasDir/BASE → command.
const (
	// Root is the directory that contains all the others.
	Root = "/run/agent-sandbox"
	// Program is the guest itself. A process for which it exists is inside a sandbox.
	Program = Root + "/agent-sandbox"
	// SessionSocket is the path of the host's socket if the host has the same kernel; otherwise it is an empty file or missing.
	SessionSocket = Root + "/session"
	// SSHAgent is the socket of the served SSH agent, if the policy has it.
	SSHAgent = Root + "/ssh-agent"
	// GnuPG is the directory of GnuPG inside, with the public keys and the socket of the served agent, if the policy has it.
	GnuPG = Root + "/gnupg"
	// BinDir has the real program of each command with a script or a preset. An entry may be a symbolic link: a program
	// such as npm needs the files in its own directory, so it is mounted elsewhere together with them.
	BinDir = Root + "/bin"
	// WrapperDir has the text of script wrappers, mode 0555.
	WrapperDir = Root + "/wrappers"
	// PresetDir has an empty directory for each command whose built-in rules apply.
	PresetDir = Root + "/presets"
	// DenyDir has an empty directory for each refused command.
	DenyDir = Root + "/deny"
	// TargetDir has, under its full path, the real program of each shared target.
	TargetDir = Root + "/targets"
	// AliasDir has symbolic links from the base names of targets to command names.
	AliasDir = Root + "/alias"
	// PrivateDir has symbolic links named 0, 1, ... to the directories that exist only as long as the sandbox. Mounts
	// below one of them do not belong to it.
	PrivateDir = Root + "/private"
)

// IsShared reports whether target, the resolved program of command, also serves other names, such as busybox for cat,
// or bun for bunx. Then only command must be wrapped. It returns false if target is command under a longer name, such
// as python3.11 or gcc-12.
func IsShared(command, target string) bool {
	base := path.Base(target)
	switch base {
	case "busybox", "toybox", "coreutils":
		return true
	}
	return !strings.HasPrefix(base, command)
}
