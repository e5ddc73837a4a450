//go:build linux

package network

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"path/filepath"
	"strings"
)

// site is the web server of all hosts.
func (n *Internet) site() http.Handler {
	git := &cgi.Handler{
		Path: filepath.Join(n.key.gitExec, "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + n.Dir, "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
	}
	n.handlers = map[string]http.Handler{"git.test": git, "npm.test": npmRegistry(), "pypi.test": pythonIndex(), "goproxy.test": goProxy()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if h := n.handler(host); h != nil {
			h.ServeHTTP(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, "hello from %s\n", r.Host)
	})
}

// static serves bodies by path.
type static map[string][]byte

// ServeHTTP answers GET and HEAD.
func (s static) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := s[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/") {
		w.Header().Set("Content-Type", "text/html")
	}
	_, _ = w.Write(body)
}

// npmRegistry has one package, hello-test.
func npmRegistry() http.Handler {
	const manifest = `{"name":"hello-test","version":"1.0.0","main":"index.js"}`
	var file bytes.Buffer
	zipped := gzip.NewWriter(&file)
	archive := tar.NewWriter(zipped)
	for _, f := range []struct{ name, text string }{{"package.json", manifest}, {"index.js", "module.exports = 'hello from npm';\n"}} {
		must(archive.WriteHeader(&tar.Header{Name: "package/" + f.name, Mode: 0o644, Size: int64(len(f.text)), Format: tar.FormatUSTAR}))
		_, err := archive.Write([]byte(f.text))
		must(err)
	}
	must(archive.Close())
	must(zipped.Close())
	sum := sha512.Sum512(file.Bytes())
	var version map[string]any
	must(json.Unmarshal([]byte(manifest), &version))
	version["dist"] = map[string]string{
		"tarball":   "https://npm.test/hello-test/-/hello-test-1.0.0.tgz",
		"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
	document, err := json.Marshal(map[string]any{
		"name": "hello-test", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": version},
	})
	must(err)
	return static{"/hello-test": document, "/hello-test/-/hello-test-1.0.0.tgz": file.Bytes()}
}

// pythonIndex has one package, hello-test.
func pythonIndex() http.Handler {
	const wheel = "hello_test-1.0.0-py3-none-any.whl"
	files := [][2]string{
		{"hello_test.py", "text = 'hello from pypi'\n"},
		{"hello_test-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: hello-test\nVersion: 1.0.0\n"},
		{"hello_test-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	}
	record := "hello_test-1.0.0.dist-info/RECORD,,\n"
	for _, f := range files {
		sum := sha256.Sum256([]byte(f[1]))
		record = fmt.Sprintf("%s,sha256=%s,%d\n", f[0], base64.RawURLEncoding.EncodeToString(sum[:]), len(f[1])) + record
	}
	file := zipOf(append(files, [2]string{"hello_test-1.0.0.dist-info/RECORD", record}))
	sum := sha256.Sum256(file)
	return static{
		"/simple/hello-test/": fmt.Appendf(nil, "<!DOCTYPE html><html><body><a href=\"/%s#sha256=%s\">%[1]s</a></body></html>\n", wheel, hex.EncodeToString(sum[:])),
		"/" + wheel:           file,
	}
}

// goProxy has one module, hello.test/hello.
func goProxy() http.Handler {
	const module, prefix = "module hello.test/hello\n\ngo 1.20\n", "hello.test/hello@v1.0.0/"
	return static{
		"/hello.test/hello/@v/list":        []byte("v1.0.0\n"),
		"/hello.test/hello/@v/v1.0.0.info": []byte(`{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}`),
		"/hello.test/hello/@v/v1.0.0.mod":  []byte(module),
		"/hello.test/hello/@v/v1.0.0.zip":  zipOf([][2]string{{prefix + "go.mod", module}, {prefix + "hello.go", "package hello\n\nconst Text = \"hello from go\"\n"}}),
	}
}

func zipOf(files [][2]string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		e, err := w.Create(f[0])
		must(err)
		_, err = e.Write([]byte(f[1]))
		must(err)
	}
	must(w.Close())
	return out.Bytes()
}

// must panics for an error of writing to memory, which never fails.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
