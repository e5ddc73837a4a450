# Makes the home directory of a user with a project, in which the examples run. $TOP has a copy of this repository's examples.
git config --global user.name Me
git config --global user.email me@example.com
git config --global init.defaultBranch main
mkdir -p ~/.ssh ~/data ~/src/other ~/src/gone ~/src/project ~/.config/fish/completions ~/.local/state
echo key > ~/.ssh/id_ed25519
echo '{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}' > ~/.srt-settings.json
cd ~/src/project
git init -q
cp -r "$TOP/examples" .
mkdir -p src/internal .vscode .claude skills assistants
cat > Makefile <<'F'
all test:
	@test -e package.json
F
cat > package.json <<'F'
{"name": "shop", "version": "1.0.0", "scripts": {"start": "node -e 0"}}
F
cat > package-lock.json <<'F'
{"name": "shop", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "shop", "version": "1.0.0"}}}
F
# The build backend is in the project, so that pip downloads nothing.
cat > pyproject.toml <<'F'
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
F
cat > backend.py <<'F'
import os, zipfile

def get_requires_for_build_editable(config_settings=None):
    return []

def build_editable(directory, config_settings=None, metadata_directory=None):
    name = "shop-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        info = "shop-1.0.0.dist-info/"
        wheel.writestr("shop.pth", os.getcwd() + "\n")
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: shop\nVersion: 1.0.0\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: shop\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "")
    return name
F
cat > go.mod <<'F'
module example.com/shop

go 1.21
F
echo 'package main

func main() {}' | tee main.go > src/main.go
for script in agent codemod.sh import.sh script.sh; do
  printf '#!/bin/sh\ntest -e package.json || test -e notes.txt\n' > $script
  chmod +x $script
done
echo TOKEN=1 > .env
echo '{}' > .vscode/settings.json
echo '{"network": {"allowedDomains": ["example.com"]}}' > fence.json
echo '{"permissions": {"deny": ["Read(./.env)"]}}' > .claude/settings.json
echo a,b > data.csv
echo hello > notes.txt
for skill in review code-review deploy; do
  mkdir -p skills/$skill .claude/skills/$skill
  printf -- '---\nname: %s\ndescription: Use it before a change is merged.\n---\nRead the change.\n' $skill | tee skills/$skill/SKILL.md > .claude/skills/$skill/SKILL.md
done
cat > run.jsonl <<'F'
{"type":"system","subtype":"init","session_id":"1","model":"m","tools":[],"cwd":"/p"}
{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"1","num_turns":1,"duration_ms":1,"total_cost_usd":0,"usage":{"input_tokens":1,"output_tokens":1}}
F
git add . && git commit -qm first
