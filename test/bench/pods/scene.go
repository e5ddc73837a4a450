package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

// scene is a namespace with one sandbox and one plain pod that run all the time.
type scene struct {
	base, work, file, tree          string
	command, image, namespace, peer string
	env                             []string
	made                            int

	driver *kube.Driver
	warm   *kube.Driver // driver that keeps a pod prepared
	box    *sandbox.Sandbox
	echo   *echo
}

func newScene(ctx context.Context, command, image string) (*scene, error) {
	base, err := os.MkdirTemp("", "pods-bench-")
	if err != nil {
		return nil, err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	s := &scene{
		base: base, work: filepath.Join(base, "work"), file: filepath.Join(base, "file"), tree: filepath.Join(base, "tree"),
		image: image, namespace: fmt.Sprintf("pods-bench-%d", os.Getpid()), peer: "plain",
		env: append(os.Environ(), "HOME="+filepath.Join(base, "home"), "XDG_DATA_HOME="+filepath.Join(base, "data")),
	}
	s.command, err = filepath.Abs(command)
	for _, dir := range []string{"work", "home", "data", "tree"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(base, dir), 0o755))
	}
	o := kube.Options{Env: s.env, Namespace: s.namespace, DataDir: filepath.Join(base, "data", "agent-sandbox"), Image: image}
	s.driver = kube.New(o)
	o.Warm = 1
	s.warm = kube.New(o)
	return s, errors.Join(err, s.kubectl(ctx, "", "create", "namespace", s.namespace))
}

func (s *scene) close() {
	ctx := context.Background()
	if s.echo != nil {
		s.echo.close()
	}
	if s.box != nil {
		if err := s.box.Close(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if err := s.warm.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := s.kubectl(ctx, "", "delete", "namespace", s.namespace, "--wait=false"); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	_ = os.RemoveAll(s.base)
}

// spec returns the spec of a sandbox with an empty workspace.
func (s *scene) spec() sandbox.Spec { return sandbox.Spec{Workspace: s.work, Env: s.env} }

// open creates the pods that run during the whole measurement, and the files to
// copy.
func (s *scene) open(ctx context.Context, size, many int) error {
	err := os.WriteFile(s.file, make([]byte, size<<20), 0o644)
	for i := range many {
		dir := filepath.Join(s.tree, strconv.Itoa(i/100))
		if i%100 == 0 {
			err = errors.Join(err, os.Mkdir(dir, 0o755))
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte(strconv.Itoa(i)), 0o644))
	}
	if err == nil {
		err = s.plain(ctx, 1, s.peer, requests)
	}
	if err != nil {
		return err
	}
	if s.box, err = sandbox.Create(ctx, s.driver, s.spec()); err != nil {
		return err
	}
	s.echo, err = newEcho(ctx, s.namespace, s.peer)
	return err
}

// requests and limits of a pod: the defaults of a sandbox.
const requests = `{"requests":{"cpu":"100m","memory":"512Mi","ephemeral-storage":"256Mi"},"limits":{"cpu":"2","memory":"1Gi","ephemeral-storage":"12Gi"}}`

// plain creates pods with kubectl that do nothing, and waits for them.
func (s *scene) plain(ctx context.Context, n int, name, resources string) error {
	var items []json.RawMessage
	for i := range n {
		one := name
		if n > 1 {
			one = fmt.Sprintf("%s-%d", name, i)
		}
		items = append(items, json.RawMessage(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"of":%q}},"spec":{
			"restartPolicy":"Never","terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":%q,"imagePullPolicy":"IfNotPresent",
			"command":["sleep","100000"],"resources":%s}]}}`, one, name, s.image, resources)))
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return err
	}
	err = s.kubectl(ctx, string(list), "apply", "-n", s.namespace, "-f", "-")
	if err == nil {
		err = s.kubectl(ctx, "", "wait", "-n", s.namespace, "--for=condition=Ready", "--timeout=300s", "pod", "-l", "of="+name)
	}
	return err
}

// commands returns the lines of the table of commands.
func (s *scene) commands() []*rounds.Contender {
	const peer = "`kubectl exec POD -- true`"
	session := func(ctx context.Context) error { return nothing(ctx, s.box) }
	return []*rounds.Contender{
		{Name: peer, Do: func(ctx context.Context) error {
			return s.kubectl(ctx, "", "exec", "-n", s.namespace, s.peer, "--", "true")
		}},
		{Name: "`true` over an open session", Against: peer, Do: session},
		{Name: "the same, each of ten in a row", Against: peer, Do: session, InRow: 10},
		{Name: "a byte to `cat` and back over an exec stream, each of ten", Against: peer, Do: s.echo.once, InRow: 10},
	}
}

// creations returns the lines of the table of pods.
func (s *scene) creations() []*rounds.Contender {
	const peer = "`kubectl apply` and `kubectl wait` for Ready, a plain pod"
	var box *sandbox.Sandbox
	return []*rounds.Contender{
		{
			Name: peer, Do: func(ctx context.Context) error { return s.plain(ctx, 1, "new", requests) },
			Undo: func(ctx context.Context) error { return s.kubectl(ctx, "", "delete", "-n", s.namespace, "pod", "new") },
		},
		{
			Name: "create and first command", Against: peer,
			Do: func(ctx context.Context) (err error) {
				if box, err = sandbox.Create(ctx, s.driver, s.spec()); err != nil {
					return err
				}
				return nothing(ctx, box)
			},
			Undo: func(ctx context.Context) error { return box.Close(ctx) },
		},
		{
			Name: "the same, in a process that keeps a pod prepared", Against: peer,
			Do: func(ctx context.Context) (err error) {
				if box, err = sandbox.Create(ctx, s.warm, s.spec()); err != nil {
					return err
				}
				return nothing(ctx, box)
			},
			Undo: func(ctx context.Context) error { return errors.Join(box.Close(ctx), s.warm.Prepared(ctx)) },
		},
		{Name: "`agent-sandbox exec --backend kube -- true`, which deletes it, too", Against: peer, Do: func(ctx context.Context) error {
			return s.run(ctx, "", s.command, "exec", "--backend", "kube", "--namespace", s.namespace, "--image", s.image, "--", "true")
		}},
	}
}

// files returns the lines of the tables of files.
func (s *scene) files(size, many int) []*rounds.Contender {
	out := filepath.Join(s.base, "out")
	at := func(what string) string { return fmt.Sprintf("%s, %d MiB", what, size) }
	in, back := at("`kubectl exec -i cat` in"), at("`kubectl exec cat` out")
	exec := func(script string) []string {
		return []string{"exec", "-i", "-n", s.namespace, s.peer, "--", "sh", "-c", script}
	}
	all := []*rounds.Contender{
		{Name: in, Do: func(ctx context.Context) error { return s.stream(ctx, s.file, "", "kubectl", exec("cat >/tmp/in")...) }},
		{Name: at("`kubectl cp` in"), Against: in, Do: func(ctx context.Context) error { return s.kubectl(ctx, "", "cp", s.file, s.inPeer("/tmp/in")) }},
		{Name: at("Files.Create"), Against: in, Do: s.send},
		{Name: back, Do: func(ctx context.Context) error { return s.stream(ctx, "", out, "kubectl", exec("cat /tmp/in")...) }},
		{Name: at("`kubectl cp` out"), Against: back, Do: func(ctx context.Context) error {
			return s.kubectl(ctx, "", "cp", "--retries=5", s.inPeer("/tmp/in"), out)
		}},
		{Name: at("Files.Open"), Against: back, Do: func(ctx context.Context) error { return s.fetch(ctx, out) }},
	}
	if many == 0 {
		return all
	}
	in, back = fmt.Sprintf("`kubectl cp` in, %d files", many), fmt.Sprintf("`kubectl cp` out, %d files", many)
	return append(all,
		&rounds.Contender{Name: in, Do: func(ctx context.Context) error {
			s.made++
			return s.kubectl(ctx, "", "cp", s.tree, s.inPeer(fmt.Sprintf("/tmp/tree-%d", s.made)))
		}},
		&rounds.Contender{Name: fmt.Sprintf("transfer.In, %d files", many), Against: in, Do: func(ctx context.Context) error {
			s.made++
			return transfer.In(ctx, s.box, s.tree, fmt.Sprintf("/tmp/tree-%d", s.made), nil)
		}},
		&rounds.Contender{Name: back, Do: func(ctx context.Context) error {
			s.made++
			return s.kubectl(ctx, "", "cp", "--retries=5", s.inPeer("/tmp/tree-1"), fmt.Sprintf("%s-%d", out, s.made))
		}},
		&rounds.Contender{Name: fmt.Sprintf("transfer.Out, %d files", many), Against: back, Do: func(ctx context.Context) error {
			s.made++
			_, err := transfer.Out(ctx, s.box, "/tmp/tree-2", fmt.Sprintf("%s-%d", out, s.made), transfer.OutOptions{})
			return err
		}},
	)
}

// inPeer returns the name of a file in the plain pod.
func (s *scene) inPeer(name string) string { return s.namespace + "/" + s.peer + ":" + name }

func (s *scene) send(ctx context.Context) error {
	f, err := os.Open(s.file)
	if err != nil {
		return err
	}
	return errors.Join(s.box.Files().Create(ctx, "/tmp/in", 0o644, f), f.Close())
}

func (s *scene) fetch(ctx context.Context, to string) error {
	r, err := s.box.Files().Open(ctx, "/tmp/in")
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, r.Close(), f.Close())
}

func nothing(ctx context.Context, box *sandbox.Sandbox) error {
	res, err := box.Run(ctx, sandbox.Cmd{Args: []string{"true"}})
	if err == nil && res.Code != 0 {
		err = fmt.Errorf("status %d", res.Code)
	}
	return err
}

func (s *scene) kubectl(ctx context.Context, input string, args ...string) error {
	return s.run(ctx, input, "kubectl", args...)
}

// run runs a program with a text as its input.
func (s *scene) run(ctx context.Context, input, name string, args ...string) error {
	return s.start(ctx, strings.NewReader(input), io.Discard, name, args...)
}

// stream runs a program with files as its input and output; "": none.
func (s *scene) stream(ctx context.Context, from, to, name string, args ...string) error {
	in, err := os.Open(orNull(from))
	if err != nil {
		return err
	}
	out, err := os.OpenFile(orNull(to), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	return errors.Join(s.start(ctx, in, out, name, args...), in.Close(), out.Close())
}

func orNull(name string) string {
	if name == "" {
		return os.DevNull
	}
	return name
}

func (s *scene) start(ctx context.Context, in io.Reader, out io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout = s.env, s.work, in, out
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %q: %w: %s", name, args, err, said.String())
	}
	return nil
}
