package configimport

import (
	"path/filepath"
	"slices"
	"sort"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Result is a policy made from the settings of a tool.
type Result struct {
	Tool   Tool
	Dir    string // the working directory that it is made for
	Policy sandbox.Policy
	Lacks  []Lack // settings without an exact equivalent, by kind in the order of Kinds, then in the order of the files

	doc document
}

// Import translates the settings of one tool. Claude Code may have several files, in the
// order of precedence, lowest first; the other tools have one.
//
// Errors are one line with code Invalid: broken JSON, a known key with a value of a wrong
// type, too many entries. It reports unknown keys as lacks. It writes no files. It reads
// files for fence's extends, through host.Read, and follows the links in paths of the
// settings.
func Import(tool Tool, files []File, host Host) (*Result, error) {
	for _, dir := range []string{host.Home, host.Dir} {
		if !filepath.IsAbs(dir) {
			return nil, sandbox.Errorf(sandbox.Invalid, "found the directory %s, expected an absolute path", jsonc.Clip(dir))
		}
	}
	if len(files) == 0 || len(files) > 1 && tool != Claude {
		return nil, sandbox.Errorf(sandbox.Invalid, "found %d files of settings, expected one", len(files))
	}
	host.Home, host.Dir = filepath.Clean(host.Home), filepath.Clean(host.Dir)
	d := &draft{tool: tool, host: host}
	switch tool {
	case Claude:
		d.readClaude(files)
	case SRT:
		d.readSRT(files[0])
	case Fence:
		d.readFence(files[0])
	default:
		_, d.err = ParseTool(string(tool))
	}
	if d.err != nil {
		return nil, d.err
	}
	return d.result()
}

func (d *draft) result() (*Result, error) {
	doc := d.document()
	// A denied host matters only where some host is allowed.
	if len(d.allow) == 0 {
		for i := range d.lacks {
			if l := &d.lacks[i]; l.Kind == Restriction && l.Nearest == nearestDeny {
				l.Kind, l.Why = Moot, "nothing is allowed"
			}
		}
	}
	kinds := Kinds()
	sort.SliceStable(d.lacks, func(i, j int) bool {
		return slices.Index(kinds, d.lacks[i].Kind) < slices.Index(kinds, d.lacks[j].Kind)
	})
	r := &Result{Tool: d.tool, Dir: d.host.Dir, Lacks: d.lacks, doc: doc}
	// The result must be a valid policy for any input.
	text := r.JSONC()
	if len(text) > policy.MaxConfig {
		return nil, sandbox.Errorf(sandbox.Invalid, "the imported policy would be larger than %s", sandbox.Bytes(policy.MaxConfig))
	}
	p, _, err := policy.Decode("imported policy", text)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Internal, "the result is not a policy: %w", err)
	}
	r.Policy = p
	return r, nil
}

// IsComplete reports whether the policy holds every restriction of the settings.
func (r *Result) IsComplete() bool {
	return !slices.ContainsFunc(r.Lacks, func(l Lack) bool { return l.Kind == Restriction })
}

// short writes a path below the home directory with ~.
func (h Host) short(file string) string {
	if isWithin(file, h.Home) && h.Home != "/" && file != h.Home {
		return "~" + file[len(h.Home):]
	}
	return file
}
