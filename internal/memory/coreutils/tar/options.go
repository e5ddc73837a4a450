package tar

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/dates"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func runTar(p *shell.Proc) int {
	args, missing := oldTarArguments(p.Args)
	if missing != 0 {
		return program.UsageError(p, tarCommand, 2, "Old option '%c' requires an argument.", missing)
	}
	root := p.Cred().UID == 0
	j := &tarJob{
		p: p, accounts: accounts.New(p), out: program.NewOutput(p), record: 20 * tarfile.BlockSize, file: "-", started: p.Now(),
		take: tarTaking{sameOwner: root, samePermissions: root, overwriteDir: true},
	}
	j.tell = j.out
	o := program.NewOptions(p, tarCommand, tarOptions)
	o.Parser = getopt.New(args, tarOptions)
	o.Order, o.Wrong = getopt.InOrder, 64
	for o.Next() {
		j.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	for _, name := range o.Args() {
		j.names.add(j, name)
	}
	if !j.settle(o) {
		return o.Status
	}
	return j.finish(j.run())
}

// run runs the selected operation.
func (j *tarJob) run() error {
	if err := j.openIndex(); err != nil {
		return err
	}
	switch j.action {
	case 'c':
		return j.create()
	case 'r', 'u':
		return j.appendFiles()
	case 'A':
		return j.catenate()
	case tarDelete:
		return j.deleteMembers()
	case 'd':
		return j.eachMember(j.diffMember)
	case 't':
		return j.eachMember(j.listMember)
	case tarTestLabel:
		return j.testLabel()
	}
	return j.extract()
}

// reject ends with a message about how tar is called.
func (j *tarJob) reject(o *program.Options, format string, args ...any) {
	o.Reject(format, args...)
	o.Status = 2
}

// hopeless ends with a message about a value.
func (j *tarJob) hopeless(o *program.Options, format string, args ...any) {
	o.RejectQuietly(format, args...)
	j.p.Warn("Error is not recoverable: exiting now")
	o.Status = 2
}

// option takes one option, in the order of the command line, which counts for names.
func (j *tarJob) option(o *program.Options) {
	switch o.ID {
	case getopt.Operand, tarAddFile:
		j.names.add(j, o.Value)
	case 'A', 'c', 'd', 'r', 't', 'u', 'x', tarDelete, tarTestLabel:
		if j.actions++; j.actions > 1 && o.ID != j.action {
			j.reject(o, "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option")
		}
		j.action = o.ID
	case 'C':
		j.names.dirs = append(j.names.dirs, o.Value)
	case 'T':
		j.names.sources = append(j.names.sources, tarNameSource{file: o.Value, null: j.names.null, verbatim: j.names.verbatim, dirs: len(j.names.dirs)})
		j.names.list = append(j.names.list, &tarName{source: len(j.names.sources), dirs: len(j.names.dirs)})
	case tarNull:
		j.names.null, j.names.verbatim = true, true
	case tarNoNull:
		j.names.null, j.names.verbatim = false, false
	case tarVerbatim, tarNoVerbatim:
		j.names.verbatim = o.ID == tarVerbatim
	case tarRecursion, tarNoRecursion:
		j.names.flat = o.ID == tarNoRecursion
	case tarRefused, tarRefusedValue:
		name := "-" + string(rune(j.letterOf(o)))
		if o.Long != "" {
			name = "--" + o.Long
		}
		j.reject(o, "%s is not supported", name)
	default:
		if !j.archiveOption(o) && !j.exclude.option(j, o) && !j.takingOption(o) {
			j.memberOption(o)
		}
	}
}

// sort takes the order of files in directories.
func (j *tarJob) sort(o *program.Options, words []choice.Choice[int]) {
	by, ok, _ := choice.Find(words, o.Value)
	if !ok {
		o.RejectQuietly("invalid argument %s for %s\nValid arguments are:\n  - 'none'\n  - 'name'\n  - 'inode'", quoting.Name(o.Value), shell.Quote("--sort"))
		o.Status = 2
	}
	j.sortInodes = by == 2
}

// letterOf returns the letter that an option without a long name was given by.
func (j *tarJob) letterOf(o *program.Options) byte {
	for _, e := range tarOptions {
		if e.ID == o.ID && e.Short != 0 {
			return e.Short
		}
	}
	return '?'
}

// archiveOption takes the options about the archive as a whole.
func (j *tarJob) archiveOption(o *program.Options) bool {
	switch o.ID {
	case 'f':
		j.files = append(j.files, o.Value)
	case 'a', tarNoAutoCompress:
		j.packing.auto, j.packing.noAuto = o.ID == 'a', o.ID != 'a'
	case 'z', 'j', 'J', 'Z', tarLzma, tarZstd:
		j.pack(o, map[int]codec.Format{'z': codec.Gzip, 'j': codec.Bzip2, 'J': codec.Xz, 'Z': codec.Compress, tarLzma: codec.Lzma, tarZstd: codec.Zstd}[o.ID], 0)
	case 'I':
		j.packProgram(o)
	case 'H':
		formats := map[string]tarfile.Format{"gnu": tarfile.GNU, "oldgnu": tarfile.OldGNU, "pax": tarfile.Pax, "posix": tarfile.Pax, "ustar": tarfile.Ustar, "v7": tarfile.V7}
		f, ok := formats[o.Value]
		if !ok {
			j.reject(o, "%s: Invalid archive format", o.Value)
		}
		j.format = f
	case tarOldArchive:
		j.format = tarfile.V7
	case tarPosix:
		j.format = tarfile.Pax
	case 'o':
		j.as.old = true
	case 'S':
		j.sparse = true
	case 'b':
		n, err := strconv.ParseInt(o.Value, 10, 32)
		if err != nil || n < 1 || n > 1<<20 {
			j.reject(o, "%s: Invalid blocking factor", o.Value)
		}
		j.record = n * tarfile.BlockSize
	case tarRecordSize:
		n, _, err := sizes.Parse(o.Value, "")
		if err != nil || n < 1 || n > 1<<30 {
			j.reject(o, "%s: Invalid record size", o.Value)
		} else if n%tarfile.BlockSize != 0 {
			j.reject(o, "Record size must be a multiple of %d.", tarfile.BlockSize)
		}
		j.record = n
	case 'i':
		j.zeros = true
	case 'V':
		j.label = o.Value
	default:
		return false
	}
	return true
}

// pack says how the archive is compressed.
func (j *tarJob) pack(o *program.Options, f codec.Format, level int) {
	if j.packing.set && j.packing.format != f {
		j.reject(o, "Conflicting compression options")
		return
	}
	j.packing.format, j.packing.level, j.packing.set = f, level, true
}

// packProgram takes the name of a program that is known, with a level.
func (j *tarJob) packProgram(o *program.Options) {
	if j.p.Reserve(8*len(o.Value)) != nil { // A word has two bytes at least, with its blank.
		j.reject(o, "memory exhausted")
		return
	}
	words := strings.Fields(o.Value)
	if len(words) == 0 {
		j.reject(o, "%s: Invalid compression program", o.Value)
		return
	}
	f, ok := map[string]codec.Format{
		"gzip": codec.Gzip, "pigz": codec.Gzip, "bzip2": codec.Bzip2, "pbzip2": codec.Bzip2, "lbzip2": codec.Bzip2, "xz": codec.Xz, "pxz": codec.Xz,
		"zstd": codec.Zstd, "zstdmt": codec.Zstd, "pzstd": codec.Zstd, "lzma": codec.Lzma,
	}[pathname.Base(words[0])]
	if !ok {
		j.reject(o, "%s: only gzip, bzip2, xz, lzma and zstd compress here", words[0])
		return
	}
	level := 0
	for _, w := range words[1:] {
		if n, err := strconv.Atoi(strings.TrimPrefix(w, "-")); err == nil {
			level = n
		}
	}
	j.pack(o, f, level)
	j.packing.program = true
}

// memberOption takes the options about the members.
func (j *tarJob) memberOption(o *program.Options) {
	switch o.ID {
	case 'N', tarNewerMtime:
		name := "--after-date"
		if o.ID == tarNewerMtime {
			name = "--newer-mtime"
		}
		j.newer = j.date(o, name, o.Value)
	case 'K':
		j.startAt = o.Value
	case tarOccurrence:
		j.occurrence = 1
		if o.HasValue {
			n, err := strconv.Atoi(o.Value)
			if err != nil || n < 1 {
				j.hopeless(o, "%s: Invalid number", o.Value)
			}
			j.occurrence = n
		}
	case 'h':
		j.dereference = true
	case tarHardDereference:
		j.hardDereference = true
	case tarOneFileSystem:
		j.oneSystem = true
	case tarSort:
		words := []choice.Choice[int]{{Name: "none", Value: 0}, {Name: "name", Value: 1}, {Name: "inode", Value: 2}}
		j.sort(o, words)
	case tarRemoveFiles:
		j.removeFiles = true
	case tarIgnoreFailedRead:
		j.ignoreUnreadable = true
	case tarTransform:
		if err := j.rename.parse(j.p, o.Value); err != "" {
			j.reject(o, "%s", err)
		}
	case 'P':
		j.rename.absolute = true
	case tarStrip:
		n, err := strconv.ParseUint(o.Value, 10, 31)
		if err != nil {
			j.reject(o, "%s: Invalid number of elements", o.Value)
		}
		j.rename.strip = int(n)
	case tarOneTopLevel:
		j.rename.oneTop, j.rename.top = true, o.Value
	case tarOwner, tarGroup, tarMode, tarMtime, tarClampMtime, tarNumericOwner:
		j.attributeOption(o)
	default:
		j.show.option(j, o)
	}
}

// date reads a date, or takes that of a file.
func (j *tarJob) date(o *program.Options, option, s string) time.Time {
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") {
		info, err := j.p.Stat(s)
		if err != nil {
			j.warn("%s: Cannot stat: %s", quoteTarName(s), shell.Strerror(err))
			o.RejectQuietly("Date sample file not found")
			o.Status = 2
		}
		return info.Mtime
	}
	t, ok := dates.Parse(s, j.p.Now().In(program.Zone(j.p)))
	if !ok {
		j.warn("Substituting %s for unknown date format %s", quoting.Name(strftime.Format("%Y-%m-%d %H:%M:%S", j.p.Now())), quoting.Name(s))
		return j.p.Now()
	}
	if as := strftime.Format("%Y-%m-%d %H:%M:%S", t.In(program.Zone(j.p))); as != s {
		j.dates = append(j.dates, "Option "+option+": Treating date "+quoting.Name(s)+" as "+as)
	}
	return t
}

// settle checks that the options go together.
func (j *tarJob) settle(o *program.Options) bool {
	if j.action == 0 {
		j.reject(o, "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options")
		return false
	}
	writes := j.action == 'c' || j.action == 'r' || j.action == 'u' || j.action == 'A' || j.action == tarDelete
	if j.as.old && j.action == 'c' {
		j.format = tarfile.V7
	} else if j.as.old {
		j.take.sameOwner = false
	}
	if j.verbose > 0 || j.action == 't' {
		for _, d := range j.dates {
			j.warn("%s", d)
		}
	}
	if !j.pickFile(o) {
		return false
	}
	if j.file == "-" && writes && j.action != 'c' && j.action != tarDelete {
		j.reject(o, "Options '-Aru' are incompatible with '-f -'")
		return false
	}
	if j.action == 'c' && j.packing.format == codec.Lzma && !j.packing.program {
		j.packing.format = codec.Xz // --lzma means the format of xz.
	}
	if j.action != 'c' && writes && j.packing.format != codec.None {
		j.reject(o, "Cannot update compressed archives")
		return false
	}
	if j.action == 'c' && j.packing.format == codec.Compress {
		j.reject(o, "--compress can only be read")
		return false
	}
	if j.rename.oneTop && j.rename.top == "" {
		j.rename.top = withoutArchiveSuffix(pathname.Base(j.file))
	}
	if err := j.names.read(j); err != "" {
		j.hopeless(o, "%s", err)
		return false
	}
	if j.action == 'c' && j.names.empty() {
		j.reject(o, "Cowardly refusing to create an empty archive")
		return false
	}
	return true
}

// pickFile finds out which archive is meant.
func (j *tarJob) pickFile(o *program.Options) bool {
	switch {
	case len(j.files) > 1:
		j.reject(o, "Multiple archive files require '-M' option")
		return false
	case len(j.files) > 0:
		j.file, j.hasName = j.files[len(j.files)-1], true
	default:
		if name := j.p.Getenv("TAPE"); name != "" {
			j.file = name
		}
	}
	if j.packing.auto && j.action == 'c' && !j.packing.set {
		j.packing.format = formatOfName(j.file)
	}
	return true
}

// formatOfName returns what a suffix says of the compression.
func formatOfName(name string) codec.Format {
	for _, s := range []struct {
		suffix string
		format codec.Format
	}{
		{".gz", codec.Gzip},
		{".tgz", codec.Gzip},
		{".taz", codec.Gzip},
		{".bz2", codec.Bzip2},
		{".tbz", codec.Bzip2},
		{".tbz2", codec.Bzip2},
		{".tz2", codec.Bzip2},
		{".xz", codec.Xz},
		{".txz", codec.Xz},
		{".lzma", codec.Lzma},
		{".tlz", codec.Lzma},
		{".zst", codec.Zstd},
		{".tzst", codec.Zstd},
		{".Z", codec.Compress},
		{".taZ", codec.Compress},
	} {
		if strings.HasSuffix(name, s.suffix) {
			return s.format
		}
	}
	return codec.None
}

func withoutArchiveSuffix(name string) string {
	if formatOfName(name) != codec.None {
		name = name[:strings.LastIndexByte(name, '.')]
	}
	return strings.TrimSuffix(name, ".tar")
}
