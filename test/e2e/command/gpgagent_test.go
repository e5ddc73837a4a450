package command_test

import (
	"os/exec"
	"regexp"
	"testing"
)

// beginsGPG starts a GnuPG agent with one key that has a passphrase, which a pinentry of the user answers, and sets git up to sign with
// it. The pinentry writes what it shows to ~/asked.
const beginsGPG = `exec 2>&1; export GNUPGHOME=~/gnupg; mkdir -m 700 $GNUPGHOME
	cat >~/pinentry <<'F'
#!/bin/bash
echo OK
while read -r word rest; do
	case $word in
	SETDESC) echo "$rest" >>~/asked ;;
	GETPIN) echo D pass ;;
	esac
	echo OK
done
F
	chmod +x ~/pinentry; echo "pinentry-program $HOME/pinentry" >$GNUPGHOME/gpg-agent.conf; echo ignore-cache-for-signing >>$GNUPGHOME/gpg-agent.conf
	gpg --batch --quiet --pinentry-mode loopback --passphrase pass --quick-gen-key 'Me <me@example.com>' ed25519 sign 0 2>/dev/null
	gpg --check-trustdb 2>/dev/null; trap 'gpgconf --kill gpg-agent' EXIT
	git config --global user.signingKey me@example.com
	box="agent-sandbox exec --preset @gpg-agent --"
	forbid() { sed -n 's/^ERR .* \(Forbidden\) .*/\1/p'; }
`

func Test_The_GnuPG_Agent_Signs_And_Gives_No_Key(t *testing.T) {
	if err := unavailable(t); err != nil {
		t.Skipf("bubblewrap cannot run here: %v", err)
	}
	for _, name := range []string{"gpg", "gpg-agent", "gpg-connect-agent"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is missing; install gnupg", name)
		}
	}
	for who, all := range newDaysOfUsers(t) {
		for _, c := range []struct {
			name, script, want string // want is a regular expression for the whole output
		}{
			{
				"commits are signed", `$box git commit -q -S --allow-empty -m signed && git verify-commit HEAD; $box git verify-commit HEAD; sed 's/%0A.*//' ~/asked`,
				`(gpg: Signature made .*\n(gpg:  .*\n)+gpg: Good signature from "Me <me@example.com>" \[ultimate\]\n){2}A command in a sandbox of agent-sandbox asks to sign\.\n`,
			},
			{"keys are listed", `$box gpg -K --with-colons | grep -c ^sec:; $box gpg -k --with-colons | grep -c ^pub:`, `1\n1\n`},
			{
				"no file of the secret keys is inside", `ls $GNUPGHOME/private-keys-v1.d | wc -l; $box sh -c 'ls -A $GNUPGHOME | sort; ls '$GNUPGHOME`,
				`1\nS.gpg-agent\npubring.kbx\ntrustdb.gpg\n`,
			},
			{
				"no key is exported, made or deleted",
				`gpg --batch --pinentry-mode loopback --passphrase pass --export-secret-keys | wc -c | grep -qx 0 || echo exported outside
				$box gpg --batch --pinentry-mode loopback --passphrase pass --export-secret-keys 2>/dev/null | wc -c
				$box gpg --batch --passphrase '' --quick-gen-key other 2>/dev/null; $box gpg --batch --yes --delete-secret-keys $(gpg -K --with-colons | sed -n '/^fpr/{s/fpr:*//;s/:.*//p}') 2>/dev/null
				gpg -K --with-colons | grep -c ^sec:`,
				`exported outside\n0\n1\n`,
			},
			{
				"other requests are refused", `grip=$(gpg -K --with-colons --with-keygrip | sed -n '/^grp/{s/grp:*//;s/:.*//p}')
				for request in "EXPORT_KEY $grip" "PRESET_PASSPHRASE $grip -1 00" "DELETE_KEY $grip" "PASSWD $grip" "GETINFO pid" "GET_PASSPHRASE X X X X" PKDECRYPT 'SCD SERIALNO' RELOADAGENT KILLAGENT 'OPTION pinentry-mode=loopback'; do
					$box gpg-connect-agent "$request" /bye 2>/dev/null | forbid
				done; $box gpg-connect-agent KILLAGENT /bye; gpg-connect-agent --no-autostart NOP /bye`,
				`(Forbidden\n){11}ERR .*\nagent-sandbox: refused:\n  ask gpg-agent to end the agent: commands may list keys and sign with them \(@gpg-agent, built in\)\nOK\n`,
			},
			{
				"a command does not choose the terminal of pinentry", `echo x >~/victim; $box sh -c 'GPG_TTY='$HOME'/victim git commit -q -S --allow-empty -m signed'; cat ~/victim; git verify-commit HEAD 2>&1 | grep -c Good`,
				`x\n1\n`,
			},
			{
				"changes of the keyring stay inside", `$box sh -c 'gpg --batch --yes --delete-keys me@example.com; rm $GNUPGHOME/pubring.kbx' >/dev/null 2>&1; gpg -k --with-colons | grep -c ^pub:`,
				`1\n`,
			},
			{"without the preset there is none", `agent-sandbox exec -q -- gpg -K 2>&1 | grep -c 'sec '`, `0\n`},
			{
				"a persistent sandbox has it until it ends",
				`agent-sandbox create --preset @gpg-agent s; agent-sandbox exec --in s -- git commit -q -S --allow-empty -m signed && git verify-commit HEAD 2>&1 | grep -c Good; agent-sandbox destroy s; ls -A ~/.local/share/agent-sandbox/ssh-agents`,
				`s\n1\n`,
			},
			{"with the other options", `for o in --userns --network --stage '--tmp keep' '--preset @ssh-agent'; do eval $(ssh-agent) >/dev/null; agent-sandbox exec -q $o --preset @gpg-agent -- gpg -K --with-colons 2>/dev/null | grep -c ^sec:; kill $SSH_AGENT_PID; done`, `(1\n){5}`},
			{
				"a project's file cannot ask for it", `echo '{"filesystem": {"presets": ["@gpg-agent"]}}' >.agent-sandbox.json; agent-sandbox exec -- gpg -K; rm .agent-sandbox.json`,
				`agent-sandbox: .*filesystem.presets\[0\]: a project file may only tighten the policy\nhint: .*\n`,
			},
			{
				"an agent or a keyring that is missing", `gpgconf --kill gpg-agent; $box true; GNUPGHOME=~/nowhere $box true; GNUPGHOME=nowhere $box true; gpgconf --launch gpg-agent
				echo use-keyboxd >$GNUPGHOME/common.conf; $box true`,
				`agent-sandbox: .*@gpg-agent: the GnuPG agent does not run: \S+/gnupg has no socket S.gpg-agent\nhint: start it: gpgconf --launch gpg-agent\n` +
					`agent-sandbox: .*@gpg-agent: no keyring: \S+/nowhere is not a directory\nhint: make a key: gpg --full-generate-key\n` +
					`agent-sandbox: .*@gpg-agent: "nowhere" of GNUPGHOME is not an absolute path\n` +
					`agent-sandbox: .*@gpg-agent: the public keys are with keyboxd \(use-keyboxd in \S+/common.conf\), expected a file pubring.kbx\n`,
			},
			{"another backend", `agent-sandbox exec --backend virtual --preset @gpg-agent -- true`, `agent-sandbox: .*@gpg-agent: this backend does not serve the GnuPG agent\nhint: .*\n`},
			{"explain", `agent-sandbox explain --preset @gpg-agent | grep 'gpg agent'; agent-sandbox explain --preset @all | grep 'gpg agent'`, ` +gpg agent +identities and signatures of /\S+\n +gpg agent +no\n`},
			{
				"the usual directory", `gpgconf --kill gpg-agent; mv $GNUPGHOME ~/.gnupg; unset GNUPGHOME; gpgconf --launch gpg-agent; $box git commit -q -S --allow-empty -m signed && git verify-commit HEAD 2>&1 | grep -c Good`,
				`1\n`,
			},
		} {
			t.Run(who+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				out, _ := all.begin(t).run(t, beginsGPG+c.script) // the output contains the errors
				if !regexp.MustCompile(`\A` + c.want + `\z`).MatchString(out) {
					t.Errorf("printed %q, want %s", out, c.want)
				}
			})
		}
	}
}
