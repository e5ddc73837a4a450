//go:build linux

package bwrap

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	maxKeyring   = 256 << 20 // the size of the largest file of a keyring
	keyringSpace = 16 << 20  // what commands can add to theirs
)

// keyring gives commands a directory of GnuPG with copies of the public keys in home, which they can change without an effect
// outside. No file of private-keys-v1.d is read.
func (v *invocation) keyring(home string) error {
	if home == "" {
		return nil
	}
	files, err := readKeyring(home)
	if err != nil {
		return err
	}
	size := keyringSpace
	for _, f := range files {
		size += len(f.data)
	}
	v.add("--size", strconv.Itoa(size), "--perms", "0700", "--tmpfs", layout.GnuPG)
	for _, f := range files {
		v.add("--perms", "0600", "--file", v.input(f.data), layout.GnuPG+"/"+f.name)
	}
	return nil
}

// keyringFile is a file of GnuPG's directory.
type keyringFile struct {
	name string
	data []byte
}

// readKeyring reads the public keys, whom the user trusts, and the part of gpg.conf that chooses keys and digests.
func readKeyring(home string) (files []keyringFile, err error) {
	dir, err := os.OpenRoot(home)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.NotFound, "@gpg-agent: %w", err)
	}
	defer dir.Close()
	for _, name := range []string{"common.conf", "gpg.conf", "pubring.gpg", "pubring.kbx", "trustdb.gpg"} {
		data, err := hostfile.ReadIn(dir, name, maxKeyring)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, sandbox.Errorf(sandbox.Invalid, "@gpg-agent: %s/%s: %w", home, name, err)
		case name == "common.conf":
			if usesKeyboxd.Match(data) {
				return nil, sandbox.Errorf(sandbox.Unsupported, "@gpg-agent: the public keys are with keyboxd (use-keyboxd in %s/common.conf), expected a file pubring.kbx", home)
			}
			continue
		case name == "gpg.conf":
			data = []byte(strings.Join(harmlessOption.FindAllString(string(data), -1), "\n") + "\n")
		}
		files = append(files, keyringFile{name, data})
	}
	return files, nil
}

var (
	usesKeyboxd = regexp.MustCompile(`(?m)^[ \t]*use-keyboxd\b`)
	// harmlessOption is a line of gpg.conf that has no secret and names no file or program.
	harmlessOption = regexp.MustCompile(`(?m)^[ \t]*(default-key|local-user|digest-algo|cert-digest-algo|personal-digest-preferences|keyid-format|no-comments|no-emit-version|with-fingerprint|charset|utf8-strings)\b[^\r\n]*$`)
)
