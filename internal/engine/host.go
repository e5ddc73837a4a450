package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// defaultSocket is Docker's default socket.
const defaultSocket = "/var/run/docker.sock"

// Host returns the address of the engine that the docker command would use: DOCKER_HOST, then DOCKER_CONTEXT or the current
// context of its configuration, then the first existing socket of Docker, rootless Docker and Podman.
func Host(env []string) (string, error) {
	if host := variable(env, "DOCKER_HOST"); host != "" {
		return host, nil
	}
	config := variable(env, "DOCKER_CONFIG")
	if config == "" {
		config = filepath.Join(variable(env, "HOME"), ".docker")
	}
	if name := contextName(env, config); name != "" && name != "default" {
		return contextHost(config, name)
	}
	sockets := []string{defaultSocket}
	if dir := variable(env, "XDG_RUNTIME_DIR"); dir != "" {
		sockets = append(sockets, filepath.Join(dir, "docker.sock"), filepath.Join(dir, "podman/podman.sock"))
	}
	for _, path := range append(sockets, "/run/podman/podman.sock") {
		if isSocket(path) {
			return "unix://" + path, nil
		}
	}
	return "unix://" + defaultSocket, nil
}

func contextName(env []string, config string) string {
	if name := variable(env, "DOCKER_CONTEXT"); name != "" {
		return name
	}
	var c struct {
		CurrentContext string `json:"currentContext"`
	}
	data, err := os.ReadFile(filepath.Join(config, "config.json"))
	if err != nil || json.Unmarshal(data, &c) != nil {
		return "" // no configuration
	}
	return c.CurrentContext
}

// contextHost returns the address of a context's engine.
func contextHost(config, name string) (string, error) {
	sum := sha256.Sum256([]byte(name))
	path := filepath.Join(config, "contexts/meta", hex.EncodeToString(sum[:]), "meta.json")
	var meta struct {
		Endpoints map[string]struct{ Host string }
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &meta)
	}
	if err != nil {
		return "", sandbox.Errorf(sandbox.Invalid, "docker context %q: %w", name, err).
			WithHint("'docker context ls' lists the contexts")
	}
	host := meta.Endpoints["docker"].Host
	if host == "" {
		return "", sandbox.Errorf(sandbox.Invalid, "docker context %q names no engine", name)
	}
	return host, nil
}
