//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// stageFlags are the flags of most cases here.
var stageFlags = []string{"--stage"}

const stagesDir = "home/.local/share/agent-sandbox/stages"

// staging returns attempts on the tree from a stage of it: nothing in the tree changes until the stage is applied.
func staging() []escape {
	tree := holdUnchanged("")
	return []escape{
		{
			ID: "A26.1", Name: "a staged command changes nothing in the tree, by any path", Flags: stageFlags, Hold: tree,
			Setup: func(h *host) { h.runScript(`ln -s project {home}/alias`) },
			Sh: `for d in . {work} {home}/alias {home}/wt/../project /oldroot{work} /newroot{work} /proc/self/cwd/../project; do
					echo x >$d/planted; echo x >>$d/src/main.go; chmod 777 $d; done
				rm package.json; mv src src2; ln -s /etc etc; mkdir new; git commit -qam x`,
		},
		{
			ID: "A26.2", Name: "no process's root, directory or descriptor leads a staged command to the tree", Flags: stageFlags, Hold: holdAll(tree, holdStoreUntouched),
			Sh: processesScript + `for p in $procs; do
				for d in $p/root{work} $p/cwd $p/cwd{work}; do echo x >$d/planted; echo x >>$d/src/main.go; done
				[ "$inside" ] || continue
				for f in $p/fd/*; do case $f in */[012]) continue;; esac; echo x >$f; chmod 777 $f; echo x >$f/planted; echo x >$f/../planted; done
				done 2>/dev/null`,
		},
		{
			ID: "A26.3", Name: "hard links, renames and exchanges stay in the view", Flags: stageFlags, Hold: tree,
			Sh: `ln src/main.go l && echo x >>l; mv package.json p && echo x >>p; {attacker} exchange src/main.go .gitignore
				mkdir -p {scratch}; ln src/main.go {scratch}/l && echo x >>{scratch}/l; mv ignored {scratch}/i
				mv ../project ../moved && mkdir ../project`,
		},
		{
			ID: "A26.4", Name: "a mount of its own shows a staged command nothing below the view", Flags: []string{"--stage", "--userns"}, Hold: tree,
			Sh: `for s in 'umount {work}' 'umount -l {work}' 'mount --bind {home} /mnt; cd /mnt/project' 'mount --rbind / /mnt; umount /mnt{work}; cd /mnt{work}' \
					'mount -t overlay o -o lowerdir={work},upperdir={work},workdir={tmp} /mnt; cd /mnt'; do
				unshare --user --map-root-user --mount sh -c "$s; echo x >planted; cd {work}; echo x >planted"; done; echo x >{work}/src/main.go`,
		},
		{
			ID: "A26.5", Name: "a writable directory around the tree does not open it to a staged command", Flags: []string{"--stage", "--rw", "{home}"}, Hold: tree,
			Sh: `cd {home}; echo x >project/planted; echo x >>project/src/main.go; mv project/package.json project/p; mv project {tmp}/gone; rmdir project`,
		},
		{
			ID: "A26.6", Name: "a staged command writes nothing into the store of stages", Flags: stageFlags, Hold: holdAll(tree, holdStoreUntouched),
			Setup: createOtherStage,
			Sh: `d={home}/.local/share/agent-sandbox/stages
				for f in $d $d/* $d/*/upper $d/*/work; do echo x >$f/planted; mkdir $f/made; chmod 777 $f; done
				for f in $d/*/stage.json $d/*/lock; do [ -f $f ] && echo x >>$f; rm -f $f; done; mv $d ${d}2; echo x >{work}/planted`,
		},
		{
			ID: "A26.7", Name: "what another stage holds is not read", Setup: createOtherStage, Flags: stageFlags,
			Sh: `cat {home}/.local/share/agent-sandbox/stages/*/upper/secret; ls {home}/.local/share/agent-sandbox/stages/*/upper && echo OPEN it lists a stage`,
		},
		{
			ID: "A26.8", Name: "a hook that got into a stage is not applied unnamed", Flags: []string{"--stage", "--rw", "{work}/.git/hooks", "--rw", "{work}/.envrc"},
			Sh:   hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; ` + hookScript + `.envrc; mkdir -p nested; cp -r .git nested/.git`,
			Hold: holdAll(holdApplied, holdGitSafe("{work}/nested"), holdAbsent("{work}/.envrc", "{work}/nested/.git")),
		},
		{
			ID: "A26.9", Name: "a file of the tree on standard input stays as it is", Hold: tree,
			Flags:  stageFlags,
			Launch: []string{"/bin/sh", "-c", `exec {run} sh -c 'echo x >/proc/self/fd/0; echo tried' <{work}/src/main.go`},
			Sh:     `exec <{work}/src/main.go; echo x >/proc/self/fd/0`,
		},
		{
			ID: "A26.10", Name: "what a staged command leaves behind does not write later", Flags: stageFlags, Hold: holdAll(tree, holdApplied),
			Sh: processesScript + `{attacker} sleep >/dev/null 2>&1 & (setsid sh -c 'sleep 3; echo x >{work}/late; echo x >>{work}/src/main.go' >/dev/null 2>&1 &)
				[ "$inside" ] || { echo x >>src/main.go; kill %1; }`,
		},
	}
}

// createOtherStage makes a stage of the same tree that holds a secret.
func createOtherStage(h *host) {
	h.mustRun(h.work, fixture.command, "exec", "--stage=other", "--", "sh", "-c", "echo "+canary+" >secret")
}

// holdStoreUntouched returns an error if something in the store has changed, except the attempt's own stage.
func holdStoreUntouched(h *host, _ outcome) error {
	changed, err := h.changes(h.path(stagesDir))
	if err != nil {
		return err
	}
	var bad []string
	for _, p := range changed {
		name, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(p, stagesDir), "/"), "/")
		own := strings.HasSuffix(name, "-default") && (rest == "" || strings.HasPrefix(rest, "upper") || strings.HasPrefix(rest, "work") ||
			slices.Contains([]string{"lock", "holder.json", "stage.json", "renewed.json"}, rest))
		if name != "" && !own {
			bad = append(bad, p)
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("changed in the store: %q", bad)
	}
	return nil
}

// holdApplied applies the stage, as its user would.
func holdApplied(h *host, _ outcome) error {
	out, err := h.command(h.work, fixture.command, "stage", "apply").CombinedOutput()
	if err != nil && !strings.Contains(string(out), "kept in the stage") && !strings.Contains(string(out), "no stage of") {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}
