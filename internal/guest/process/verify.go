package process

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strconv"
)

// VerifySelf compares this program's size and hash with those that the host has sent.
func VerifySelf(size, sum string) error {
	f, err := os.Open(SelfExe)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	if strconv.FormatInt(n, 10) != size || hex.EncodeToString(h.Sum(nil)) != sum {
		return errors.New("the guest program did not arrive as it was sent")
	}
	return nil
}
