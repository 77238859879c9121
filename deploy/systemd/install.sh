#!/bin/bash
# Installs the service on Debian 12 or newer, or updates it: install.sh [PACKAGE]
# PACKAGE: what npm installs, by default the newest agentrun-server; a version (agentrun-server@0.1.0) or a file of `npm pack`.
set -euo pipefail

package=${1:-agentrun-server}
folder=/opt/agentrun data=/var/lib/agentrun settings=/etc/agentrun/agentrun.env user=agentrun

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

[[ $(id -u) == 0 ]] || fail 'run it as root'
command -v apt-get >/dev/null || fail 'this is not Debian: see docs/operations/install.md for other systems'
[[ ! -e $package ]] || package=$(readlink -f "$package")

needed=()
command -v git >/dev/null || needed+=(git)
command -v bwrap >/dev/null || needed+=(bubblewrap)
command -v openssl >/dev/null || needed+=(openssl)
# Any Node from 18 on starts the service, which gets Node 24 itself if this one is older.
command -v npm >/dev/null || needed+=(nodejs npm)
if ((${#needed[@]} > 0)); then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ca-certificates "${needed[@]}" >/dev/null
fi
major=$(node -p 'process.versions.node.split(".")[0]')
((major >= 18)) || fail "Node.js $major is too old: install 18 or newer"

id "$user" >/dev/null 2>&1 || useradd --system --home-dir "$data" --shell /usr/sbin/nologin "$user"
install -d -m 0711 -o "$user" -g "$user" "$data"
setpriv --reuid="$user" --regid="$user" --clear-groups unshare --user --map-root-user --mount true 2>/dev/null ||
  fail 'the kernel permits no user namespaces, which sandboxes need: set kernel.unprivileged_userns_clone=1, or on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0'

# The user of the service can change nothing below the folder.
install -d -m 0755 "$folder"
(umask 022 && cd "$folder" && npm install --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error --prefix "$folder" "$package")
"$folder/node_modules/.bin/agentrun-server" --prepare

install -d -m 0750 -g "$user" "${settings%/*}"
if [[ ! -e $settings ]]; then
  (umask 077 && printf '# One NAME=value per line: docs/reference/configuration.md\nAGENTRUN_SECRET_KEY=%s\n' "$(openssl rand -hex 32)" >"$settings")
fi
install -m 0644 "$folder/node_modules/agentrun-server/agentrun.service" /etc/systemd/system/agentrun.service

if [[ -d /run/systemd/system ]]; then
  systemctl daemon-reload
  systemctl enable --quiet agentrun
  systemctl restart agentrun
  echo "The service is running: journalctl -u agentrun. Sign-in link and token are in files in $data."
else
  echo "Installed, but systemd does not run here: start $folder/node_modules/.bin/agentrun-server --data $data as $user."
fi
