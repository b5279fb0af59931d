#!/bin/sh
# Builds the image "valetkey" of newer base images than this release names. They are named by their digests, which .env keeps.
# One that is not there yet is what its tag names now: compare it with what the publisher says. To take newer images
# again, remove the lines and run this again.
set -eu
cd "$(dirname "$0")/.."
touch .env
[ -z "$(tail -c 1 .env)" ] || echo >> .env

# pin VARIABLE REPOSITORY TAG
pin() {
  ! grep -q "^$1=" .env || return 0
  docker pull --quiet "$2:$3" > /dev/null
  digest=$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$2:$3" |
    sed -n "s|^\(docker.io/library/\)\{0,1\}$2@\(sha256:[0-9a-f]\{64\}\)\$|\2|p" | head -n 1)
  if [ -z "$digest" ]; then
    echo "no digest of $2:$3 can be learnt: find it at its publisher's, and write $1=sha256:… in .env" >&2
    exit 1
  fi
  printf '%s=%s\n' "$1" "$digest" >> .env
  echo "$1=$digest is $2:$3 today; .env keeps it"
}

pin NODE_DIGEST node 24-slim
pin POSTGRES_DIGEST postgres 18
pin NGINX_DIGEST nginx stable
. ./.env
docker build --build-arg "NODE_DIGEST=$NODE_DIGEST" --tag valetkey .
