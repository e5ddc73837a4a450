package files

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// backupKind says how a file is backed up before another one replaces it.
type backupKind uint8

const (
	backupNone backupKind = iota
	backupSimple
	backupExisting // numbered where there are numbered ones
	backupNumbered
)

var backupWords = []choice.Choice[backupKind]{
	{Name: "none", Value: backupNone},
	{Name: "off", Value: backupNone},
	{Name: "simple", Value: backupSimple},
	{Name: "never", Value: backupSimple},
	{Name: "existing", Value: backupExisting},
	{Name: "nil", Value: backupExisting},
	{Name: "numbered", Value: backupNumbered},
	{Name: "t", Value: backupNumbered},
}

// backups names the backups of files.
type backups struct {
	kind   backupKind
	suffix string
	asked  bool // -b or --backup was given
	control,
	controlFrom string
}

const backupOption = getopt.First + 90

// backupOptions are the options of cp, mv, ln and install about backups.
var backupOptions = []getopt.Option{
	{Long: "backup", Arg: getopt.Optional, ID: backupOption},
	{Short: 'b'},
	{Short: 'S', Long: "suffix", Arg: getopt.Required},
}

const backupHelp = `  -b, --backup[=CONTROL]       keep a file in whose place another comes under a further name;
                               CONTROL: none or off, numbered or t, existing or nil, simple or never
  -S, --suffix=SUFFIX          the ending of such names instead of ~
`

// option takes an option about backups.
func (b *backups) option(o *program.Options) {
	switch o.ID {
	case backupOption, 'b':
		b.asked = true
		if o.HasValue {
			b.control, b.controlFrom = o.Value, "backup type"
		}
	case 'S':
		b.asked, b.suffix = true, o.Value
	}
}

// finish settles the kind when all options are read.
func (b *backups) finish(o *program.Options) {
	if b.suffix == "" {
		b.suffix = o.Proc.Getenv("SIMPLE_BACKUP_SUFFIX")
	}
	if b.suffix == "" || strings.Contains(b.suffix, "/") {
		b.suffix = "~"
	}
	if !b.asked {
		return
	}
	b.kind = backupExisting
	if b.control == "" {
		b.control, b.controlFrom = o.Proc.Getenv("VERSION_CONTROL"), "$VERSION_CONTROL"
	}
	if b.control != "" {
		b.kind = program.Choose(o, b.controlFrom, b.control, backupWords)
	}
}

// name returns the further name for a file.
func (b *backups) name(p *shell.Proc, path string) string {
	path = strings.TrimRight(path, "/")
	if b.kind == backupSimple {
		return path + b.suffix
	}
	highest := 0
	base := pathname.Base(path) + ".~"
	if entries, err := p.ReadDir(pathname.Dir(path)); err == nil {
		for _, e := range entries {
			rest, ok := strings.CutPrefix(e.Name, base)
			if number, tilde := strings.CutSuffix(rest, "~"); ok && tilde {
				if n, err := strconv.Atoi(number); err == nil && n > highest && number[0] != '0' {
					highest = n
				}
			}
		}
	}
	if highest == 0 && b.kind == backupExisting {
		return path + b.suffix
	}
	return path + ".~" + strconv.Itoa(highest+1) + "~"
}
