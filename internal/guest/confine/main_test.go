//go:build linux

package confine

import (
	"os"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
)

func TestMain(m *testing.M) { os.Exit(guesttest.Run(m)) }
