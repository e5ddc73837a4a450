package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// guestProgram is the guest program that is sent to pods.
type guestProgram struct {
	data []byte
	sum  string // SHA-256, in hexadecimal
}

func readProgram(located func() (string, error)) (guestProgram, error) {
	name, err := located()
	if err != nil {
		return guestProgram{}, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return guestProgram{}, sandbox.Errorf(sandbox.Unavailable, "the guest program: %w", err)
	}
	sum := sha256.Sum256(data)
	return guestProgram{data: data, sum: hex.EncodeToString(sum[:])}, nil
}
