package system

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func trueCommand() program.Description {
	return program.Description{
		Name: "true", Usage: "[ignored command line arguments]\nOPTION", Summary: "do nothing, successfully",
		Run: func(p *shell.Proc) int { return program.RunConstant(p, trueCommand, 0) },
	}
}

func falseCommand() program.Description {
	return program.Description{
		Name: "false", Usage: "[ignored command line arguments]\nOPTION", Summary: "do nothing, unsuccessfully",
		Run: func(p *shell.Proc) int { return program.RunConstant(p, falseCommand, 1) },
	}
}
