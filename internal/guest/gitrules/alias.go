package gitrules

import (
	"io"
	"os"
	"path"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
)

// maxAnswer bounds the bytes that are read of git's output.
const maxAnswer = 64 << 10

// builtinCommands are common commands, whose names an alias cannot have. AskAlias starts git only
// for other names.
const builtinCommands wordList = `add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore
	check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config
	count-objects credential describe diff diff-files diff-index diff-tree difftool fast-export fast-import fetch
	fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id grep
	hash-object help hook http-push index-pack init init-db interpret-trailers log ls-files ls-remote ls-tree mailinfo
	mailsplit maintenance merge merge-base merge-file merge-index merge-octopus merge-one-file merge-ours
	merge-recursive merge-subtree merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects
	pack-redundant pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase receive-pack reflog remote
	remote-http remote-https repack replace rerere reset restore rev-list rev-parse revert rm send-email send-pack
	shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule submodule--helper
	switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info upload-archive
	upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree`

// AskAlias asks the real git for alias.name, in the repository that c selects.
func AskAlias(c Call, name string) (string, bool) {
	text, ok := ask(c, []string{"config", "--get", "alias." + name})
	return strings.TrimSuffix(text, "\n"), ok || text != "" // the rules also check a cut alias
}

// Ask runs the real git, in the repository that c selects, and returns its output. False: it failed.
func Ask(c Call, args ...string) (string, bool) { return ask(c, args) }

func ask(c Call, question []string) (string, bool) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", false
	}
	defer r.Close()
	args := append([]string{"git"}, parseCommandLine(c.Args).selecting...)
	args = append(args, question...)
	proc, err := os.StartProcess(path.Join(layout.BinDir, "git"), args, &os.ProcAttr{Env: c.Env, Files: []*os.File{nil, w, nil}})
	_ = w.Close() // the child has its own copy; while this one is open, the read below would not end
	if err != nil {
		return "", false
	}
	text, _ := io.ReadAll(io.LimitReader(r, maxAnswer)) // a cut answer is also an answer
	_ = r.Close()
	state, err := proc.Wait()
	return string(text), err == nil && state.Success()
}

// splitAlias splits the value of an alias into words as git does: at blanks that neither
// quotes nor a backslash protect.
func splitAlias(s string) []string {
	var out []string
	var word strings.Builder
	var quote byte
	in := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			if in {
				out, in = append(out, word.String()), false
				word.Reset()
			}
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(s):
			i++
			word.WriteByte(s[i])
			in = true
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		out = append(out, word.String())
	}
	return out
}
