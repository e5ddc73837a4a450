package view

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
)

func TestMain(m *testing.M) { guesttest.Run(m) }
