# A repository with a hook, branches, conflicts, signatures, a worktree and a submodule. New worktrees are made outside.
# needs: git ssh-keygen
export GIT_CONFIG_NOSYSTEM=1
git config --global user.name journey; git config --global user.email journey@example.com; git config --global init.defaultBranch main
git config --global protocol.file.allow always; git config --global advice.detachedHead false
ssh-keygen -q -t ed25519 -N '' -C journey -f ~/key; git config --global gpg.format ssh; git config --global user.signingkey ~/key.pub
echo "journey@example.com $(cat ~/key.pub)" >~/signers; git config --global gpg.ssh.allowedSignersFile ~/signers
git init -q ../library; git -C ../library commit -q --allow-empty -m library
git init -q; printf 'one\n' >a; git add a; git commit -qm first
git submodule --quiet add "$PWD/../library" lib; git commit -qm submodule
printf '#!/bin/sh\necho hook: $(git diff --cached --name-only | tr "\\n" " ")\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
git worktree add -q -b side wt
# inside
for n in 1 2 3; do echo $n >f$n; git add f$n; git commit -qm "add f$n"; done
git checkout -q -b topic HEAD~2; echo topic >f2; git add f2; git commit -qm topic
git rebase main 2>/dev/null || { echo both >f2; git add f2; GIT_EDITOR=true git rebase --continue >/dev/null 2>&1; }
git log --topo-order --format=%s main..topic; cat f2
git checkout -q main; git merge -q --no-ff -m merge topic; git cherry-pick -n topic >/dev/null 2>&1 || git cherry-pick --abort
git stash list; echo dirty >>a; git stash -q; git stash pop -q; git diff --stat; git commit -qam dirty
(cd wt && git log -1 --format=%s && echo wt >g && git add g && git commit -qm worktree); git log -1 --format=%s side; git branch --format='%(refname:short)'
git submodule status | cut -c1,42-; (cd lib && git log --format=%s)
git tag v1; git describe --tags; git gc -q; git fsck >/dev/null 2>&1; echo $?; git grep -n both; git blame -s f2 | cut -c10-; c=$(mktemp -d); git clone -q . $c/copy; git -C $c/copy log --first-parent --format=%s | head -3; rm -rf $c; git status --short
git commit -qS --allow-empty -m signed; git log -1 --format='%G? %GS'; git tag -s -m v2 v2; git verify-tag v2 2>&1 | cut -d' ' -f1-4
