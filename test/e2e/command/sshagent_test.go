package command_test

import (
	"os/exec"
	"regexp"
	"testing"
)

// beginsAgent starts an agent with one key, whose public half is in the home with a list of signers, and sets git up to sign
// with it. The private half is nowhere but in the agent.
const beginsAgent = `exec 2>&1; eval $(ssh-agent) >/dev/null; trap 'kill $SSH_AGENT_PID' EXIT
	mkdir -m 700 ~/.ssh; ssh-keygen -qt ed25519 -N '' -C key -f ~/.ssh/id_ed25519; ssh-add -q ~/.ssh/id_ed25519; rm ~/.ssh/id_ed25519
	echo "me@example.com $(cat ~/.ssh/id_ed25519.pub)" >~/.ssh/allowed_signers
	git config --global gpg.format ssh; git config --global user.signingKey ~/.ssh/id_ed25519.pub; git config --global gpg.ssh.allowedSignersFile ~/.ssh/allowed_signers
	box="agent-sandbox exec --preset @ssh-agent --"
`

func Test_The_SSH_Agent_Signs_And_Cannot_Be_Changed(t *testing.T) {
	if err := unavailable(t); err != nil {
		t.Skipf("bubblewrap cannot run here: %v", err)
	}
	for _, name := range []string{"ssh-agent", "ssh-add", "ssh-keygen"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is missing; install openssh-client", name)
		}
	}
	const listed = `256 SHA256:\S+ key \(ED25519\)\n`
	for who, all := range newDaysOfUsers(t) {
		for _, c := range []struct {
			name, script, want string // want is a regular expression for the whole output
		}{
			{"identities are listed", `$box ssh-add -l`, listed},
			{
				"commits are signed", `$box git commit -q -S --allow-empty -m signed && git verify-commit HEAD; $box git verify-commit HEAD`,
				`(Good "git" signature for me@example.com with ED25519 key SHA256:\S+\n){2}`,
			},
			{"other files of ~/.ssh stay hidden", `echo x >~/.ssh/config; $box cat ~/.ssh/config; $box ls ~/.ssh`, `cat: .*\nallowed_signers\nid_ed25519.pub\n`},
			{
				"no identity is removed", `$box ssh-add -D; $box ssh-add -d ~/.ssh/id_ed25519.pub; ssh-add -l; ssh-add -qD; ssh-add -l`,
				`(?s)Failed to remove all identities\.\nagent-sandbox: refused:\n  ask ssh-agent to remove all identities: commands may list identities and sign with them \(@ssh-agent, built in\)\n` +
					`Could not remove identity .*agent-sandbox: refused:\n  ask ssh-agent to remove an identity: .*\n` + listed + `The agent has no identities\.\n`,
			},
			{
				"no identity is added", `ssh-keygen -qt ed25519 -N '' -C new -f k; $box ssh-add k; $box ssh-add -t 60 k; ssh-add -l; ssh-add -q k; ssh-add -l | wc -l`,
				`(?s)(Could not add identity "k": .*?\nagent-sandbox: refused:\n  ask ssh-agent to add an identity: .*?\n){2}` + listed + `2\n`,
			},
			{
				"it is not locked", `printf 'x\nx\n' >p; lock() { SSH_ASKPASS_REQUIRE=force SSH_ASKPASS=$PWD/ask "$@"; }; printf '#!/bin/sh\necho x\n' >ask; chmod +x ask
				agent-sandbox exec --preset @ssh-agent --env SSH_ASKPASS_REQUIRE=force --env SSH_ASKPASS=$PWD/ask -- ssh-add -x; ssh-add -l; lock ssh-add -x; ssh-add -l`,
				`(?s)Failed to lock agent.*?\nagent-sandbox: refused:\n  ask ssh-agent to lock the agent: .*?\n` + listed + `Agent locked\.\nThe agent has no identities\.\n`,
			},
			{"without the preset there is none", `agent-sandbox exec -- ssh-add -l; agent-sandbox exec -- sh -c 'echo $SSH_AUTH_SOCK'`, `Could not open a connection to your authentication agent\.\n\n`},
			{
				"a persistent sandbox has it until it ends",
				`agent-sandbox create --preset @ssh-agent s; agent-sandbox exec --in s -- ssh-add -l; agent-sandbox exec --in s -- ssh-add -D; agent-sandbox destroy s; ssh-add -l; ls -A ~/.local/share/agent-sandbox/ssh-agents`,
				`(?s)s\n` + listed + `Failed to remove .*refused:\n  ask ssh-agent to remove all .*?\n` + listed,
			},
			{"with the other options", `for o in --userns --network --stage '--tmp keep'; do agent-sandbox exec $o --preset @ssh-agent -- ssh-add -l; done`, `(?s)(` + listed + `.*?){4}`},
			{
				"a project's file cannot ask for it", `echo '{"filesystem": {"presets": ["@ssh-agent"]}}' >.agent-sandbox.json; agent-sandbox exec -- ssh-add -l; rm .agent-sandbox.json`,
				`agent-sandbox: .*filesystem.presets\[0\]: a project file may only tighten the policy\nhint: .*\n`,
			},
			{
				"an agent that is missing", `SSH_AUTH_SOCK= $box true; SSH_AUTH_SOCK=/nowhere $box true; $box sh -c 'kill '$SSH_AGENT_PID'; true'; kill $SSH_AGENT_PID; trap EXIT; $box ssh-add -l`,
				`(?s)agent-sandbox: .*@ssh-agent: no SSH agent: SSH_AUTH_SOCK is not set to an absolute path\nhint: start it: .*?\n` +
					`agent-sandbox: .*@ssh-agent: /nowhere of SSH_AUTH_SOCK is not a socket\nhint: .*`,
			},
			{"another backend", `agent-sandbox exec --backend virtual --preset @ssh-agent -- true`, `agent-sandbox: .*@ssh-agent: this backend does not serve the SSH agent\nhint: .*\n`},
			{"explain", `agent-sandbox explain --preset @ssh-agent | grep 'ssh agent'; agent-sandbox explain --preset @all | grep 'ssh agent'`, ` +ssh agent +identities and signatures of /tmp/\S+\n +ssh agent +no\n`},
		} {
			t.Run(who+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				out, _ := all.begin(t).run(t, beginsAgent+c.script) // the output contains the errors
				if !regexp.MustCompile(`\A` + c.want + `\z`).MatchString(out) {
					t.Errorf("printed %q, want %s", out, c.want)
				}
			})
		}
	}
}
