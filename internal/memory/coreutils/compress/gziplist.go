package compress

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
)

// gzipRows are the rows of gzip -l.
type gzipRows struct {
	count, packed, plain, overhead int64
}

// ratio is a part in percent.
func ratio(saved, of int64) string {
	if of == 0 {
		return "  0.0%"
	}
	return fmt.Sprintf("%5.1f%%", 100*float64(saved)/float64(of))
}

// add writes the row of a file.
func (r *gzipRows) add(f *gzipFile) {
	if r.count == 0 {
		r.head(f.gzipJob)
	}
	r.count++
	r.packed += f.packed
	r.plain += f.plain
	r.overhead = f.overhead
	if f.verbose {
		stamp := strings.Repeat(" ", len("Nov 21 16:39"))
		if t := f.stampOf(); !t.IsZero() {
			stamp = strftime.Format("%b %e %H:%M", t.In(program.Zone(f.p)))
		}
		fmt.Fprintf(f.out, "defla %08x %s ", f.crc, stamp)
	}
	name := f.target
	if base := f.header.Name[strings.LastIndexByte(f.header.Name, '/')+1:]; f.named && base != "" {
		name = name[:strings.LastIndexByte(name, '/')+1] + base
	}
	fmt.Fprintf(f.out, "%19d %19d %s %s\n", f.packed, f.plain, ratio(f.plain-(f.packed-f.overhead), f.plain), name)
}

func (r *gzipRows) head(j *gzipJob) {
	if j.quiet {
		return
	}
	if j.verbose {
		_, _ = j.out.WriteString("method  crc     date  time  ")
	}
	_, _ = j.out.WriteString("         compressed        uncompressed  ratio uncompressed_name\n")
}

// totals writes the sum of several files.
func (r *gzipRows) totals(j *gzipJob) {
	if j.verbose {
		_, _ = j.out.WriteString("                            ")
	}
	fmt.Fprintf(j.out, "%19d %19d %s (totals)\n", r.packed, r.plain, ratio(r.plain-(r.packed-r.overhead), r.plain))
}
