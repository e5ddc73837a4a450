package coreutils

import (
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/awk"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/bc"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/charset"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/checksum"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/column"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/compress"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/console"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/date"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/diff"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/dump"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/files"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetype"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/find"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/grep"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/jq"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/listing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/numbers"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pr"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sed"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/split"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/system"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/tar"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/text"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/zip"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Commands returns the programs of all families: first those that work on text, then those that work on files and
// the machine, then those that pack. Suggestions for mistyped names follow this order. The slice is the caller's.
func Commands() []shell.Command {
	return slices.Concat(
		text.Commands(),
		awk.Commands(),
		bc.Commands(),
		charset.Commands(),
		checksum.Commands(),
		column.Commands(),
		diff.Commands(),
		dump.Commands(),
		grep.Commands(),
		jq.Commands(),
		numbers.Commands(),
		pr.Commands(),
		sed.Commands(),
		split.Commands(),
		files.Commands(),
		listing.Commands(),
		find.Commands(),
		filetype.Commands(),
		date.Commands(),
		system.Commands(),
		console.Commands(),
		compress.Commands(),
		tar.Commands(),
		zip.Commands(),
	)
}
