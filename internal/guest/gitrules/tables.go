package gitrules

// optionTables contains the options of each command with a rule: those of git 2.39 and of
// later versions. The tables must be complete, because the value of an option such as
// "-m" must not be read as an option, and because an abbreviation is valid only if it
// fits one option of the command. A test compares them with real git.
var optionTables = []struct{ command, options string }{
	{"am", `i,interactive b,binary 3,3way q,quiet s,signoff u,utf8 k,keep keep-non-patch m,message-id keep-cr no-keep-cr
		c,scissors quoted-cr= whitespace= ignore-space-change ignore-whitespace directory= exclude= include= C= p= patch-format=
		reject resolvemsg= continue r,resolved skip abort quit show-current-patch? retry allow-empty n,no-verify
		committer-date-is-author-date ignore-date rerere-autoupdate S,gpg-sign? empty= rebasing`},
	{"branch", `v,verbose q,quiet t,track? set-upstream u,set-upstream-to= unset-upstream color? r,remotes contains= no-contains=
		with= without= abbrev? a,all d,delete D m,move M c,copy C l,list show-current create-reflog edit-description f,force
		merged= no-merged= column? sort= points-at= i,ignore-case recurse-submodules format= omit-empty`},
	{"checkout", `b= B= l guess overlay q,quiet recurse-submodules? progress m,merge conflict= d,detach t,track? f,force orphan=
		overwrite-ignore ignore-other-worktrees 2,ours 3,theirs p,patch U,unified= inter-hunk-context=
		ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul`},
	{"checkout-index", `a,all ignore-skip-worktree-bits f,force q,quiet n,no-create u,index z stdin temp prefix= stage=`},
	{"clean", `q,quiet n,dry-run f,force i,interactive d e,exclude= x X`},
	{"commit", `q,quiet v,verbose F,file= author= date= m,message= c,reedit-message= C,reuse-message= fixup= squash=
		reset-author trailer= s,signoff t,template= e,edit cleanup= status S,gpg-sign? a,all i,include interactive p,patch
		U,unified= inter-hunk-context= o,only n,no-verify dry-run short branch ahead-behind porcelain long z,null amend
		no-post-rewrite u,untracked-files? pathspec-from-file= pathspec-file-nul allow-empty allow-empty-message`},
	{"config", `global system local worktree f,file= blob= get get-all get-regexp get-urlmatch replace-all add append unset
		unset-all rename-section remove-section l,list fixed-value e,edit get-color get-colorbool t,type= bool int bool-or-int
		bool-or-str path expiry-date z,null name-only show-names includes show-origin show-scope default= value= regexp all
		url= comment=`},
	{"gc", `q,quiet prune? cruft max-cruft-size= expire-to= aggressive auto detach force keep-largest-pack`},
	{"merge", mergeOptions + ` into-name= m,message= F,file= abort quit continue overwrite-ignore n stat compact-summary`},
	{"prune", `n,dry-run v,verbose progress expire= exclude-promisor-objects`},
	{"pull", mergeOptions + ` r,rebase? n stat compact-summary a,append all upload-pack= f,force t,tags p,prune j,jobs? dry-run k,keep
		depth= shallow-since= shallow-exclude= deepen= unshallow update-shallow refmap= o,server-option= 4,ipv4 6,ipv6
		negotiation-tip= show-forced-updates set-upstream recurse-submodules? recurse-submodules-default? prefetch`},
	{"push", `v,verbose q,quiet repo= all branches mirror d,delete tags n,dry-run porcelain f,force force-with-lease?
		force-if-includes recurse-submodules= thin receive-pack= exec= u,set-upstream progress prune no-verify follow-tags
		signed? atomic o,push-option= 4,ipv4 6,ipv6`},
	{"read-tree", `index-output= empty v,verbose m trivial aggressive reset prefix= u i exclude-per-directory= n,dry-run
		no-sparse-checkout debug-unpack recurse-submodules? q,quiet super-prefix=`},
	{"rebase", `onto= keep-base no-verify q,quiet v,verbose n,no-stat signoff committer-date-is-author-date reset-author-date
		ignore-date ignore-whitespace C= whitespace= f,force-rebase no-ff continue skip abort quit edit-todo
		show-current-patch apply m,merge i,interactive p,preserve-merges rerere-autoupdate empty= k,keep-empty autosquash
		update-refs S,gpg-sign? autostash x,exec= allow-empty-message r,rebase-merges? fork-point s,strategy=
		X,strategy-option= root reschedule-failed-exec reapply-cherry-picks trailer=`},
	{"reset", `q,quiet no-refresh mixed soft hard merge keep recurse-submodules? p,patch U,unified= inter-hunk-context=
		N,intent-to-add pathspec-from-file= pathspec-file-nul z stdin`},
	{"restore", `s,source= S,staged W,worktree ignore-unmerged overlay q,quiet recurse-submodules? progress m,merge conflict=
		2,ours 3,theirs p,patch U,unified= inter-hunk-context= ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul`},
	{"rm", `n,dry-run q,quiet cached f,force r ignore-unmatch sparse pathspec-from-file= pathspec-file-nul`},
	{"send-pack", `v,verbose q,quiet receive-pack= exec= remote= all n,dry-run mirror f,force signed? push-option= progress
		thin atomic stateless-rpc stdin helper-status force-with-lease? force-if-includes`},
	{"switch", `c,create= C,force-create= guess discard-changes q,quiet recurse-submodules? progress m,merge conflict= d,detach
		t,track? f,force orphan= overwrite-ignore ignore-other-worktrees`},
	{"symbolic-ref", `q,quiet d,delete short recurse m=`},
	{"tag", `l,list n? d,delete v,verify a,annotate m,message= F,file= trailer= e,edit s,sign cleanup= u,local-user= f,force
		create-reflog column? contains= no-contains= with= without= merged= no-merged= sort= omit-empty points-at=
		format= color? i,ignore-case`},
	{"update-ref", `m= d no-deref z stdin create-reflog batch-updates`},
	{"worktree add", `f,force B= b= d,detach checkout lock reason= q,quiet track guess-remote orphan relative-paths`},
	{"worktree remove", `f,force`},
}

// mergeOptions are the options that merge and pull share.
const mergeOptions = `v,verbose q,quiet progress summary log? signoff squash commit e,edit cleanup= ff ff-only
	rerere-autoupdate no-verify verify-signatures s,strategy= X,strategy-option= S,gpg-sign? autostash
	allow-unrelated-histories`

// optionTable returns the options of a command; false when no rule needs them.
func optionTable(command string) (string, bool) {
	for _, t := range optionTables {
		if t.command == command {
			return t.options, true
		}
	}
	return "", false
}
