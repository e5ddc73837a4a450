package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// packages is the number of packages that npm installs.
	packages = 500
	// modules is the number of source files in each; with two more files, a package is as large as many published ones.
	modules = 12
)

// preparePackages makes a project of npm with its lock file, and a cache with the packages, which a registry on loopback serves
// once. Afterwards npm needs no network.
func (s *scene) preparePackages(ctx context.Context) error {
	archives := map[string][]byte{}
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if archives[name] == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(archives[name]) // npm reports what is missing
	}))
	defer registry.Close()
	type locked struct {
		Version      string            `json:"version"`
		Resolved     string            `json:"resolved,omitempty"`
		Integrity    string            `json:"integrity,omitempty"`
		Dependencies map[string]string `json:"dependencies,omitempty"`
	}
	top := locked{Version: "1.0.0", Dependencies: map[string]string{}}
	all := map[string]locked{}
	for i := range packages {
		name := fmt.Sprintf("bench-package-%d", i)
		archive, err := packageArchive(name)
		if err != nil {
			return err
		}
		archives[name] = archive
		sum := sha512.Sum512(archive)
		top.Dependencies[name] = "1.0.0"
		all["node_modules/"+name] = locked{
			Version: "1.0.0", Resolved: registry.URL + "/" + name + "/-/" + name + "-1.0.0.tgz",
			Integrity: "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
	}
	all[""] = top
	dir := filepath.Join(s.project, "packages")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for file, content := range map[string]any{
		"package.json":      map[string]any{"name": "bench", "version": "1.0.0", "dependencies": top.Dependencies},
		"package-lock.json": map[string]any{"name": "bench", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": all},
	} {
		data, err := json.Marshal(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--registry", registry.URL, "--cache", filepath.Join(s.project, "npm-cache"),
		"--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("set-up of npm: %w\n%s", err, out)
	}
	return os.RemoveAll(filepath.Join(dir, "node_modules"))
}

// packageArchive returns a package as a registry serves it.
func packageArchive(name string) ([]byte, error) {
	files := map[string]string{
		"package.json": fmt.Sprintf(`{"name":%q,"version":"1.0.0","main":"lib/0.js"}`, name),
		"README.md":    "# " + name + "\n",
	}
	for i := range modules {
		dir := []string{"lib", "lib/internal", "types"}[i%3]
		files[fmt.Sprintf("%s/%d.js", dir, i)] = strings.Repeat("exports.x = () => 1;\n", 40)
	}
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	for file, content := range files {
		if err := archive.WriteHeader(&tar.Header{Name: "package/" + file, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err := packed.Close()
	return out.Bytes(), err
}
