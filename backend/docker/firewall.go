package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/backend/docker/hostsfile"
	"github.com/seed434b0696/agent-sandbox/internal/firewall"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// renewal is the interval at which host names are resolved again: content networks move them within minutes.
const renewal = 5 * time.Minute

// applyFirewall lets the container's network namespace reach only the hosts of the list, before anything but the guest runs.
func (i *instance) applyFirewall(ctx context.Context, h holding) error {
	found, err := i.engine.ContainerInspect(ctx, h.container, client.ContainerInspectOptions{})
	if err != nil {
		return i.engine.Wrap(err, "look at the container")
	}
	if found.Container.State == nil || found.Container.State.Pid <= 0 {
		return sandbox.Errorf(sandbox.Closed, "the container has ended")
	}
	netns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", found.Container.State.Pid))
	if err != nil {
		return sandbox.Errorf(sandbox.Unavailable, "the container's network cannot be reached: %w", err).
			WithHint("run this as root, or use --allow in the place of --firewall: a proxy needs no rights")
	}
	rules := firewall.Rules{Allow: append(slices.Clone(i.spec.Firewall), registry(i.spec)...)}
	report, err := firewall.Apply(ctx, netns, rules)
	if err == nil {
		err = appendTo(found.Container.HostsPath, report.HostsFile())
	}
	if err != nil {
		return errors.Join(err, netns.Close())
	}
	i.warn(report)
	h.network.run(func(ctx context.Context) {
		defer netns.Close()
		i.renew(ctx, netns, rules, report, found.Container.HostsPath)
	})
	return nil
}

// registry returns the address of the npm registry of the user's environment, which @default allows, too.
func registry(spec sandbox.Spec) []string {
	if !slices.Contains(spec.Firewall, "@default") {
		return nil
	}
	for _, kv := range spec.Env {
		name, value, _ := strings.Cut(kv, "=")
		at, err := url.Parse(value)
		if !strings.EqualFold(name, "NPM_CONFIG_REGISTRY") || err != nil || at.Hostname() == "" {
			continue
		}
		port := at.Port()
		if port == "" && at.Scheme == "https" {
			port = "443"
		} else if port == "" {
			port = "80"
		}
		return []string{net.JoinHostPort(at.Hostname(), port)}
	}
	return nil
}

func (i *instance) warn(r firewall.Report) {
	for _, w := range r.Warnings {
		i.driver.options.Trace("firewall", w)
	}
}

// renew resolves the names again until ctx ends. A failure closes the firewall until the next attempt.
func (i *instance) renew(ctx context.Context, netns *os.File, rules firewall.Rules, report firewall.Report, hosts string) {
	again := time.NewTicker(renewal)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		next, err := firewall.Update(ctx, netns, rules, report)
		if err == nil && next.HostsFile() != report.HostsFile() {
			err = hostsfile.Replace(hosts, report.HostsFile(), next.HostsFile())
		}
		if err != nil {
			i.driver.options.Trace("firewall", err.Error())
			continue
		}
		report = next
		i.warn(report)
	}
}

// appendTo adds lines to the container's hosts(5), which the engine writes anew at each start.
func appendTo(name, lines string) error { return hostsfile.Replace(name, "", lines) }
