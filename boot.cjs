// Makes one command enough on a fresh clone: gets Node 24, the packages, git, bubblewrap and the web build,
// then runs the command. The only file that an old Node (18 and newer) reads, so it is CommonJS and needs no
// package.
const { spawn } = require('node:child_process')
const { createHash } = require('node:crypto')
const {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} = require('node:fs')
const { constants: system } = require('node:os')
const { delimiter, dirname, join } = require('node:path')

/**
 * What each command runs, and what it needs first. `strict`: without its tools it does not start; `some`:
 * without these it does less. `direct`: not a script of npm. `prepare` runs nothing: supervisor.sh does, with
 * the Node that it writes.
 */
const commands = {
  prepare: { tools: ['git', 'bwrap'], web: true, direct: true },
  dev: { node: ['--watch', 'src/main.ts'], tools: ['git', 'bwrap'] },
  check: { node: ['scripts/check.ts'], tools: [] },
  'supply-chain': { node: ['scripts/supply-chain.ts'], tools: [] },
  test: {
    node: ['scripts/test.ts'],
    tools: ['git', 'bwrap', 'chromium', 'jq', 'httpx'],
    some: ['dockerd'],
    strict: true,
    web: true,
  },
  'test:long': {
    node: ['scripts/test-long.ts'],
    tools: ['git', 'bwrap', 'chromium', 'go', 'httpx', 'mypy', 'pip3'],
    some: [
      'dockerd',
      'podman',
      'runsc',
      'debootstrap',
      'promtool',
      'nginx',
      'caddy',
      'docker-compose',
      'shellcheck',
      'systemd-analyze',
    ],
    strict: true,
    web: true,
  },
  'test:engines': {
    node: ['scripts/test-engines.ts'],
    tools: ['git', 'bwrap', 'debootstrap', 'dockerd', 'podman'],
    some: ['runsc'],
    strict: true,
    web: true,
  },
  admin: { node: ['src/admin.ts'], tools: [] },
  screenshots: {
    node: ['scripts/screenshots/main.ts'],
    tools: ['git', 'bwrap', 'chromium'],
    strict: true,
    web: true,
  },
  bench: { node: ['bench/run.ts'], tools: ['git', 'bwrap'], strict: true },
  cli: { node: ['src/client/cli/main.ts'], tools: [], direct: true },
  client: { node: ['scripts/build-client.ts'], tools: [], direct: true },
  server: { node: ['scripts/build-server.ts'], tools: [], web: true, direct: true },
}
const debian_packages = {
  git: 'git',
  bwrap: 'bubblewrap',
  chromium: 'chromium',
  jq: 'jq',
  httpx: 'python3-httpx',
  mypy: 'mypy',
  pip3: 'python3-pip',
  go: 'golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev',
  debootstrap: 'debootstrap',
  dockerd: 'docker.io',
  podman: 'podman',
  promtool: 'prometheus',
  nginx: 'nginx-light',
  caddy: 'caddy',
  'docker-compose': 'docker-compose',
  shellcheck: 'shellcheck',
  'systemd-analyze': 'systemd',
  runsc: 'runsc',
}
const wanted_major = 24
const clone = __dirname
const first_parent = process.ppid

/**
 * The child that gets our signals: `kill` chooses the signal. After a request to stop nothing more is
 * started.
 */
let current = null
let stop_requested = null

function say(line) {
  process.stderr.write(`agentrun: ${line}\n`)
}

/** An end that one line explains. */
class Stop extends Error {}

function exitCode(code, signal) {
  return code === null ? 128 + system.signals[signal] : code
}

/**
 * Runs a program to its end; resolves to its exit code as a shell counts it, 127 when it cannot be started.
 */
function run(program, args, { env, cwd = clone, stdio = ['ignore', 2, 2], kill = signal => signal }) {
  if (stop_requested) throw new Stop(`stopped by ${stop_requested}`)
  return new Promise(resolve => {
    const child = spawn(program, args, { cwd, env, stdio })
    current = { send: signal => child.kill(kill(signal)) }
    child.once('error', () => resolve(127))
    child.once('exit', (code, signal) => resolve(exitCode(code, signal)))
  }).then(code => {
    current = null
    return code
  })
}

function onSignal(signal) {
  if (!stop_requested) stop_requested = signal
  if (current) current.send(signal)
}

/**
 * For npm inside npm: without the outer one's options and variables, which would change what is installed.
 */
function innerEnvironment(env) {
  const ways_to_the_registry =
    'cache|userconfig|globalconfig|registry|ca|cafile|strict_ssl|(https?_)?proxy|noproxy|offline|prefer_offline|//.*'
  const outer = new RegExp(`^(npm_(config_(?!(${ways_to_the_registry})$)|package_|lifecycle_).*|NODE_ENV)$`)
  return Object.fromEntries(Object.entries(env).filter(([name]) => !outer.test(name)))
}

function withFirstOnPath(folder, env) {
  return { ...env, PATH: [folder, env.PATH].filter(Boolean).join(delimiter) }
}

function digest(parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part)
  return hash.digest('hex')
}

function read(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** Changes when `npm ci` would install something else. Of package.json only the dependencies count. */
function packagesStamp(folder) {
  const { dependencies, devDependencies, optionalDependencies, overrides } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const wanted = JSON.stringify([dependencies, devDependencies, optionalDependencies, overrides])
  return digest([
    wanted,
    read(join(folder, 'package-lock.json')),
    read(join(folder, '.npmrc')),
    process.platform,
    process.arch,
  ])
}

/** Changes with the sources of the web page, the folders of the service that it imports, and the packages. */
function webStamp(folder) {
  const files = []
  const collect = path => {
    if (!existsSync(join(folder, path))) return
    for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
      const inner = `${path}/${entry.name}`
      if (inner === 'web/dist' || entry.name === 'node_modules') continue
      if (entry.isDirectory()) collect(inner)
      else if (entry.isFile()) files.push(inner)
    }
  }
  for (const part of ['web', 'src/client/sdk', 'src/contract', 'src/core']) collect(part)
  return digest([
    ...files.sort().flatMap(file => [file, readFileSync(join(folder, file), 'latin1')]),
    packagesStamp(folder),
  ])
}

/**
 * One set-up at a time: `npm start` and `npm test` at once share this clone. flock(1) locks the open file
 * that it shares with us, until we close it or are dead; no other user may open it.
 */
async function locked(work) {
  const file = openLock(join(clone, '.boot-lock'))
  const notice = setTimeout(() => say('waiting for another command that is setting up this clone'), 1_000)
  const code = await run('flock', ['3'], { env: process.env, stdio: ['ignore', 2, 2, file] }).finally(() =>
    clearTimeout(notice),
  )
  try {
    if (stop_requested) throw new Stop(`stopped by ${stop_requested}`)
    if (code !== 0) throw new Stop(`cannot lock this clone: flock of util-linux ended with exit code ${code}`)
    await work()
  } finally {
    closeSync(file)
  }
}

function openLock(path) {
  try {
    return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
  } catch ({ code }) {
    throw new Stop(
      `cannot set up this clone: ${path} cannot be opened (${code}); start as its owner, on a file system that can be written`,
    )
  }
}

/**
 * Does the work and stamps it, unless the stamp says that it is done. The stamp lies in what the work makes,
 * so it goes with it.
 */
async function unlessStamped(file, stamp, work) {
  if (read(file) === stamp) return
  await locked(async () => {
    if (read(file) === stamp) return
    await work()
    writeFileSync(file, stamp)
  })
}

/**
 * `npm ci` of a folder. A signal kills npm at once: it would take seconds, and an unstamped folder is
 * installed again.
 */
async function install(folder, node, what) {
  await unlessStamped(join(folder, 'node_modules/.boot-stamp'), packagesStamp(folder), async () => {
    say(`getting ${what} (once, some seconds)`)
    const args = [
      'ci',
      '--ignore-scripts',
      '--include=dev',
      '--include=optional',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ]
    const env = withFirstOnPath(dirname(node), innerEnvironment(process.env))
    const npm = /npm-cli\.js$/.test(process.env.npm_execpath || '')
      ? [node, process.env.npm_execpath]
      : ['npm']
    const code = await run(npm[0], [...npm.slice(1), ...args], { cwd: folder, env, kill: () => 'SIGKILL' })
    if (code !== 0) throw new Stop(`npm could not install ${what}: see above, then try again`)
  })
}

/** The path of a Node that is new enough: our own, or the one that runtime/ pins by hash. */
async function getNode() {
  if (Number(process.versions.node.split('.')[0]) >= wanted_major) return process.execPath
  const runtime = join(clone, 'runtime')
  await install(runtime, process.execPath, `Node.js ${wanted_major}`)
  const node = join(runtime, `node_modules/node-linux-${process.arch}/bin/node`)
  if (!existsSync(node))
    throw new Stop(
      `there is no Node.js ${wanted_major} for linux-${process.arch} here: install it from nodejs.org and try again`,
    )
  return node
}

function isInstalled(tool) {
  return `${process.env.PATH}:/usr/sbin:/usr/bin:/bin`
    .split(':')
    .some(folder => existsSync(join(folder, tool)))
}

/**
 * Installs missing tools from Debian as root; else says what to do, and stops if the command is strict about
 * them. `without`: what there is not until then.
 */
async function getTools({ tools, strict, may_install = true, without = 'agents do not run' }) {
  const missing = () =>
    tools.filter(tool => !isInstalled(tool)).flatMap(tool => debian_packages[tool].split(' '))
  if (missing().length === 0) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  if (may_install && process.getuid() === 0 && isInstalled('apt-get')) {
    await locked(async () => {
      if (missing().length === 0) return
      say(`installing ${missing().join(', ')} from Debian (once)`)
      const apt = (errors, ...packages) =>
        run('apt-get', ['install', '-qq', '-y', '--no-install-recommends', ...packages], {
          env,
          stdio: ['ignore', 'ignore', errors],
        })
      // A machine without package lists refuses at first: that says nothing to anybody.
      if ((await apt('ignore', ...missing())) === 0) return
      await run('apt-get', ['update', '-qq'], { env, stdio: ['ignore', 'ignore', 2] })
      if ((await apt(2, ...missing())) === 0 || strict) return
      // One that this Debian does not have keeps all others away.
      for (const name of missing()) await apt('ignore', name)
    })
  }
  if (missing().length === 0) return
  const advice = `needs ${missing().join(' and ')}: run "apt-get install ${missing().join(' ')}" as root`
  if (strict) throw new Stop(advice)
  say(`${advice}; until then ${without}`)
}

async function buildWeb(node) {
  if (!existsSync(join(clone, 'web/vite.config.ts'))) return
  await unlessStamped(join(clone, 'web/dist/.build-stamp'), webStamp(clone), async () => {
    say('building the web page')
    const env = withFirstOnPath(dirname(node), innerEnvironment(process.env))
    const code = await run(node, ['node_modules/vite/bin/vite.js', 'build', 'web', '--logLevel', 'warn'], {
      env,
    })
    if (code !== 0) throw new Stop('the web page could not be built: see above')
  })
}

/**
 * The child notices our death by the closed channel; we notice npm's by our parent, since SIGKILL of npm
 * reaches nobody else. Resolves to the exit code of its last run.
 */
async function runCommand(node, args) {
  const started_by_npm = Boolean(process.env.npm_execpath)
  const watch = setInterval(() => {
    if (!started_by_npm || process.ppid === first_parent) return
    clearInterval(watch)
    onSignal('SIGTERM')
  }, 500)
  // Node keeps what it compiled, TypeScript's types taken out: the next start takes two thirds of the time
  // and less memory.
  const env = {
    NODE_COMPILE_CACHE: join(clone, 'node_modules/.compile-cache'),
    ...withFirstOnPath(dirname(node), process.env),
  }
  const code = await run(node, args, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  clearInterval(watch)
  return code
}

/** The npm package of the service has JavaScript: Node reads no TypeScript below node_modules. */
const builtName = path =>
  path.endsWith('.ts') && !existsSync(join(clone, path)) ? path.replace(/\.ts$/, '.js') : path

async function boot([name, ...args]) {
  const command = commands[name]
  if (!command) {
    const scripts = ['start', ...Object.keys(commands).filter(script => !commands[script].direct)]
    throw new Stop(`usage: npm run ${scripts.join(' | npm run ')}`)
  }
  if (process.platform !== 'linux')
    throw new Stop(
      'runs on Linux (x64, arm64) only: elsewhere start it in a Linux container or virtual machine',
    )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal)
  const node = await getNode()
  // In the npm package of the service, npm has installed the others already.
  if (existsSync(join(clone, 'package-lock.json'))) await install(clone, node, 'packages')
  await getTools(command)
  // A package may install a daemon that keeps running, which a plain test run must not do.
  const may_install = process.env.CI === 'true' || name === 'test:engines'
  await getTools({ tools: command.some || [], may_install, without: 'the tests that want it are skipped' })
  if (command.web) await buildWeb(node)
  if (command.node) return runCommand(node, [...command.node.map(builtName), ...args])
  writeFileSync(3, `${node}\n`)
  return 0
}

module.exports = { commands, innerEnvironment, packagesStamp, webStamp }

if (require.main === module) {
  boot(process.argv.slice(2)).then(
    code => process.exit(code),
    error => {
      if (!stop_requested) say(error instanceof Stop ? error.message : error.stack)
      process.exit(stop_requested ? exitCode(null, stop_requested) : 1)
    },
  )
}
