package kube_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// wants checks the code of an error, and that its text and hint, one line each, contain the parts.
func wants(t *testing.T, err error, code sandbox.Code, parts ...string) {
	t.Helper()
	if sandbox.CodeOf(err) != code {
		t.Fatalf("code %s, want %s: %v", sandbox.CodeOf(err), code, err)
	}
	text := err.Error() + " hint: " + sandbox.HintOf(err)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not have %q", text, part)
		}
	}
	if strings.Contains(text, "\n") {
		t.Errorf("%q has more than one line", text)
	}
}

// fails returns the error with which the driver refuses a sandbox of spec.
func (b bed) fails(t *testing.T, spec sandbox.Spec) error {
	t.Helper()
	s, err := sandbox.Create(t.Context(), b.driver, spec)
	if err == nil {
		_ = s.Close(t.Context())
		t.Fatal("it was made")
	}
	left, lerr := b.pods(t.Context())
	if lerr != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, lerr)
	}
	return err
}

func Test_The_Error_Says_Why_A_Pod_Does_Not_Start(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	t.Run("an image whose shell does not run", func(t *testing.T) {
		name := "local/no-library:1" // its shell wants a C library
		dir := t.TempDir()
		for file, text := range map[string]string{"Dockerfile": "FROM scratch\nCOPY sh /bin/sh\n", "sh": "#!/no/such/interpreter\n"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		load(t, name, filepath.Join(dir, "Dockerfile"), dir)
		wants(t, b.fails(t, sandbox.Spec{Container: sandbox.Container{Image: name}}), sandbox.Closed, "local/no-library:1 ended with 1", "shell", "--guest-image")
	})
	t.Run("an image that no registry has", func(t *testing.T) {
		err := b.fails(t, sandbox.Spec{Container: sandbox.Container{Image: "nowhere.invalid/no-such:1"}})
		wants(t, err, sandbox.NotFound, "nowhere.invalid/no-such:1 cannot be pulled", "no such host")
	})
	t.Run("a name that no image can have", func(t *testing.T) {
		wants(t, b.fails(t, sandbox.Spec{Container: sandbox.Container{Image: "Not A Name"}}), sandbox.NotFound, "cannot be pulled")
	})
	t.Run("an image without a shell", func(t *testing.T) {
		wants(t, b.fails(t, sandbox.Spec{Container: sandbox.Container{Image: "local/pause:2"}}), sandbox.Unsupported, "no shell", "--guest-image")
	})
	t.Run("no node takes it", func(t *testing.T) {
		err := b.fails(t, sandbox.Spec{Container: sandbox.Container{Volumes: []sandbox.Volume{{Name: "missing", Target: "/work"}}}})
		wants(t, err, sandbox.Exhausted, "no node takes the pod", `"missing" not found`)
	})
	t.Run("a quota", func(t *testing.T) {
		b.quota(t, "pods", "0")
		wants(t, b.fails(t, sandbox.Spec{}), sandbox.Exhausted, "exceeded quota: small")
	})
	t.Run("a quota that the second container exceeds", func(t *testing.T) {
		b := newBed(t)
		b.quota(t, "limits.cpu", "3")
		err := b.fails(t, sandbox.Spec{Policy: sandbox.Policy{Limits: sandbox.Limits{CPU: 2}}})
		wants(t, err, sandbox.Exhausted, "requested: limits.cpu=4", "2 processors and 128Mi of memory are for the pod's second container")
		b.run(t, sandbox.Spec{Policy: sandbox.Policy{Limits: sandbox.Limits{CPU: 1}}}, "true")
	})
	t.Run("no namespace", func(t *testing.T) {
		o := b.options
		o.Namespace = "no-such-namespace"
		wants(t, bed{b.namespace, kube.New(o), o}.fails(t, sandbox.Spec{}), sandbox.NotFound, `"no-such-namespace" not found`, "--namespace")
	})
}

// quota gives the test's namespace a quota called small, and waits until its controller enforces it.
func (b bed) quota(t *testing.T, what, most string) {
	t.Helper()
	kubectl(t, "", "create", "quota", "small", "-n", b.namespace, "--hard="+what+"="+most)
	t.Cleanup(func() { kubectl(t, "", "delete", "quota", "small", "-n", b.namespace) })
	path := "{.status.hard." + strings.ReplaceAll(what, ".", `\.`) + "}"
	kubectl(t, "", "wait", "quota/small", "-n", b.namespace, "--for=jsonpath="+path+"="+most, "--timeout=60s")
}

// configured returns the test's bed with a changed copy of its kubeconfig.
func (b bed) configured(t *testing.T, change func(string) string) bed {
	t.Helper()
	data, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatalf("the test changes a kubeconfig of one file: %v", err)
	}
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, []byte(change(string(data))), 0o600); err != nil {
		t.Fatal(err)
	}
	b.options.Env = []string{"KUBECONFIG=" + name}
	b.driver = kube.New(b.options)
	return b
}

// serverAddress returns the host and the port of the cluster's API server.
func serverAddress(t *testing.T) string {
	t.Helper()
	_, address, _ := strings.Cut(kubectl(t, "", "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"), "://")
	return address
}

// serverPort returns the port of the cluster's API server.
func serverPort(t *testing.T) string {
	t.Helper()
	_, port, err := net.SplitHostPort(serverAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// as returns the bed with the credentials of a service account that has the rights of a Role with these rules.
func (b bed) as(t *testing.T, name, rules string) bed {
	t.Helper()
	kubectl(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[
		{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":%[1]q,"namespace":%[2]q}},
		{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":%[1]q,"namespace":%[2]q},"rules":%[3]s},
		{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":%[1]q,"namespace":%[2]q},
		 "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":%[1]q},"subjects":[{"kind":"ServiceAccount","name":%[1]q,"namespace":%[2]q}]}]}`,
		name, b.namespace, rules), "apply", "--validate=false", "-f", "-")
	return b.acting(t, name)
}

// acting returns the bed with the credentials of a service account.
func (b bed) acting(t *testing.T, name string) bed {
	t.Helper()
	answer := kubectl(t, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`,
		"create", "--raw", "/api/v1/namespaces/"+b.namespace+"/serviceaccounts/"+name+"/token", "-f", "-")
	var made struct{ Status struct{ Token string } }
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Status.Token == "" {
		t.Fatalf("%v: %s", err, answer)
	}
	return b.configured(t, func(s string) string { return replaceToken(s, made.Status.Token) })
}

func replaceToken(config, token string) string {
	before, after, _ := strings.Cut(config, "token: ")
	_, after, _ = strings.Cut(after, "}")
	return before + `token: "` + token + `"}` + after
}

func Test_The_Error_Says_Why_A_Cluster_Cannot_Be_Used(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	t.Run("no kubeconfig", func(t *testing.T) {
		o := b.options
		o.Env = []string{"HOME=" + t.TempDir()}
		wants(t, bed{b.namespace, kube.New(o), o}.fails(t, sandbox.Spec{}), sandbox.Unavailable, "no cluster", "KUBECONFIG")
	})
	t.Run("an unknown context", func(t *testing.T) {
		o := b.options
		o.Context = "elsewhere"
		wants(t, bed{b.namespace, kube.New(o), o}.fails(t, sandbox.Spec{}), sandbox.Invalid, `"elsewhere" does not exist`)
	})
	t.Run("no answer", func(t *testing.T) {
		dead := b.configured(t, func(s string) string { return strings.Replace(s, ":"+serverPort(t), ":1", 1) })
		wants(t, dead.fails(t, sandbox.Spec{}), sandbox.Unavailable, "connection refused", "--context")
	})
	t.Run("credentials that are wrong or have expired", func(t *testing.T) {
		expired := b.configured(t, func(s string) string { return replaceToken(s, "expired") })
		wants(t, expired.fails(t, sandbox.Spec{}), sandbox.Denied, "log in again")
	})
	t.Run("a credential plugin that fails", func(t *testing.T) {
		broken := b.configured(t, func(s string) string {
			before, after, _ := strings.Cut(s, "user: {token")
			_, after, _ = strings.Cut(after, "}")
			return before + `user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "false", interactiveMode: Never}}` + after
		})
		wants(t, broken.fails(t, sandbox.Spec{}), sandbox.Denied, "getting credentials")
	})
	t.Run("pods are forbidden", func(t *testing.T) {
		none := b.as(t, "none", `[]`)
		wants(t, none.fails(t, sandbox.Spec{}), sandbox.Denied, "cannot create resource", "doctor --backend kube")
	})
	t.Run("executing is forbidden", func(t *testing.T) {
		half := b.as(t, "half", `[{"apiGroups":[""],"resources":["pods"],"verbs":["create","get","list","watch","delete"]}]`)
		wants(t, half.fails(t, sandbox.Spec{}), sandbox.Denied, "pods/exec", "doctor --backend kube")
	})
}

func Test_A_Credential_Plugin_Is_Executed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	script := filepath.Join(t.TempDir(), "plugin")
	b = b.configured(t, func(s string) string {
		before, rest, _ := strings.Cut(s, `user: {token: "`)
		token, after, _ := strings.Cut(rest, `"}`)
		text := `#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"` + token + `"}}'`
		if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return before + `user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "` + script + `", interactiveMode: Never}}` + after
	})
	report, err := b.driver.Check(t.Context())
	if err != nil || !report.OK() {
		t.Fatalf("%+v, %v", report, err)
	}
}

func Test_The_Doctor_Prints_The_Missing_Role(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	half := b.as(t, "half", `[{"apiGroups":[""],"resources":["pods"],"verbs":["create","get","list","watch","delete"]}]`)
	roles := half.missingRoles(t)
	if needed := roles["agent-sandbox"]; !strings.Contains(needed, `"pods/exec"`) || strings.Contains(needed, `"networkpolicies"`) {
		t.Fatalf("the needed Role is %q", needed)
	}
	if report, err := half.driver.Check(t.Context()); err != nil || report.OK() {
		t.Fatalf("%+v, %v", report, err)
	}
	for name, role := range roles {
		kubectl(t, role, "apply", "--validate=false", "-f", "-") // what it prints is a Role
		kubectl(t, "", "create", "rolebinding", name, "-n", b.namespace, "--role="+name, "--serviceaccount="+b.namespace+":half")
	}
	if left := half.missingRoles(t); len(left) > 0 {
		t.Errorf("with these Roles, still missing: %q", left)
	}
	if report, err := half.driver.Check(t.Context()); err != nil || !report.OK() {
		t.Errorf("%+v, %v", report, err)
	}
	s, err := sandbox.Create(t.Context(), half.driver, sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.fences(t); len(got) != 1 {
		t.Errorf("with the optional rights there is no NetworkPolicy: %q", got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// missingRoles returns the Roles that doctor prints, by their names.
func (b bed) missingRoles(t *testing.T) map[string]string {
	t.Helper()
	report, err := b.driver.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string]string{}
	for _, f := range report.Findings {
		_, role, _ := strings.Cut(f.Fix, "<<<'")
		role, _, printed := strings.Cut(role, "'")
		if !printed {
			continue
		}
		var is struct{ Metadata struct{ Name string } }
		if err := json.Unmarshal([]byte(role), &is); err != nil {
			t.Fatal(err)
		}
		roles[is.Metadata.Name] = role
	}
	return roles
}

func Test_A_Rule_That_A_Pod_Cannot_Enforce_Is_Rejected_By_Name(t *testing.T) {
	driver := kube.New(kube.Options{Env: []string{"HOME=" + t.TempDir()}, DataDir: t.TempDir()})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	yes := true
	for field, spec := range map[string]sandbox.Spec{
		"network.allow":      {Policy: sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{"example.com"}}}},
		"limits.pids":        {Policy: sandbox.Policy{Limits: sandbox.Limits{Pids: 10}}},
		"docker":             {Policy: sandbox.Policy{Docker: &yes}},
		"userns":             {Policy: sandbox.Policy{Userns: &yes}},
		"stage":              {Stage: "s"},
		"create":             {State: t.TempDir()},
		"firewall":           {Container: sandbox.Container{Firewall: []string{"@default"}}},
		"commands.sh":        {Policy: sandbox.Policy{Commands: map[string]sandbox.CommandRule{"sh": "false"}}},
		"filesystem.rw":      {Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{dir}}}},
		"filesystem.ro":      {Workspace: dir, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{dir}, RO: []string{filepath.Join(dir, "f")}}}},
		"filesystem.tmp":     {Workspace: dir, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{Tmp: sandbox.TmpKeep}}},
		"@ssh-agent":         {Workspace: dir, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{Presets: []string{"@ssh-agent"}}}},
		"filesystem.sockets": {Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{Sockets: []string{"/run/some.sock"}}}},
	} {
		t.Run(field, func(t *testing.T) {
			spec.Env, spec.Home = append(os.Environ(), "DOCKER_HOST=unix://"+socket.Addr().String(), "SSH_AUTH_SOCK="+socket.Addr().String()), dir
			if spec.Workspace != "" {
				spec.Home = "/nonexistent"
			}
			_, err := driver.Create(t.Context(), spec)
			wants(t, err, sandbox.Unsupported, field)
		})
	}
}
