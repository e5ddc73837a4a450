package coreutils

import (
	"slices"

	"github.com/seed434b0696/agent-sandbox/shell"
)

// Commands returns the programs of this package. The slice is the caller's.
func Commands() []shell.Command {
	list := make([]shell.Command, 0, len(commands))
	for _, describe := range slices.Concat(commands, fileCommands, archiveCommands) {
		list = append(list, describe())
	}
	return list
}

// commands has a line for each program, sorted by name.
var commands = []func() shell.Command{
	awkCommand,
	b2sumCommand,
	base32Command,
	base64Command,
	basencCommand,
	catCommand,
	cksumCommand,
	cmpCommand,
	crc32Command,
	cutCommand,
	diffCommand,
	egrepCommand,
	fgrepCommand,
	grepCommand,
	headCommand,
	hexdumpCommand,
	jqCommand,
	md5sumCommand,
	odCommand,
	patchCommand,
	sedCommand,
	sha1sumCommand,
	sha224sumCommand,
	sha256sumCommand,
	sha384sumCommand,
	sha512sumCommand,
	stringsCommand,
	sumCommand,
	sortCommand,
	tailCommand,
	trCommand,
	uniqCommand,
	wcCommand,
	xxdCommand,
}
