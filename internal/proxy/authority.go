package proxy

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ephemeralLife is the validity of a CA that is created for one run. Its key never leaves
// the memory of this process.
const ephemeralLife = 30 * 24 * time.Hour

// loadAuthority returns the CA that a plan names; nil: it names none.
func loadAuthority(name string) (*egress.CA, error) {
	switch name {
	case "":
		return nil, nil
	case policy.EphemeralCA:
		return egress.NewCA(ephemeralLife)
	}
	data, _, err := readPlain(name, maxSecret)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.NotFound, "network.ca: %w", err)
	}
	ca := &egress.CA{}
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		switch {
		case block.Type == "CERTIFICATE" && ca.Cert == nil:
			ca.Cert = pem.EncodeToMemory(block)
		case strings.HasSuffix(block.Type, "PRIVATE KEY") && ca.Key == nil:
			ca.Key = pem.EncodeToMemory(block)
		}
	}
	if ca.Cert == nil || ca.Key == nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "network.ca: %s: expected a PEM file with a certificate and its private key", name)
	}
	return ca, nil
}

// bundles are the paths of the single file in which systems store their trusted authorities: Debian, Fedora, openSUSE,
// OpenELEC, Alpine, FreeBSD and macOS.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
}

// directories are the paths of the directories in which systems without a bundle store them, one in each file.
var directories = []string{"/etc/ssl/certs", "/etc/pki/tls/certs", "/system/etc/security/cacerts"}

const (
	maxBundle      = 8 << 20 // bytes of one file with authorities
	maxAuthorities = 4096    // files of one directory
)

// authorities returns the authorities that the host trusts, as PEM: those of the system, or those of
// SSL_CERT_FILE and SSL_CERT_DIR, or both, when SSL_CERT_FILE is unset or one of
// them names a place of the system. The result may be empty.
func authorities(env []string) (system, own []byte, err error) {
	file, dirs := lookupVariable(env, "SSL_CERT_FILE"), filepath.SplitList(lookupVariable(env, "SSL_CERT_DIR"))
	isSystem := func(dir string) bool { return slices.Contains(directories, filepath.Clean(dir)) }
	both := file == "" || slices.Contains(bundles, file) || slices.ContainsFunc(dirs, isSystem)
	if file != "" && !slices.Contains(bundles, file) {
		if own, err = readCertificates(file); err != nil {
			return nil, nil, sandbox.Errorf(sandbox.Unavailable, "SSL_CERT_FILE: %w", err)
		}
		if len(own) == 0 {
			return nil, nil, sandbox.Errorf(sandbox.Invalid, "SSL_CERT_FILE: no certificate in %s", file)
		}
	}
	own = append(own, readDirectories(slices.DeleteFunc(dirs, isSystem))...)
	if both {
		system, err = systemAuthorities()
	}
	return system, own, err
}

// systemAuthorities returns a bundle unchanged, because parsing it takes long.
func systemAuthorities() ([]byte, error) {
	for _, file := range bundles {
		data, err := readBundle(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, sandbox.Errorf(sandbox.Unavailable, "the authorities of this host: %w", err)
		}
		return append(bytes.TrimRight(data, "\n"), '\n'), nil
	}
	return readDirectories(directories), nil
}

// coverBundles replaces the system's bundles by the authorities that commands trust, for programs that read only the
// bundles: wget, and TLS libraries without a variable for it. It omits bundles that commands could have created or
// cannot see.
func (g *Gateway) coverBundles(all []byte) {
	for _, file := range bundles {
		g.cover(file, all)
	}
}

// cover replaces a file of the system for commands, if they can see it and could not have created it.
func (g *Gateway) cover(file string, data []byte) {
	path, err := filepath.EvalSymlinks(file)
	if err != nil || g.hasFile(path) {
		return
	}
	info, err := os.Lstat(path)
	if access, _ := g.plan.Access(path); err == nil && info.Mode().IsRegular() && access == policy.ReadOnly {
		g.Files = append(g.Files, File{Path: path, Data: data, Mode: 0o444})
	}
}

// readDirectories skips files that cannot be read, as TLS libraries do.
func readDirectories(dirs []string) (out []byte) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > maxAuthorities {
			continue
		}
		for _, e := range entries {
			if pem, err := readCertificates(filepath.Join(dir, e.Name())); err == nil && len(out)+len(pem) <= maxBundle && !bytes.Contains(out, pem) {
				out = append(out, pem...)
			}
		}
	}
	return out
}

// readCertificates returns only the certificates in a file: commands may be able to replace the file by a link, and
// would then see the content of the link's target.
func readCertificates(file string) (out []byte, err error) {
	data, err := readBundle(file)
	if err != nil {
		return nil, err
	}
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return out, nil
		}
		if _, err := x509.ParseCertificate(block.Bytes); block.Type == "CERTIFICATE" && err == nil {
			out = append(out, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...)
		}
	}
}

// readBundle follows links, because systems have links there.
func readBundle(file string) ([]byte, error) {
	f, err := hostfile.Open(file, os.O_RDONLY, 0, nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, _, err := hostfile.ReadAll(f, maxBundle)
	return data, err
}
