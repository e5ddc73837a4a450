package coreutils

import "github.com/seed434b0696/agent-sandbox/memory/shell"

func trueCommand() description {
	return description{
		Name: "true", Usage: "[ignored command line arguments]\nOPTION", Summary: "do nothing, successfully",
		Run: func(p *shell.Proc) int { return runConstant(p, trueCommand, 0) },
	}
}

func falseCommand() description {
	return description{
		Name: "false", Usage: "[ignored command line arguments]\nOPTION", Summary: "do nothing, unsuccessfully",
		Run: func(p *shell.Proc) int { return runConstant(p, falseCommand, 1) },
	}
}

// runConstant answers --help and --version when they stand alone, as GNU does.
func runConstant(p *shell.Proc, describe func() description, status int) int {
	if len(p.Args) != 2 {
		return status
	}
	var text string
	switch p.Args[1] {
	case "--help":
		text = describe().helpText(p.Name())
	case "--version":
		text = describe().versionText(p.Name())
	default:
		return status
	}
	out := newOutput(p)
	_, _ = out.WriteString(text) // The error stays in out.
	if s := out.Close(status); s != status {
		return 1
	}
	return status
}
