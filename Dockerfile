# The service and its commands. The image holds no secret and no data; its user may write in its working directory alone,
# and with PostgreSQL does not. docs/operating.md says how to run it. deploy/build-image.sh builds it: the base image is
# named by its digest (a Node.js 24.15 or later on Debian), and without one nothing is built.
ARG NODE_DIGEST
FROM node@${NODE_DIGEST} AS packages
WORKDIR /opt/valetkey
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node@${NODE_DIGEST}
COPY --from=packages /opt/valetkey/node_modules /opt/valetkey/node_modules
COPY package.json LICENSE /opt/valetkey/
COPY src /opt/valetkey/src
WORKDIR /var/lib/valetkey
RUN chown 1000:1000 /var/lib/valetkey && chmod 0711 /var/lib/valetkey
USER 1000:1000
ENV VALETKEY_APP_LISTEN=0.0.0.0:3000 \
    VALETKEY_API_LISTEN=0.0.0.0:3001
EXPOSE 3000 3001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:3000/readyz', { signal: AbortSignal.timeout(3000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGUSR1 would open a debugger, which shows the keys. The file may hold variables that nobody shall find by looking at the
# container, such as a database URL with its password.
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "--disable-sigusr1", "--max-semi-space-size=4", "--env-file-if-exists=/run/secrets/valetkey.env", "/opt/valetkey/src/main.ts"]
CMD ["serve"]
