package curl_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/curl"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// row is a script that runs in bash with the real program and in memory with ours, against the same server.
// Output, messages, status, files and the requests must agree. $U is the server, $S one with TLS.
type row struct {
	script string
	loose  looseness
}

type looseness uint8

const (
	anyStderr looseness = 1 << iota // messages that differ by design
	anyMeter                        // numbers of the progress meter
	anyOutput
	anyRequest
	anyFiles
)

// before are the files that exist when a script starts.
var before = map[string]string{
	"text.txt": "line one\r\nline two\n", "page.html": "<p>\n", "bin": "a\x00b\r\nc", "empty": "", "dir/x": "x",
	"ten": "0123456789", "conf": "silent\nurl = \"$U/conf\"\nheader: \"X-C: \\\"q\\\"\"\nuser me:x\n# nothing\n\ndata=foo\n",
	".netrc":  "machine 127.0.0.1 login nick password \"se cret\"\n",
	"headers": "X-One: 1\r\n\nX-Two: 2\n", "format": "%{http_code}\n\\n", "five": "01234",
	"jar": "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tj\tjar\n#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t4000000000\tk\tlong\n.example.com\tTRUE\t/\tFALSE\t0\tz\tno\n127.0.0.1\tFALSE\t/\tTRUE\t0\ts\tsecure\n",
}

// result is the outcome of a script.
type result struct {
	out, msg, requests string
	status             int
	files              map[string]string
}

// runRows runs each row on both sides.
func runRows(t *testing.T, rows []row) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal(err)
	}
	certs := newCertificates(t)
	for _, r := range rows {
		t.Run(r.script, func(t *testing.T) {
			t.Parallel()
			plain := newServer(t, nil)
			env := []string{
				"U=http://" + plain.addr, "HP=" + plain.addr, "LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin", "TZ=UTC",
			}
			var secure []*server
			for name, c := range map[string]*tls.Config{"S": certs.good, "SELF": certs.self, "NAME": certs.name, "PAST": certs.past} {
				if strings.Contains(r.script, "$"+name) {
					s := newServer(t, c)
					secure = append(secure, s)
					env = append(env, name+"=https://"+s.addr)
				}
			}
			files := map[string]string{"ca.pem": string(certs.ca)}
			for name, text := range before {
				files[name] = strings.ReplaceAll(text, "$U", "http://"+plain.addr)
			}
			requests := func() string {
				text := plain.take()
				for _, s := range secure {
					text += s.take()
				}
				return text
			}
			want := runReal(t, r, files, env)
			want.requests = requests()
			got := runHere(t, r, files, env)
			got.requests = requests()
			compare(t, r, got, want)
		})
	}
}

func runReal(t *testing.T, r row, files map[string]string, env []string) result {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(30*time.Second))
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", r.script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(env, "HOME="+dir), time.Second
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	res := result{status: cmd.ProcessState.ExitCode(), files: map[string]string{}}
	res.out, res.msg = strings.ReplaceAll(out.String(), dir, "/w"), strings.ReplaceAll(msg.String(), dir, "/w")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			res.files[name] = fmt.Sprint("directory ", info.Mode().Perm())
			return nil
		}
		text, err := os.ReadFile(path)
		res.files[name] = fmt.Sprint(info.Mode().Perm(), age(info.ModTime()), " ", string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// age distinguishes a time that was set from the time of the test.
func age(at time.Time) string {
	if time.Since(at) < time.Hour {
		return ""
	}
	return " " + at.UTC().String()
}

func runHere(t *testing.T, r row, files map[string]string, env []string) result {
	t.Helper()
	tree := vfs.New(vfs.Options{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	root := vfs.Cred{}
	for _, dir := range []string{"/w", "/tmp", "/dev", "/w/dir"} {
		must(tree.Mkdir(root, dir, 0o755))
	}
	must(tree.Chmod(root, "/w", 0o755))
	must(tree.Mknod(root, "/dev/null", fs.ModeDevice|fs.ModeCharDevice|0o666, vfs.Device(1, 3)))
	must(tree.Mknod(root, "/dev/zero", fs.ModeDevice|fs.ModeCharDevice|0o666, vfs.Device(1, 5)))
	must(tree.Mknod(root, "/dev/full", fs.ModeDevice|fs.ModeCharDevice|0o666, vfs.Device(1, 7)))
	for name, text := range files {
		f, err := tree.OpenFile(t.Context(), root, "/w/"+name, os.O_WRONLY|os.O_CREATE, 0o644)
		must(err)
		_, err = f.Write([]byte(text))
		must(err)
		must(f.Close())
	}
	way := curl.Way{Dial: dial}
	sh := shell.New(shell.Options{FS: tree, Dir: "/w", Env: append(env, "HOME=/w"), Commands: coreutils.Commands()})
	defer sh.Close()
	must(sh.Register(curl.Command(way), curl.Wget(way)))
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(30*time.Second))
	defer cancel()
	var out, msg bytes.Buffer
	res, err := sh.Run(ctx, r.script, shell.Stdio{Stdout: &out, Stderr: &msg})
	must(err)
	got := result{status: res.Status, out: out.String(), msg: msg.String(), files: map[string]string{}}
	var walk func(path string)
	walk = func(path string) {
		info, err := tree.Stat(root, path)
		must(err)
		name := strings.TrimPrefix(path, "/w")
		if info.IsDir() {
			got.files[name] = fmt.Sprint("directory ", info.Mode.Perm())
			entries, err := tree.ReadDir(root, path)
			must(err)
			for _, e := range entries {
				walk(path + "/" + e.Name)
			}
			return
		}
		f, err := tree.OpenFile(t.Context(), root, path, os.O_RDONLY, 0)
		must(err)
		defer f.Close()
		var b bytes.Buffer
		_, err = b.ReadFrom(f)
		must(err)
		got.files[name] = fmt.Sprint(info.Mode.Perm(), age(info.Mtime), " ", b.String())
	}
	walk("/w")
	return got
}

var (
	boundaries = regexp.MustCompile(`-{24}[0-9a-f]{16}`)
	times      = regexp.MustCompile(`after \d+ (ms|milliseconds)`)
	nonces     = regexp.MustCompile(`cnonce="[^"]*"|response="[^"]*"`)
	dates      = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	rates      = regexp.MustCompile(`\([0-9.]+ [KMG]?B/s\)|% *[0-9.]+[KMG]?[ =][0-9.]+s|(time|in)[: ]+[0-9.]+s|K[ .]{55} *[0-9.]+[KMG]?=[0-9.]+s`)
	laters     = regexp.MustCompile(`\t5\d{9}\t`) // when a cookie ends that has a Max-Age
	// A busy machine makes curl draw it more often.
	meterLine = regexp.MustCompile(`\r[ 0-9]{3} [ 0-9.kMG]{5}(  [ 0-9]{3} [ 0-9.kMG]{5}){2}(  [ 0-9.kMG]{5}){2}( [-: 0-9]{8}){3} [ 0-9.kMG]{5}`)
)

func (r result) normal(l looseness) result {
	r.requests = nonces.ReplaceAllString(boundaries.ReplaceAllString(r.requests, "BOUNDARY"), "X")
	r.out = laters.ReplaceAllString(boundaries.ReplaceAllString(r.out, "BOUNDARY"), "\tLATER\t")
	for name, text := range r.files {
		r.files[name] = laters.ReplaceAllString(text, "\tLATER\t")
	}
	r.msg = rates.ReplaceAllString(dates.ReplaceAllString(r.msg, "DATE"), "RATE")
	r.msg = times.ReplaceAllString(r.msg, "after N $1")
	if l&anyMeter != 0 {
		drawn := meterLine.MatchString(r.msg)
		r.msg = meterLine.ReplaceAllString(r.msg, "")
		if drawn {
			r.msg += "with a meter"
		}
	}
	for _, text := range []*string{&r.out, &r.msg, &r.requests} {
		*text = clip(*text)
	}
	return r
}

// clip keeps long texts apart by their sums.
func clip(s string) string {
	if len(s) > 4000 {
		return fmt.Sprintf("%s... %d bytes, CRC %08x", s[:1000], len(s), crc32.ChecksumIEEE([]byte(s)))
	}
	return s
}

func compare(t *testing.T, r row, got, want result) {
	t.Helper()
	got, want = got.normal(r.loose), want.normal(r.loose)
	if got.status != want.status {
		t.Errorf("status %d, want %d\n%s", got.status, want.status, got.msg)
	}
	if r.loose&anyOutput == 0 && got.out != want.out {
		t.Errorf("stdout %q\n  want %q", got.out, want.out)
	}
	if r.loose&anyStderr == 0 && got.msg != want.msg {
		t.Errorf("stderr %q\n  want %q", got.msg, want.msg)
	}
	if r.loose&anyRequest == 0 && got.requests != want.requests {
		t.Errorf("sent\n%s\n  want\n%s", got.requests, want.requests)
	}
	if r.loose&anyFiles != 0 {
		return
	}
	for name, text := range want.files {
		if g, ok := got.files[name]; !ok {
			t.Errorf("%s is missing, want %q", name, text)
		} else if g != text {
			t.Errorf("%s is %q\n  want %q", name, g, text)
		}
	}
	for name, text := range got.files {
		if _, ok := want.files[name]; !ok {
			t.Errorf("%s is unexpected: %q", name, text)
		}
	}
}
