#!/bin/sh
# Makes the file system of the image in a folder: the Node.js of this machine with the libraries that it needs, the program
# with its packages, and nothing else, not even a shell. The first stage of the Dockerfile runs it, and a test where there
# is no engine.
#   deploy/make-root.sh FOLDER
set -eu
root=$1
cd "$(dirname "$0")/.."
umask 022
home=$root/opt/valetkey
mkdir -p "$home" "$root/usr/local/bin" "$root/etc" "$root/tmp" "$root/run/secrets" \
  "$root/proc" "$root/sys" "$root/dev" "$root/var/lib/valetkey"

cp package.json package-lock.json .npmrc LICENSE "$home"
cp -R src demo "$home"
# The demo's product signs its users in with the package.
mkdir -p "$home/packages/product"
cp -R packages/product/src "$home/packages/product"
# What only a checkout runs.
rm -rf "$home/demo/cluster" "$home/demo/cluster.ts"
npm ci --prefix "$home" --omit=dev --ignore-scripts --no-audit --no-fund
node tools/bill-of-materials.mjs "$home"
node tools/third-party-licenses.mjs "$home"
rm "$home/package-lock.json" "$home/.npmrc"

node=$(node --print process.execPath)
cp "$node" "$root/usr/local/bin/node"
# The licenses of Node.js, and below those of the system's libraries.
licenses=$root/usr/local/share/licenses
mkdir -p "$licenses"
cp "$(dirname "$(dirname "$node")")/LICENSE" "$licenses/node.txt"
find "$home/node_modules" -name '*.node' -exec ldd "$node" {} + | grep -o '/[^ ]*\.so[^ ]*' | sort -u |
  while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
    package=$(dpkg --search "*$library" | sed '/^diversion/d; s/[:,].*//; q')
    cp "/usr/share/doc/$package/copyright" "$licenses/$package.txt"
  done

printf 'root:x:0:0:root:/:/\nvaletkey:x:1000:1000:Valetkey:/var/lib/valetkey:/\n' > "$root/etc/passwd"
printf 'root:x:0:\nvaletkey:x:1000:\n' > "$root/etc/group"
printf 'hosts: files dns\n' > "$root/etc/nsswitch.conf"
printf '127.0.0.1 localhost\n::1 localhost\n' > "$root/etc/hosts"
chmod -R u=rwX,go=rX "$root"
chmod 1777 "$root/tmp"
chown 1000:1000 "$root/var/lib/valetkey"
chmod 0711 "$root/var/lib/valetkey"
