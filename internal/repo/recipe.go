package repo

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Recipe is the input of a build of the repository's image: its Dockerfile, and the other files of its directory, which
// the steps can run. The files are read once, so that the build uses the trusted content.
type Recipe struct {
	File       string   // the Dockerfile's absolute path
	Dockerfile []byte   //
	Others     []string // a line for each further file or link: mode, SHA-256 or target, name

	archive *os.File // the packed context, an unlinked file
}

// IsDockerfile reports whether a path is the path of a repository's Dockerfile.
func IsDockerfile(path string) bool {
	return filepath.Base(path) == dockerfileName && filepath.Base(filepath.Dir(path)) == configDir
}

// DockerfileFile returns the path of the repository's Dockerfile, which need not exist.
func (r Repo) DockerfileFile() string { return filepath.Join(r.Path, configDir, dockerfileName) }

// Recipe reads the input of a build, without the configuration file beside the Dockerfile. The caller closes it.
func (r Repo) Recipe() (*Recipe, error) {
	if !r.IsInitialised() {
		return nil, r.notInitialised()
	}
	if err := r.CheckDir(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Join(r.Path, configDir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	archive, err := os.CreateTemp("", "agent-sandbox-context-")
	if err != nil {
		return nil, err
	}
	c := &Recipe{File: r.DockerfileFile(), archive: archive}
	err = os.Remove(archive.Name())
	if err == nil {
		err = job.PackContext(archive, root.FS(), path.Base(configFile))
	}
	if err == nil {
		err = c.read()
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close closes the packed context.
func (c *Recipe) Close() error { return c.archive.Close() }

// read fills the fields from the packed context.
func (c *Recipe) read() error {
	if _, err := c.archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for t := tar.NewReader(c.archive); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := c.take(h, t); err != nil {
			return err
		}
	}
	if c.Dockerfile == nil || bytes.IndexByte(c.Dockerfile, 0) >= 0 {
		return sandbox.Errorf(sandbox.Invalid, "%s is not a Dockerfile", c.File)
	}
	return nil
}

func (c *Recipe) take(h *tar.Header, r io.Reader) error {
	switch {
	case h.Typeflag == tar.TypeDir:
		return nil
	case h.Name == dockerfileName && h.Typeflag == tar.TypeReg:
		if h.Size > policy.MaxConfig {
			return sandbox.Errorf(sandbox.Invalid, "%s has more than %d bytes", c.File, policy.MaxConfig)
		}
		data, err := io.ReadAll(r)
		c.Dockerfile = append([]byte{}, data...)
		return err
	case h.Typeflag == tar.TypeSymlink:
		c.Others = append(c.Others, fmt.Sprintf("link %q %q", h.Linkname, h.Name))
		return nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return err
	}
	c.Others = append(c.Others, fmt.Sprintf("%03o %s %q", h.Mode, hex.EncodeToString(sum.Sum(nil)), h.Name))
	return nil
}

// Content returns the text that the user must trust. It changes with every file that a step could run.
func (c *Recipe) Content() []byte {
	out := bytes.Clone(c.Dockerfile)
	for _, line := range c.Others {
		out = append(append(out, 0), line...) // a Dockerfile does not contain this byte
	}
	return out
}

// checkTrust returns Denied unless the user trusts the steps, or the Dockerfile is that of [Repo.Init].
func (c *Recipe) checkTrust(trust *policy.Trust) error {
	if string(c.Dockerfile) == Dockerfile {
		return nil
	}
	ok, err := trust.Trusted(c.File, c.Content())
	if err != nil || ok {
		return err
	}
	return sandbox.Errorf(sandbox.Denied, "%s: its steps would run in the engine, with its network, and the user has not trusted them", c.File).
		WithHint("read it, then run: agent-sandbox trust %s", shellword.Quote(c.File))
}
