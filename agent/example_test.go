package agent_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Example() {
	ctx := context.Background()
	root, err := assistant.Open("examples/assistants")
	if err != nil {
		fmt.Println(err)
		return
	}
	root.Own = true // the root is trusted, with its hooks and servers
	driver := bwrap.New(bwrap.Options{})
	p, err := agent.New(ctx, agent.Options{
		Assistants: root,
		Env:        os.Environ(), // where connectors find their keys
		Isolation: func(*assistant.Assistant) (sandbox.Driver, sandbox.Spec, error) {
			return driver, sandbox.Spec{Env: os.Environ()}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	answer, err := p.Run(ctx, agent.Request{
		User: "ann", Assistant: "helper", Prompt: message.New(message.User, "What is in this repository?"),
	}, func(e event.Event) { fmt.Print(e.Text) })
	fmt.Println(answer.Content, err)
}
