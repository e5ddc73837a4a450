package checksum

import (
	"fmt"
	"hash/crc32"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func sumCommand() program.Description {
	return program.Description{
		Name: "sum", Usage: "[OPTION]... [FILE]...",
		Summary: "write the checksum and the number of blocks of each FILE",
		Help: `With no FILE, or when FILE is -, read standard input.

  -r         BSD's algorithm with blocks of 1 KiB; this is the default
  -s, --sysv System V's algorithm with blocks of 512 bytes
      --help     show this help and exit
      --version  show the version and exit`,
		Run: runSum,
	}
}

var sumOptions = []getopt.Option{{Short: 'r'}, {Short: 's', Long: "sysv"}}

func runSum(p *shell.Proc) int {
	d := &digestJob{p: p, algorithm: "bsd"}
	o := program.NewOptions(p, sumCommand, sumOptions)
	for o.Next() {
		d.algorithm = "bsd"
		if o.ID == 's' {
			d.algorithm = "sysv"
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	return d.legacy(o.Args())
}

func crc32Command() program.Description {
	return program.Description{
		Name: "crc32", Usage: "[FILE]...",
		Summary: "write the CRC-32 of each FILE, as zip and gzip know it",
		Run:     runCRC32,
	}
}

func runCRC32(p *shell.Proc) int {
	d := &digestJob{p: p}
	o := program.NewOptions(p, crc32Command, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	names := o.Args()
	many := len(names) > 1
	if len(names) == 0 {
		names = []string{"-"}
	}
	out := program.NewOutput(p)
	status := 0
	for _, name := range names {
		h := crc32.NewIEEE()
		if err := d.feed(name, h); err != nil {
			if d.ended != nil {
				return p.Status(d.ended)
			}
			p.Error(name, err)
			status = 1
			continue
		}
		fmt.Fprintf(out, "%08x", h.Sum32())
		if many {
			_, _ = out.WriteString("\t" + name)
		}
		_ = out.WriteByte('\n')
	}
	return out.Close(status)
}
