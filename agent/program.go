package agent

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// commands has the names of agents' commands that differ from the agent's name.
var commands = map[string]string{"cursor": "cursor-agent"}

// FindProgram finds a coding agent in the PATH of this process. It returns its command line, with the file at the end of all
// links, and the directories that it needs. A script of Node.js also needs the directory of node. NotFound: the agent is not
// installed.
func FindProgram(agent string) (args, dirs []string, err error) {
	name := agent
	if other, ok := commands[agent]; ok {
		name = other
	}
	found, err := lookPath(name)
	if err != nil {
		return nil, nil, sandbox.Errorf(sandbox.NotFound, "%s is not installed on this host", name).
			WithHint("install it, or take a backend whose image has it: --backend docker")
	}
	dirs = []string{filepath.Dir(found)}
	if node, err := lookPath("node"); err == nil && isScript(found) {
		return []string{node, found}, append(dirs, filepath.Dir(node)), nil
	}
	return []string{found}, dirs, nil
}

// lookPath finds a program in PATH, and follows symbolic links.
func lookPath(name string) (string, error) {
	found, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(found)
}

// isScript reports whether a file begins with #!.
func isScript(name string) bool {
	f, err := hostfile.Open(name, os.O_RDONLY, 0, nil)
	if err != nil {
		return false
	}
	defer f.Close()
	var first [2]byte
	_, err = io.ReadFull(f, first[:])
	return err == nil && string(first[:]) == "#!"
}
