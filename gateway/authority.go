package gateway

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/egress"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ephemeralLife is how long a CA that is made for a run is good. Its key never leaves
// our memory.
const ephemeralLife = 30 * 24 * time.Hour

// authority returns the CA that a plan names, nil for none.
func authority(name string) (*egress.CA, error) {
	switch name {
	case "":
		return nil, nil
	case policy.EphemeralCA:
		return egress.NewCA(ephemeralLife)
	}
	data, err := readSmall(name)
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

// bundles are where systems keep the authorities that they trust, in one file:
// Debian, Fedora, openSUSE, OpenELEC, Alpine, FreeBSD and macOS.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
}

// authorities returns what the host trusts, as PEM. A host that trusts nobody has none,
// and hosts that are not inspected cannot be reached from it anyway.
func authorities(env []string) ([]byte, error) {
	files := bundles
	if own := lookup(env, "SSL_CERT_FILE"); own != "" {
		files = []string{own}
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, sandbox.Errorf(sandbox.Unavailable, "the authorities of this host: %w", err)
		}
		return append(bytes.TrimRight(data, "\n"), '\n'), nil
	}
	return nil, nil
}
