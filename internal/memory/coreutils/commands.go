package coreutils

import (
	"slices"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Commands returns the programs of this package. The slice is the caller's.
func Commands() []shell.Command {
	list := make([]shell.Command, 0, len(commands))
	for _, describe := range slices.Concat(commands, fileCommands, archiveCommands) {
		list = append(list, describe().command())
	}
	return list
}

// commands has a line for each program, sorted by name.
var commands = []func() description{
	awkCommand,
	b2sumCommand,
	base32Command,
	base64Command,
	basencCommand,
	bcCommand,
	catCommand,
	cksumCommand,
	cmpCommand,
	columnCommand,
	commCommand,
	crc32Command,
	csplitCommand,
	cutCommand,
	dcCommand,
	diffCommand,
	egrepCommand,
	envsubstCommand,
	expandCommand,
	exprCommand,
	fdCommand,
	fgrepCommand,
	fmtCommand,
	foldCommand,
	grepCommand,
	headCommand,
	hexdumpCommand,
	iconvCommand,
	joinCommand,
	jqCommand,
	lookCommand,
	md5sumCommand,
	nlCommand,
	numfmtCommand,
	odCommand,
	pasteCommand,
	patchCommand,
	prCommand,
	revCommand,
	rgCommand,
	sedCommand,
	seqCommand,
	sha1sumCommand,
	sha224sumCommand,
	sha256sumCommand,
	sha384sumCommand,
	sha512sumCommand,
	shufCommand,
	sortCommand,
	splitCommand,
	stringsCommand,
	sumCommand,
	tacCommand,
	tailCommand,
	teeCommand,
	trCommand,
	tsortCommand,
	unexpandCommand,
	uniqCommand,
	wcCommand,
	xxdCommand,
	yqCommand,
	yesCommand,
}
