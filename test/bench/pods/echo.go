package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
)

// echo is a program in a pod that sends its input back: it measures the round trip without agent-sandbox.
type echo struct {
	in     *io.PipeWriter
	out    *io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

func newEcho(ctx context.Context, namespace, pod string) (*echo, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/api", &corev1.SchemeGroupVersion, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	at := client.Get().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Command: []string{"cat"}, Stdin: true, Stdout: true,
	}, scheme.ParameterCodec).URL()
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", at.String())
	if err != nil {
		return nil, err
	}
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	e := &echo{in: in, out: out, done: make(chan struct{})}
	ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(e.done)
		err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: stdout})
		_ = stdout.CloseWithError(fmt.Errorf("cat has ended: %w", err)) // documented to return nil
	}()
	return e, nil
}

// once sends a byte, and waits until it returns.
func (e *echo) once(context.Context) error {
	if _, err := e.in.Write([]byte("x")); err != nil {
		return err
	}
	_, err := e.out.Read(make([]byte, 1))
	return err
}

func (e *echo) close() {
	_ = e.in.Close() // documented to return nil
	e.cancel()
	<-e.done
}
