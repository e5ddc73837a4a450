// Package cluster is a client of a cluster's API server for the objects that make up sandboxes: pods, volume claims, network
// policies, and the Sandboxes of kubernetes-sigs/agent-sandbox.
package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Cluster is a client of an API server for one namespace. It is safe for concurrent use; callers do not change its fields.
type Cluster struct {
	config            *rest.Config
	rest              rest.Interface
	params            runtime.ParameterCodec
	Context           string // its name in the kubeconfig; empty: this process runs in a pod of the cluster
	Namespace         string
	LacksImageVolumes atomic.Bool // set by the first pod that the server created without its image volume
	discovery         discovery
}

// silence stops the client library's writes to standard error: it returns the same failures as errors. The library has one
// logger per process, so it is set once.
var silence = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// Options select a cluster and a namespace.
type Options struct {
	Config    *rest.Config // of the program; nil: the next two locate the cluster
	Env       []string     // "K=V"; KUBECONFIG and HOME are read
	Context   string       // of the kubeconfig; empty: its current one
	Namespace string       // empty: the context's, with Config "default"
}

// Open finds a cluster as kubectl does: the kubeconfig that KUBECONFIG names, or that of the home directory, with its
// credential plugins; without a kubeconfig the cluster in which this process runs. It sends no request.
func Open(o Options) (*Cluster, error) {
	if o.Config != nil { // the program has chosen its logger, too
		return open(rest.CopyConfig(o.Config), "", cmp.Or(o.Namespace, metav1.NamespaceDefault))
	}
	silence()
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: kubeconfigs(o.Env), WarnIfAllMissing: false}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	config, err := loader.ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) {
			return nil, sandbox.Errorf(sandbox.Unavailable, "no cluster: there is no kubeconfig").WithHint("name one in KUBECONFIG")
		}
		return nil, sandbox.Errorf(sandbox.Invalid, "kubeconfig: %w", OneLine(err)).WithHint("'kubectl config get-contexts' lists the contexts")
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "kubeconfig: %w", OneLine(err))
	}
	namespace := o.Namespace
	if namespace == "" {
		if namespace, _, err = loader.Namespace(); err != nil {
			return nil, sandbox.Errorf(sandbox.Invalid, "kubeconfig: %w", OneLine(err))
		}
	}
	return open(config, cmp.Or(o.Context, raw.CurrentContext), namespace)
}

// open returns a client with a configuration, which it changes.
func open(config *rest.Config, name, namespace string) (*Cluster, error) {
	config.QPS = -1 // the server has its own fairness
	config.UserAgent = "agent-sandbox"
	config.WarningHandler = rest.NoWarnings{}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	config.APIPath, config.GroupVersion = "/api", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	version, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "kubeconfig: %w", OneLine(err))
	}
	version.Path = path.Join("/", version.Path, "version") // of the server, which may lie behind a gateway's path
	known := &atomic.Bool{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return identifier{next: next, server: config.Host, version: version, known: known}
	})
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "kubeconfig: %w", OneLine(err))
	}
	return &Cluster{config: config, rest: client, params: runtime.NewParameterCodec(scheme), Context: name, Namespace: namespace}, nil
}

func kubeconfigs(env []string) []string {
	var home string
	for _, kv := range env {
		if list, ok := strings.CutPrefix(kv, "KUBECONFIG="); ok && list != "" {
			return filepath.SplitList(list)
		}
		if v, ok := strings.CutPrefix(kv, "HOME="); ok {
			home = v
		}
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".kube", "config")}
}

// send sends a request about an object that the client has no type for, in JSON: the types of an API group make every program
// larger. A nil in sends no body, a nil out ignores the answer's.
func (c *Cluster) send(ctx context.Context, r *rest.Request, in, out any, what string) error {
	r = r.SetHeader("Accept", "application/json")
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		r = r.SetHeader("Content-Type", "application/json").Body(body)
	}
	data, err := r.Do(ctx).Raw()
	if err == nil && out != nil {
		err = json.Unmarshal(data, out)
	}
	return c.wrap(err, what)
}

// watch watches the objects that a field selector selects, from a resource version on.
func (c *Cluster) watch(ctx context.Context, resource, fields, version string) (watch.Interface, error) {
	options := &metav1.ListOptions{FieldSelector: fields, ResourceVersion: version, Watch: true}
	w, err := c.rest.Get().Namespace(c.Namespace).Resource(resource).VersionedParams(options, c.params).Watch(ctx)
	return w, c.wrap(err, "watch "+resource)
}
