package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Sandbox gives a hook files and commands. Names are slash-separated and relative to the workspace.
type Sandbox interface {
	// Workdir returns the absolute path of the workspace inside the sandbox.
	Workdir() string
	// ReadFile reads a file of at most limit bytes; Exhausted: the file is larger.
	ReadFile(ctx context.Context, name string, limit int64) ([]byte, error)
	// WriteFile replaces a file and creates its parent directories.
	WriteFile(ctx context.Context, name string, data []byte) error
	// ListDir lists a directory of at most limit entries; Exhausted: it has more.
	ListDir(ctx context.Context, name string, limit int) ([]sandbox.FileInfo, error)
	// Exec runs a command in the workspace, without a shell, and returns at most limit bytes of its output. A failure of
	// the command is in the result.
	Exec(ctx context.Context, args []string, limit int64) (*sandbox.Result, error)
}

// In returns a Sandbox over s. workdir is the absolute path of the workspace inside. All operations run inside,
// under the sandbox's policy: a link in the workspace resolves as it does for a command there, and never to a file of
// this host. The caller closes s.
func In(s *sandbox.Sandbox, workdir string) Sandbox { return within{s, path.Clean(workdir)} }

type within struct {
	s       *sandbox.Sandbox
	workdir string
}

func (w within) Workdir() string { return w.workdir }

func (w within) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	r, err := w.s.Files().Open(ctx, path.Join(w.workdir, name))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(data)) > limit {
		return nil, errors.Join(sandbox.Errorf(sandbox.Exhausted, "%s has more than %d bytes", name, limit), ignoreError(r.Close()))
	}
	return data, errors.Join(err, r.Close())
}

// ignoreError drops the error of a Close that only reports unread data.
func ignoreError(error) error { return nil }

func (w within) WriteFile(ctx context.Context, name string, data []byte) error {
	full := path.Join(w.workdir, name)
	if m, ok := w.s.Files().(sandbox.Maker); ok && path.Dir(name) != "." {
		if err := m.Mkdir(ctx, path.Dir(full), 0o755); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return w.s.Files().Create(ctx, full, 0o644, strings.NewReader(string(data)))
}

func (w within) ListDir(ctx context.Context, name string, limit int) ([]sandbox.FileInfo, error) {
	entries, err := w.s.Files().List(ctx, path.Join(w.workdir, name))
	if err == nil && len(entries) > limit {
		return nil, sandbox.Errorf(sandbox.Exhausted, "%s has more than %d entries", name, limit)
	}
	return entries, err
}

func (w within) Exec(ctx context.Context, args []string, limit int64) (*sandbox.Result, error) {
	stdout, stderr := &head{limit: limit}, &head{limit: limit}
	res, err := w.s.RunStdio(ctx, sandbox.Cmd{Args: args, Dir: w.workdir}, sandbox.Stdio{Stdout: stdout, Stderr: stderr})
	if res != nil {
		res.Stdout, res.Stderr, res.Cut = stdout.data, stderr.data, res.Cut || stdout.cut
	}
	return res, err
}

// head retains the beginning of what is written to it.
type head struct {
	data  []byte
	limit int64
	cut   bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.limit - int64(len(h.data))
	if int64(len(p)) > room {
		h.cut = true
	}
	h.data = append(h.data, p[:min(int64(len(p)), room)]...)
	return len(p), nil
}

// fileInfo is a directory entry in the form that hooks see.
type fileInfo struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	IsDir   bool   `json:"is_dir"`
	ModTime string `json:"mod_time"` // RFC 3339, UTC
}

// useSandbox serves a function of ctx.sandbox.
func useSandbox(ctx context.Context, s Sandbox, a protocol.SandboxArgs) (any, error) {
	if s == nil {
		return nil, protocol.Refuse("this request has no sandbox")
	}
	if a.Function == "Exec" {
		return execIn(ctx, s, a)
	}
	texts := make([]string, len(a.Args))
	for i, raw := range a.Args {
		if err := json.Unmarshal(raw, &texts[i]); err != nil {
			return nil, protocol.Refuse("ctx.sandbox.%s: argument %d: expected a string", protocol.Clip(a.Function, 50), i+1)
		}
	}
	if len(texts) == 0 {
		return nil, protocol.Refuse("ctx.sandbox.%s: expected a path", protocol.Clip(a.Function, 50))
	}
	where := fmt.Sprintf("ctx.sandbox.%s(%q)", protocol.Clip(a.Function, 50), protocol.Clip(texts[0], 200))
	name, err := inWorkspace(s.Workdir(), texts[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	var value any
	switch {
	case a.Function == "ReadFile":
		data, e := s.ReadFile(ctx, name, protocol.MaxFile)
		value, err = string(data), e
	case a.Function == "ListDir":
		entries, e := s.ListDir(ctx, name, protocol.MaxEntries)
		value, err = convertEntries(entries), e
	case a.Function == "WriteFile" && len(texts) == 2:
		if len(texts[1]) > protocol.MaxFile {
			return nil, protocol.Refuse("%s: a file of %d bytes; at most %d", where, len(texts[1]), protocol.MaxFile)
		}
		err = s.WriteFile(ctx, name, []byte(texts[1]))
	default:
		return nil, protocol.Refuse("there is no %s of %d arguments", where, len(texts))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return value, nil
}

func convertEntries(entries []sandbox.FileInfo) []fileInfo {
	out := make([]fileInfo, 0, len(entries))
	for _, e := range entries {
		out = append(out, fileInfo{e.Name, e.Size, e.Mode.IsDir(), e.Time.UTC().Format(time.RFC3339)})
	}
	return out
}

// inWorkspace makes a hook's path relative to the workspace. It only gives clear errors; the sandbox enforces the policy.
func inWorkspace(workdir, name string) (string, error) {
	if strings.ContainsRune(name, 0) || len(name) > 4096 {
		return "", sandbox.Errorf(sandbox.Invalid, "invalid path; expected at most 4096 bytes without a NUL")
	}
	if path.IsAbs(name) {
		rest, ok := strings.CutPrefix(path.Clean(name), workdir)
		if !ok || (rest != "" && rest[0] != '/' && workdir != "/") {
			return "", sandbox.Errorf(sandbox.Denied, "it is not in the workspace; paths are relative to it")
		}
		name = "./" + rest
	}
	name = path.Clean(name)
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", sandbox.Errorf(sandbox.Denied, "it leads out of the workspace")
	}
	return name, nil
}

// execIn runs a command and returns an error with its output if the command fails.
func execIn(ctx context.Context, s Sandbox, a protocol.SandboxArgs) (any, error) {
	var args []string
	if len(a.Args) != 1 || json.Unmarshal(a.Args[0], &args) != nil {
		return nil, protocol.Refuse("ctx.sandbox.Exec: expected an array of strings, such as [\"git\", \"status\"]")
	}
	if len(args) == 0 || len(args) > protocol.MaxArgs || args[0] == "" {
		return nil, protocol.Refuse("ctx.sandbox.Exec: expected a program and at most %d arguments", protocol.MaxArgs)
	}
	for i, arg := range args {
		if len(arg) > protocol.MaxArg || strings.ContainsRune(arg, 0) {
			return nil, protocol.Refuse("ctx.sandbox.Exec: argument %d: at most %d bytes, none of them zero", i, protocol.MaxArg)
		}
	}
	where := fmt.Sprintf("ctx.sandbox.Exec(%q)", protocol.Clip(args[0], 200))
	res, err := s.Exec(ctx, args, protocol.MaxOutput)
	if e, ok := errors.AsType[*sandbox.ExecError](err); ok {
		return nil, describeFailure(where, e.Err.Error(), e.Code, nil)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", where, err)
	case res.Code != 0:
		return nil, describeFailure(where, "", res.Code, res)
	case res.Cut:
		return nil, protocol.Refuse("%s: it wrote more than %d bytes", where, protocol.MaxOutput)
	}
	return string(res.Stdout), nil
}

// describeFailure describes how a command failed, in its own words; some programs print those to stdout.
func describeFailure(where, words string, code int, res *sandbox.Result) *protocol.Refusal {
	no := &protocol.Refusal{Props: map[string]any{"exit_code": code, "stdout": "", "stderr": ""}}
	if res != nil {
		stdout, stderr := cutOutput(res.Stdout), cutOutput(res.Stderr)
		no.Props["stdout"], no.Props["stderr"] = stdout, stderr
		if words = strings.TrimSpace(stderr); words == "" {
			words = strings.TrimSpace(stdout)
		}
		if res.Reason != "" {
			words = res.Reason
		}
	}
	no.Message = fmt.Sprintf("%s: exit status %d", where, code)
	if words != "" {
		no.Message += ": " + words
	}
	return no
}

// cutOutput returns the end of a command's output, which usually has the cause.
func cutOutput(b []byte) string {
	if len(b) > protocol.MaxText {
		b = b[len(b)-protocol.MaxText:]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
