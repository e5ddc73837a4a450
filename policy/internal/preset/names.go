package preset

// secrets are the paths that @base hides. A project's own .env files stay visible, because
// development servers need them; "exclude" hides them.
var secrets = []string{
	// keys and tokens
	"~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.netrc", "~/.git-credentials", "~/.config/git/credentials",
	"~/.docker/config.json", "~/.config/containers/auth.json", "~/.config/gh", "~/.config/hub", "~/.config/glab-cli",
	"~/.config/gcloud", "~/.config/doctl", "~/.config/fly", "~/.fly", "~/.config/heroku", "~/.config/op", "~/.1password",
	"~/.config/1Password", "~/.config/Bitwarden", "~/.config/Bitwarden CLI", "~/.config/sops", "~/.config/age",
	"~/.config/rclone", "~/.config/s3cmd", "~/.s3cfg", "~/.boto", "~/.vault-token", "~/.terraform.d/credentials.tfrc.json",
	"~/.terraformrc", "~/.pulumi/credentials.json", "~/.password-store", "~/.local/share/keyrings", "~/.local/share/kwalletd",
	"~/.config/keepassxc", "~/.pki", "~/.oci", "~/.config/ngrok", "~/.ngrok2", "~/.my.cnf", "~/.pgpass", "~/.config/wrangler",
	"~/.wrangler", "~/.config/vercel", "~/.local/share/com.vercel.cli", "~/.config/netlify",
	// agents; the preset that names one opens its own
	"~/.claude/.credentials.json", "~/.claude/ide", "~/.codex/auth.json", "~/.pi/agent/auth.json", "~/.gemini/oauth_creds.json",
	"~/.gemini/.env", "~/.qwen/oauth_creds.json", "~/.config/cursor/auth.json", "~/.local/share/opencode/auth.json",
	"~/.local/share/opencode/mcp-auth.json", "~/.copilot/config.json", "~/.config/github-copilot", "~/.config/goose/secrets.yaml",
	"~/.local/share/amp/secrets.json", "~/.factory/auth.json", "~/.cache/huggingface/token", "~/.cache/huggingface/stored_tokens",
	"~/.huggingface/token", "~/.kaggle/kaggle.json", "~/.config/configstore",
	// package registries
	"~/.npmrc", "~/.config/pnpm/auth.ini", "~/.yarnrc.yml", "~/.pypirc", "~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.local/share/gem/credentials", "~/.bundle/config",
	"~/.composer/auth.json", "~/.config/composer/auth.json", "~/.m2/settings.xml", "~/.m2/settings-security.xml",
	"~/.gradle/gradle.properties", "~/.nuget/NuGet/NuGet.Config", "~/.config/pypoetry/auth.toml", "~/.bunfig.toml",
	"~/.local/share/uv/credentials", "~/.sbt/.credentials", "~/.ivy2/.credentials", "~/.config/coursier/credentials.properties", "~/.config/helm/registry",
	"~/.conan2/credentials.json", "~/.jfrog", "~/.config/dart/pub-tokens.json",
	// browsers and mail
	"~/.mozilla", "~/.config/google-chrome", "~/.config/google-chrome-beta", "~/.config/chromium", "~/.config/BraveSoftware",
	"~/.config/microsoft-edge", "~/.config/vivaldi", "~/.config/opera", "~/.thunderbird", "~/.config/Signal",
	// what was typed before
	"~/.bash_history", "~/.zsh_history", "~/.zhistory", "~/.histfile", "~/.local/share/fish/fish_history", "~/.python_history",
	"~/.node_repl_history", "~/.psql_history", "~/.mysql_history", "~/.sqlite_history", "~/.rediscli_history", "~/.lesshst",
}

// ProjectNames are files that an editor, an agent, a shell or a CI service on the host runs or obeys at the root of a project.
var ProjectNames = []string{
	// editors
	".vscode", ".idea", ".zed", ".fleet", ".devcontainer", ".devcontainer.json", ".helix", ".exrc", ".vimrc", ".lvimrc", ".nvimrc",
	".nvim.lua", ".dir-locals.el", ".dir-locals-2.el",
	// agents
	".mcp.json", ".claude", ".codex", ".cursor", ".gemini", ".opencode", "opencode.json", "opencode.jsonc", ".agents",
	".windsurf", ".continue", ".roo", ".kiro", ".amazonq", ".aider.conf.yml",
	// shells and hooks
	".envrc", ".husky", ".githooks", ".pre-commit-config.yaml", ".gitmodules", ".gitconfig", MercurialConfig,
	"lefthook.yml", ".lefthook.yml", "lefthook.yaml", ".lefthook.yaml", "lefthook.toml", ".lefthook.toml", "lefthook.json", ".lefthook.json",
	"lefthook-local.yml", ".lefthook-local.yml", ".lefthook", ".lefthook-local", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".mise",
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv",
	".zlogin", ".zlogout", ".inputrc", ".ripgreprc",
	// continuous integration
	".github/workflows", ".github/actions", ".github/hooks", ".gitlab-ci.yml", ".gitlab/ci", ".circleci", ".travis.yml", ".drone.yml",
	".woodpecker", ".woodpecker.yml", ".forgejo/workflows", ".gitea/workflows", "Jenkinsfile", "azure-pipelines.yml",
	"bitbucket-pipelines.yml", ".buildkite", "appveyor.yml", ".appveyor.yml", "azure-pipelines.yaml", ".azure-pipelines", ".azuredevops",
	".cirrus.yml", ".cirrus.star", ".tekton",
	// ours
	".agent-sandbox.json", ".agent-sandbox.jsonc", ".agent-sandbox",
}

// NestedNames are those of ProjectNames that programs obey in any directory that a user opens, enters or starts them in. The
// others take effect at the top of a repository or in the home directory only.
var NestedNames = []string{
	// editors
	".vscode", ".idea", ".zed", ".fleet", ".devcontainer", ".devcontainer.json", ".helix", ".exrc", ".vimrc", ".lvimrc", ".nvimrc",
	".nvim.lua", ".dir-locals.el", ".dir-locals-2.el",
	// agents
	".mcp.json", ".claude", ".codex", ".cursor", ".gemini", ".opencode", "opencode.json", "opencode.jsonc", ".agents",
	".windsurf", ".continue", ".roo", ".kiro", ".amazonq", ".aider.conf.yml",
	// shells, hooks and repositories of Mercurial
	".envrc", ".husky", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".mise", MercurialDir,
	// ours
	".agent-sandbox.json", ".agent-sandbox.jsonc", ".agent-sandbox",
}

// MercurialDir is the directory that makes its parent a repository, and MercurialConfig the file in it that names
// hooks.
const (
	MercurialDir    = ".hg"
	MercurialConfig = MercurialDir + "/hgrc"
)

// DependencyDirs are directories that tools fill with unpacked packages and build results. Packages contain
// NestedNames, and
// users open the project, not the package.
var DependencyDirs = []string{
	"node_modules", "bower_components", "vendor", "site-packages", "dist-packages", "venv", ".venv", ".tox", ".nox", "target",
	".gradle", ".cargo", ".yarn", ".pnpm-store", ".bundle", ".cache", "Pods",
}

// HomeNames are like ProjectNames for the home directory and the directories in it that
// presets or the user make writable.
var HomeNames = []string{
	".gitconfig", ".config/git", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
	".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".inputrc", ".ripgreprc", ".envrc", ".vimrc", ".vim", ".emacs",
	".emacs.d", ".tmux.conf", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".tool-versions",
	".config/fish", ".config/nvim", ".config/environment.d", ".config/systemd", ".config/autostart", ".config/direnv",
	".config/mise", ".config/tmux", ".config/Code/User", ".config/Cursor/User", ".config/zed", ".config/opencode",
	".config/containers", ".local/bin", "bin", ".local/share/applications", ".local/share/systemd", ".local/share/bash-completion",
	".mcp.json", ".vscode", ".vscode-server", ".cursor", ".cursor-server", ".gemini", ".windsurf", ".continue", ".agents",
	".aider.conf.yml", ".crontab", ".forward", ".terminfo", ".nvm", ".pyenv", ".rbenv", ".asdf", ".rustup",
	// inside what @agents makes writable
	".claude/settings.json", ".claude/settings.local.json", ".claude/commands", ".claude/agents", ".claude/hooks",
	".claude/skills", ".claude/plugins", ".claude/output-styles", ".claude/rules", ".claude/local", ".claude/CLAUDE.md",
	".claude/statusline.sh", ".claude/statusline-command.sh", ".claude/scripts", ".claude/bin", ".claude/workflows",
	".claude/shell-snapshots", ".claude/remote-settings.json", ".claude/keybindings.json", ".codex/config.toml", ".codex/AGENTS.md", ".codex/AGENTS.override.md", ".codex/hooks.json",
	".codex/.env", ".codex/packages", ".codex/hooks", ".codex/prompts", ".codex/skills", ".codex/rules", ".codex/plugins", ".pi/agent/settings.json",
	".pi/agent/extensions", ".pi/agent/skills", ".pi/agent/prompts", ".pi/agent/hooks", ".pi/agent/tools", ".pi/agent/AGENTS.md",
	".pi/agent/SYSTEM.md", ".pi/agent/models.json", ".pi/agent/bin", ".pi/agent/git", ".pi/agent/npm",
	// inside what @caches makes writable: programs in people's PATH, and files that their tools obey. Caches of build results stay
	// writable, because builds need them; for code that is known to be hostile, use "!@caches".
	".m2/wrapper", ".m2/extensions.xml", ".m2/toolchains.xml", ".mavenrc", ".gradle/init.d", ".gradle/init.gradle", ".gradle/init.gradle.kts", ".gradle/wrapper",
	".gradle/native", ".yarn/bin", ".yarnrc",
	".cargo/config", ".cargo/config.toml", ".cargo/env", ".cargo/bin", "go/bin", ".bun/bin", ".bun/install/global", ".npm/bin",
	// what shells, editors and git hooks on the host read from ~/.cache as code
	".cache/gitstatus", ".cache/p10k", ".cache/zsh", ".cache/oh-my-zsh", ".cache/ohmyzsh", ".cache/prezto", ".cache/antidote",
	".cache/antigen", ".cache/zinit", ".cache/starship", ".cache/wal", ".cache/vim", ".cache/nvim", ".cache/emacs", ".cache/pre-commit",
	".cache/prek", ".cache/lefthook", ".cache/direnv", ".cache/ms-playwright", ".cache/puppeteer", ".cache/Cypress", ".cache/node/corepack",
}

// HomeNamesOf returns the further names whose spelling contains the name of the account: the prompt that zsh sources
// before its own start-up files.
func HomeNamesOf(user string) []string {
	prompt := ".cache/p10k-instant-prompt-" + user + ".zsh"
	return []string{prompt, prompt + ".zwc", ".cache/p10k-" + user, ".cache/p10k-dump-" + user + ".zsh"}
}
