# The service and its commands: Node.js and the program, on nothing. The image holds no secret and no data, no shell and no
# package manager; its user may write in its working directory alone, and with PostgreSQL does not. docs/operating/containers.md says how
# to run it. This is Node.js 24.19.0 on Debian; deploy/build-image.sh takes what is newest, and .env keeps it.
ARG NODE_DIGEST=sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
FROM node@${NODE_DIGEST} AS build
WORKDIR /build
COPY . .
RUN deploy/make-root.sh /image

FROM scratch
# `npm run release` adds the version, the commit and the addresses of the project.
LABEL org.opencontainers.image.title="Valetkey" \
    org.opencontainers.image.description="A self-hosted OAuth 2.0 authorization service." \
    org.opencontainers.image.licenses="MIT"
COPY --from=build /image /
WORKDIR /var/lib/valetkey
USER 1000:1000
ENV PATH=/usr/local/bin \
    VALETKEY_APP_LISTEN=0.0.0.0:3000 \
    VALETKEY_API_LISTEN=0.0.0.0:3001 \
    VALETKEY_OPERATOR_LISTEN=0.0.0.0:3002
EXPOSE 3000 3001 3002
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s \
  CMD ["node", "--env-file-if-exists=/run/secrets/valetkey.env", "--eval", "const at = process.env.VALETKEY_APP_LISTEN.replace('0.0.0.0', '127.0.0.1').replace('[::]', '[::1]'); fetch('http://' + at + '/readyz', { signal: AbortSignal.timeout(3000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGUSR1 would open a debugger, which shows the keys. The file may hold variables that nobody shall find by looking at the
# container, such as a database URL with its password.
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "--disable-sigusr1", "--max-semi-space-size=4", "--env-file-if-exists=/run/secrets/valetkey.env", "/opt/valetkey/src/main.ts"]
CMD ["serve"]
