package kube_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// modern returns the bed behind a proxy that reports a node with containerd 2.1. The proxy calls create with the text of each pod
// that is created; create may change it.
func (b bed) modern(t *testing.T, create func(body []byte) (changed []byte)) bed {
	t.Helper()
	server := serverAddress(t)
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // the testbed's certificate is its own
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "https", server
			if r.In.Method != http.MethodPost || !strings.HasSuffix(r.In.URL.Path, "/pods") {
				return
			}
			body, err := io.ReadAll(r.In.Body)
			if err != nil {
				t.Error(err)
			}
			body = create(body)
			r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		},
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path != "/api/v1/nodes" {
				return nil
			}
			const nodes = `{"apiVersion":"v1","kind":"NodeList","items":[{"status":{"nodeInfo":{"kubeletVersion":"v1.35.4","containerRuntimeVersion":"containerd://2.1.4"}}}]}`
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(nodes)), int64(len(nodes))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Content-Length", "")
			r.Header.Del("Content-Encoding")
			return nil
		},
	})
	t.Cleanup(proxy.Close)
	b.options.GuestImage = guestImage(t)
	return b.configured(t, func(s string) string { return strings.Replace(s, "https://"+server, proxy.URL, 1) })
}

func Test_The_API_Accepts_A_Pod_With_The_Guests_Image_As_A_Volume(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var sent []byte
	b = b.modern(t, func(body []byte) []byte { sent = bytes.Clone(body); return body })
	report, err := b.driver.Check(t.Context()) // with which the API checks a pod without creating it
	if err != nil || !report.OK() {
		t.Fatalf("%+v, %v", report, err)
	}
	answer := kubectl(t, string(sent), "create", "--raw", "/api/v1/namespaces/"+b.namespace+"/pods?dryRun=All", "-f", "-")
	var pod struct {
		Spec struct {
			Volumes []struct {
				Name  string
				Image *struct{ Reference, PullPolicy string }
			}
			InitContainers []struct{}
			Containers     []struct {
				Name         string
				VolumeMounts []struct {
					Name, MountPath string
					ReadOnly        bool
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(answer), &pod); err != nil {
		t.Fatal(err)
	}
	mounted := false
	for _, v := range pod.Spec.Volumes {
		mounted = mounted || v.Name == "guest" && v.Image != nil && v.Image.Reference == b.options.GuestImage && v.Image.PullPolicy == "IfNotPresent"
	}
	if !mounted || len(pod.Spec.InitContainers) > 0 {
		t.Errorf("the pod is %s", answer)
	}
	for _, c := range pod.Spec.Containers {
		for _, m := range c.VolumeMounts {
			if m.Name == "guest" && (c.Name != "sandbox" || m.MountPath != "/run/agent-sandbox" || !m.ReadOnly) {
				t.Errorf("%s has %+v", c.Name, m)
			}
		}
	}
}

func Test_An_API_Without_Image_Volumes_Gets_An_Init_Container(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	field := regexp.MustCompile(`"image":\{"reference":"[^"]*","pullPolicy":"IfNotPresent"\}`)
	for name, instead := range map[string]string{
		"one that refuses what is left":           `"image":{"reference":""}`,
		"one that makes an empty directory of it": `"emptyDir":{}`,
	} {
		t.Run(name, func(t *testing.T) {
			var asked []bool
			old := b.modern(t, func(body []byte) []byte {
				asked = append(asked, field.Match(body))
				return field.ReplaceAll(body, []byte(instead))
			})
			for range 2 {
				if res := old.run(t, sandbox.Spec{}, "echo", "runs"); string(res.Stdout) != "runs\n" {
					t.Errorf("%+v", res)
				}
			}
			if !slices.Equal(asked, []bool{true, false, false}) {
				t.Errorf("asked for image volumes: %v", asked)
			}
			if left, err := b.pods(t.Context()); err != nil || len(left) > 0 {
				t.Errorf("left: %q, %v", left, err)
			}
		})
	}
}
