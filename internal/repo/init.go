package repo

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Open returns the repository in a directory, which need not be initialised. It resolves symbolic links, so that a directory
// has one name.
func Open(dir string) (Repo, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return Repo{}, sandbox.Errorf(sandbox.NotFound, "%w", err)
	}
	if !info.IsDir() {
		return Repo{}, sandbox.Errorf(sandbox.Invalid, "%s is not a directory", dir)
	}
	return Repo{Path: dir}, nil
}

// IsInitialised reports whether [Repo.Init] has initialised the repository.
func (r Repo) IsInitialised() bool {
	root, err := os.OpenRoot(r.Path)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(DockerfileName)
	return err == nil && info.Mode().IsRegular()
}

const dockerfileName = "Dockerfile"

// DockerfileName is the name of the Dockerfile that [Repo.Init] writes.
const DockerfileName = configDir + "/" + dockerfileName

// ConfigName is the name of the configuration that [Repo.Init] writes.
const ConfigName = configFile

// Text returns the content of a configuration's file.
func (c Config) Text() ([]byte, error) {
	text, err := json.MarshalIndent(c, "", "  ")
	return append(text, '\n'), err
}

// Init writes the repository's .agent-sandbox directory, with configuration c, and returns the files that it has
// written. It replaces existing files only with force, and does not follow links out of the repository.
func (r Repo) Init(c Config, force bool) ([]string, error) {
	root, err := os.OpenRoot(r.Path)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.NotFound, "%w", err)
	}
	defer root.Close()
	if force {
		if err := root.RemoveAll(configDir); err != nil {
			return nil, err
		}
	}
	if err := root.MkdirAll(configDir, 0o755); err != nil {
		return nil, sandbox.Errorf(sandbox.Denied, "%s: %w", r.Path, err)
	}
	config, err := c.Text()
	if err != nil {
		return nil, err
	}
	var made []string
	for _, f := range []struct {
		name string
		text []byte
	}{{DockerfileName, []byte(Dockerfile)}, {configFile, config}} {
		err := write(root, f.name, f.text)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return made, sandbox.Errorf(sandbox.Denied, "%s: %w", r.Path, err)
		}
		made = append(made, f.name)
	}
	return made, nil
}

func write(root *os.Root, name string, text []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
