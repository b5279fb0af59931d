#!/bin/sh
# Makes, once, what compose.yaml needs and no image may hold: the root keys, the database's password, the URL with it, and
# a self-signed certificate until you put yours in its place. Needs openssl; builds the image where it is not there yet.
set -eu
cd "$(dirname "$0")/.."
touch .env # Whoever runs compose reads it.
umask 077
[ -z "$(tail -c 1 .env)" ] || echo >> .env
. ./.env
app=${APP_HOST:-auth.localhost}
api=${API_HOST:-api.localhost}
# The service reads its files as their owner, who is never root.
owner=1000:1000
[ "$(id -u)" = 0 ] || owner=$(id -u):$(id -g)
if [ -e secrets ]; then
  of_keys=$(ls -ln secrets/keys | awk '{ print $3 ":" $4 }')
  [ "${of_keys%%:*}" = 0 ] || owner=$of_keys
  echo 'There are secrets in secrets/ already, which stay as they are.'
else
  docker build --quiet ${NODE_DIGEST:+--build-arg "NODE_DIGEST=$NODE_DIGEST"} --tag valetkey . > /dev/null
  rm -rf secrets.new # Left by a run that failed.
  mkdir secrets.new
  docker run --rm --network none valetkey keys generate > secrets.new/keys
  password=$(openssl rand -hex 32)
  printf '%s' "$password" > secrets.new/database-password
  printf 'VALETKEY_DATABASE_URL=postgres://valetkey:%s@postgres:5432/valetkey\n' "$password" > secrets.new/valetkey.env
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj "/CN=$app" \
    -addext "subjectAltName=DNS:$app,DNS:$api" -keyout secrets.new/tls.key -out secrets.new/tls.crt 2> /dev/null
  [ "$(id -u)" != 0 ] || chown -R "$owner" secrets.new
  mv secrets.new secrets
  echo 'They are in secrets/. Keep a copy of secrets/keys, apart from the database and its backups.'
fi
# Without it compose.yaml says to run this.
grep -q '^SERVICE_USER=' .env || printf 'SERVICE_USER=%s\n' "$owner" >> .env
