package kube_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/client-go/rest"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// A program that has a client configuration of its own gives it to the driver.
func ExampleNew() {
	ctx := context.Background()
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	driver := kube.New(kube.Options{Config: config, Namespace: "agents", Image: "python:3.12"})
	box, err := sandbox.Create(ctx, driver, sandbox.Spec{Workspace: "/srv/project"})
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close(ctx)
	result, err := box.Run(ctx, sandbox.Cmd{Args: []string{"python", "-m", "unittest"}})
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Printf("%s%s", result.Stdout, result.Stderr)
}
