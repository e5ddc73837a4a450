package zip

import (
	"archive/zip"
	"fmt"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
)

// listFiles is unzip -l and -v.
func (j *unzipJob) listFiles() {
	if j.quiet < 2 {
		if j.verbose {
			_, _ = j.out.WriteString(" Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n--------  ------  ------- ---- ---------- ----- --------  ----\n")
		} else {
			_, _ = j.out.WriteString("  Length      Date    Time    Name\n---------  ---------- -----   ----\n")
		}
	}
	var plain, packed uint64
	count := 0
	for _, f := range j.zip.File {
		if j.ended != nil || !j.isWanted(f) {
			continue
		}
		count++
		plain += f.UncompressedSize64
		packed += f.CompressedSize64
		stamp := strftime.Format("%Y-%m-%d %H:%M", j.zip.modified(f))
		name := quoting.Quote(f.Name, quoting.Literal, "")
		if j.verbose {
			fmt.Fprintf(j.out, "%8d  %-6s %8d %3d%% %s %08x  %s\n", f.UncompressedSize64, zipMethod(f), f.CompressedSize64,
				zipPercent(f.UncompressedSize64, f.CompressedSize64), stamp, f.CRC32, name)
		} else {
			fmt.Fprintf(j.out, "%9d  %s   %s\n", f.UncompressedSize64, stamp, name)
		}
	}
	if j.quiet > 1 {
		return
	}
	files := fmt.Sprintf("%d %s", count, program.Plural(count, "file", "files"))
	if j.verbose {
		fmt.Fprintf(j.out, "--------          -------  ---                            -------\n%8d         %8d %3d%%                            %s\n",
			plain, packed, zipPercent(plain, packed), files)
	} else {
		fmt.Fprintf(j.out, "---------                     -------\n%9d                     %s\n", plain, files)
	}
}

// zipMethod names how a member is compressed.
func zipMethod(f *zip.File) string {
	switch f.Method {
	case zip.Store:
		return "Stored"
	case zip.Deflate:
		return "Defl:" + "NXFS"[f.Flags>>1&3:][:1]
	case 12:
		return "BZip2"
	case 14:
		return "LZMA"
	}
	return fmt.Sprintf("Unk:%03d", f.Method)
}

// listInfo is zipinfo.
func (j *unzipJob) listInfo() {
	all := len(j.members)+len(j.exclude) == 0
	if !j.bare && all {
		fmt.Fprintf(j.out, "Zip file size: %d bytes, number of entries: %d\n", j.zip.size, len(j.zip.File))
	}
	var plain, packed uint64
	count := 0
	for i, f := range j.zip.File {
		if j.ended != nil || !j.isWanted(f) {
			continue
		}
		if j.bare {
			_, _ = j.out.WriteString(f.Name + "\n")
			continue
		}
		count++
		plain += f.UncompressedSize64
		packed += f.CompressedSize64
		j.infoLine(f, j.zip.text[i])
	}
	if j.bare || j.ended != nil || !all {
		return
	}
	saved := 0.0
	if plain > 0 {
		saved = float64(int64(plain)-int64(packed)) * 100 / float64(plain)
	}
	fmt.Fprintf(j.out, "%d %s, %d bytes uncompressed, %d bytes compressed:  %.1f%%\n", count, program.Plural(count, "file", "files"), plain, packed, saved)
}

func (j *unzipJob) infoLine(f *zip.File, text bool) {
	kind := []byte("b-")
	if text {
		kind[0] = 't'
	}
	switch descriptor := f.Flags&8 != 0; {
	case descriptor && len(f.Extra) > 0:
		kind[1] = 'X'
	case descriptor:
		kind[1] = 'l'
	case len(f.Extra) > 0:
		kind[1] = 'x'
	}
	method := "stor"
	switch f.Method {
	case zip.Store:
	case zip.Deflate:
		method = "def" + "NXFS"[f.Flags>>1&3:][:1]
	case 12:
		method = "bzp2"
	default:
		method = fmt.Sprintf("u%03d", f.Method)
	}
	size := fmt.Sprintf("%8d %s ", f.UncompressedSize64, kind)
	if j.long {
		size += fmt.Sprintf("%8d ", f.CompressedSize64)
	}
	system := "unx"
	if f.CreatorVersion>>8 != 3 {
		system = "fat"
	}
	fmt.Fprintf(j.out, "%s  %d.%d %s %s%s %s %s\n", filemode.String(f.Mode()), f.CreatorVersion&0xff/10, f.CreatorVersion&0xff%10, system, size, method,
		strftime.Format("%y-%b-%d %H:%M", j.zip.modified(f)), f.Name)
}
