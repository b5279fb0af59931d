#!/bin/sh
# Makes, once, what compose.yaml needs and no image may hold: the root keys, the database's password, the URL with it, and
# a self-signed certificate until you put yours in its place. Needs openssl; builds the image where it is not there yet.
set -eu
cd "$(dirname "$0")/.."
umask 077
[ ! -f .env ] || . ./.env
app=${APP_HOST:-auth.localhost}
api=${API_HOST:-api.localhost}
docker build --quiet ${NODE_DIGEST:+--build-arg "NODE_DIGEST=$NODE_DIGEST"} --tag valetkey . > /dev/null
keys=$(docker run --rm --network none valetkey keys generate)
mkdir secrets
printf '%s\n' "$keys" > secrets/keys
password=$(openssl rand -hex 32)
printf '%s' "$password" > secrets/database-password
printf 'VALETKEY_DATABASE_URL=postgres://valetkey:%s@postgres:5432/valetkey\n' "$password" > secrets/valetkey.env
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj "/CN=$app" \
  -addext "subjectAltName=DNS:$app,DNS:$api" -keyout secrets/tls.key -out secrets/tls.crt 2> /dev/null
# The service reads its files as their owner, who is never root.
if [ "$(id -u)" = 0 ]; then
  chown -R 1000:1000 secrets
else
  printf 'SERVICE_USER=%s:%s\n' "$(id -u)" "$(id -g)" >> .env
fi
echo 'They are in secrets/. Keep a copy of secrets/keys, apart from the database and its backups.'
