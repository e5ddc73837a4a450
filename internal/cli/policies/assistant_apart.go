//go:build !agent

package policies

import (
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
)

// locateAssistant reports whether target looks like the directory of an assistant or its package file. The program with
// assistants checks it in full.
func locateAssistant(target string) (dir, name string, ok bool) {
	abs, err := filepath.Abs(target)
	if err != nil {
		return "", "", false
	}
	if strings.HasPrefix(filepath.Base(abs), "package.") {
		abs = filepath.Dir(abs)
	}
	packages, err := filepath.Glob(filepath.Join(abs, "package.*"))
	return "", "", err == nil && len(packages) > 0 && filepath.Base(filepath.Dir(abs)) == "assistants"
}

func trustedAssistant(*console.App, trustFlags, string, string, string) error {
	return requirePipeline()
}

func assistantSchema(string) ([]byte, error) { return nil, requirePipeline() }

func requirePipeline() error { return program.Require(program.Everything, "assistants") }
