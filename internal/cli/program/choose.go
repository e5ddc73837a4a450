//go:build !kube && !memory && !agent

package program

import "strings"

// commandPrograms maps commands to their programs, for those that the default program lacks with any flags.
var commandPrograms = map[string]string{
	"init": Engines, "build": Engines, "build-base": Engines, "checkout": Engines, "show-run": Engines,
	"codex-init-config": Engines, "codex-logout": Engines,
	"agent": Everything, "skill": Everything, "mcp": Everything,
}

// backendPrograms maps backends to their programs, for those that the default program lacks.
var backendPrograms = map[string]string{"docker": Engines, "kube": Engines, "virtual": Memory}

// Of returns the program that has a backend which this one lacks.
func Of(backend string) string { return backendPrograms[backend] }

// Choose returns the program for a command line as far as the unparsed arguments tell; "" when this
// program can begin. If the configuration names a backend, a [Required] appears later.
func Choose(args []string) string {
	if len(args) > 1 && strings.HasPrefix(args[0], "__complete") {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	chosen := commandPrograms[args[0]]
	if chosen == Everything {
		return chosen
	}
	for i, arg := range args {
		name, value, assigned := strings.Cut(arg, "=")
		if !assigned && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case arg == "--":
			return chosen
		case arg == "--help", arg == "-h": // every program has all help texts
			return ""
		case name == "--backend" && backendPrograms[value] != "":
			chosen = backendPrograms[value]
		case name == "--context", name == "--namespace":
			chosen = Engines
		}
	}
	return chosen
}
