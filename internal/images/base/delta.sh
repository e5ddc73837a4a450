#!/bin/sh
# delta.sh VERSION SUITE puts git-delta and the libraries that it needs into /opt/git-delta. VERSION is "latest", the
# beginning of a version, or "none" to leave it out; SUITE is the Debian to take it from where the base's has none.
set -eu
version=$1 suite=$2
to=/opt/git-delta
mkdir -p "$to"
[ "$version" != none ] || exit 0
pin=
[ "$version" = latest ] || pin="=$version*"

apt-get update -qq
if ! apt-cache show git-delta >/dev/null 2>&1; then
  # shellcheck source=/dev/null
  . /etc/os-release
  find /etc/apt -maxdepth 2 \( -name '*.list' -o -name '*.sources' \) -exec sed -i "s/\b$VERSION_CODENAME\b/$suite/g" {} +
  apt-get update -qq
fi
cd /tmp
mkdir debs
# This stage's own libraries stay as they are: what comes is only unpacked beside them.
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --download-only \
  -o Dir::Cache::archives=/tmp/debs git-delta"$pin"
mkdir root
for deb in debs/*.deb; do dpkg-deb -x "$deb" root; done
loader=$(find root -name 'ld-linux*.so*' -type f | head -n 1)
if [ -z "$loader" ]; then
  loader=$(find /lib /lib64 -name 'ld-linux*.so*' | head -n 1) # the base's libraries are new enough
fi
mkdir -p "$to/bin" "$to/lib"
cp "$loader" "$to/lib/ld.so"
cp root/usr/bin/delta "$to/lib/delta"
paths=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | tr '\n' ':')
"$to/lib/ld.so" --library-path "$paths:/lib:/usr/lib" --list "$to/lib/delta" |
  sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | while read -r lib; do
  case $lib in
    */ld.so | */ld-linux*) ;;
    *) cp -L "$lib" "$to/lib/" ;;
  esac
done
cat >"$to/bin/delta" <<'EOF'
#!/bin/sh
exec /opt/git-delta/lib/ld.so --library-path /opt/git-delta/lib /opt/git-delta/lib/delta "$@"
EOF
chmod 0755 "$to/bin/delta"
"$to/bin/delta" --version
