# The server of idsmith: `docker build -t idsmith .`, then see docs/server.md#docker.

FROM node:24-slim AS build
WORKDIR /source
COPY . .
RUN npm ci
RUN mkdir -p /packed && npm pack --silent --pack-destination /packed -w idsmith -w @idsmith/shard -w @idsmith/console -w @idsmith/server

FROM node:24-slim
# Drivers of the stores that the image can open. SQLite, etcd and HTTP need none.
ARG DRIVERS="pg mysql2 redis @aws-sdk/client-dynamodb"
WORKDIR /app
COPY --from=build /packed /packed
RUN npm install --omit=dev --no-audit --no-fund --no-package-lock /packed/*.tgz $DRIVERS
RUN mkdir -p /data && chown node:node /data
ENV NODE_ENV=production
ENV IDSMITH_HOST=0.0.0.0
ENV IDSMITH_STORE=sqlite:/data/ids.db
ENV IDSMITH_TOKENS=/data/idsmith.tokens.json
VOLUME /data
WORKDIR /data
USER node
EXPOSE 7600
# The first start on a Redis that can forget waits for 50 seconds.
HEALTHCHECK --interval=5s --timeout=3s --start-period=120s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.IDSMITH_PORT || 7600) + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# The program itself, not a shell or npm: it gets SIGTERM, ends its requests and releases its leases.
ENTRYPOINT ["node", "/app/node_modules/idsmith/bin/idsmith.js"]
CMD ["serve"]
