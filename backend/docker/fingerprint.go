package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Fingerprint returns a hash of the plan, the image and the user of commands. With secrets it includes the whole
// environment, from which their values come.
func (d *Driver) Fingerprint(ctx context.Context, spec sandbox.Spec) (string, error) {
	plan, err := resolve(spec)
	if err != nil {
		return "", err
	}
	if err := checkSupported(spec, plan); err != nil {
		return "", err
	}
	c, err := d.engine(ctx, "")
	if err != nil {
		return "", err
	}
	found, err := d.inspect(ctx, c, d.imageName(spec), plan.Commands)
	if err != nil {
		return "", err
	}
	user, err := found.SandboxUser(plan.Workspace, false)
	if err != nil {
		return "", err
	}
	program, err := d.guest()
	if err != nil {
		return "", err
	}
	var secrets []string
	if len(plan.Secrets) > 0 {
		secrets = spec.Env
	}
	data, err := json.Marshal([]any{
		c.Host, plan, spec.Target, spec.Volumes, spec.Firewall, registry(spec), found.ID, user.Identity(), program, secrets,
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), nil
}
