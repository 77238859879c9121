import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { root } from '../system/small-clone.ts'
import type { Docker } from './start-image.ts'

const execute = promisify(execFile)

/** How Compose is started here: version 2 or newer, or Debian's; undefined where there is neither. */
export const compose = [['docker', 'compose'], ['docker-compose']].find(
  ([program = '', ...args]) => spawnSync(program, [...args, 'version']).status === 0,
)

/** Version 1 does not know `systempaths`, without which there are no sandboxes in the container. */
export const compose_confines =
  compose?.length === 1 &&
  spawnSync('docker-compose', ['version', '--short']).stdout.toString().startsWith('1.')

/**
 * What the image `postgres` promises, with PostgreSQL of Debian, because no image registry is needed for it.
 */
const entrypoint = `#!/bin/bash
set -e
export PATH=$(echo /usr/lib/postgresql/*/bin):$PATH PGDATA=/var/lib/postgresql/data
if [ "$(id -u)" = 0 ]; then
  install -d -m 0700 -o postgres "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0"
fi
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-host=scram-sha-256 --auth-local=trust
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE \\"$POSTGRES_DB\\"" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
`
const dockerfile = `FROM debian-base:test
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql && rm -rf /var/lib/apt/lists/*
COPY entrypoint.sh /entrypoint.sh
ENTRYPOINT ["/entrypoint.sh"]
`

/**
 * Builds the images that compose.yaml names, and returns the command of Compose for that file. The service is
 * published at `port`.
 */
export async function prepareCompose(
  docker: Docker,
  socket: string,
  folder: string,
  port: number,
): Promise<Docker> {
  const context = join(folder, 'postgres')
  mkdirSync(context)
  writeFileSync(join(context, 'entrypoint.sh'), entrypoint, { mode: 0o755 })
  writeFileSync(join(context, 'Dockerfile'), dockerfile)
  const text = readFileSync(join(root, 'deploy/compose/compose.yaml'), 'utf8')
  const { services } = parse(text)
  await docker('build', '--quiet', '--network', 'host', '--tag', services.postgres.image, context)
  await docker('tag', 'agentrun:test', services.agentrun.image.replace(/\$\{\w+:-(.*)\}/, '$1'))
  // As deep as in the repository: version 1 requires the folder that the image would be built from.
  const cwd = join(folder, 'deploy/compose')
  mkdirSync(cwd, { recursive: true })
  const removed = compose_confines ? /^ *- systempaths=unconfined\n/m : /$^/
  writeFileSync(
    join(cwd, 'compose.yaml'),
    text.replace(removed, '').replace(/127\.0\.0\.1:\d+:4600/, `127.0.0.1:${port}:4600`),
  )
  const example = readFileSync(join(root, 'deploy/compose/.env.example'), 'utf8')
  writeFileSync(join(cwd, '.env'), example.replace('64-hexadecimal-digits', 'ab'.repeat(32)))
  const [program = '', ...first] = compose ?? []
  const env = { ...process.env, DOCKER_HOST: `unix://${socket}` }
  return async (...args) =>
    (await execute(program, [...first, ...args], { cwd, env, maxBuffer: 64 * 1024 ** 2 })).stdout.trim()
}
