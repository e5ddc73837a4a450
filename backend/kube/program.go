package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// program is the guest as it is sent.
type program struct {
	data []byte
	sum  string // SHA-256, in hexadecimal
}

func readProgram(located func() (string, error)) (program, error) {
	name, err := located()
	if err != nil {
		return program{}, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return program{}, sandbox.Errorf(sandbox.Unavailable, "the guest program: %w", err)
	}
	sum := sha256.Sum256(data)
	return program{data: data, sum: hex.EncodeToString(sum[:])}, nil
}
