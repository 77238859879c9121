import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gitIn, makeRepository } from '../runs/coding-app.ts'
import { testFolder } from '../temporary-folder.ts'
import { servePlain, serveSecure, type TestServer } from './servers.ts'
import { startEgress } from './start-egress.ts'

const folder = testFolder()
let registry: TestServer
const requested: string[] = []
beforeAll(async () => {
  mkdirSync(join(folder, 'package'))
  writeFileSync(
    join(folder, 'package/package.json'),
    JSON.stringify({ name: 'tiny', version: '1.0.0', main: 'index.js' }),
  )
  writeFileSync(join(folder, 'package/index.js'), 'module.exports = "tiny indeed"\n')
  execFileSync('tar', ['-czf', join(folder, 'tiny-1.0.0.tgz'), '-C', folder, 'package'])
  // Of this package manager's own kind: a page of links, and a wheel, which is an archive.
  const wheel = [
    ['tiny.py', 'word = "tiny indeed"\n'],
    ['tiny-1.0.0.dist-info/METADATA', 'Metadata-Version: 2.1\nName: tiny\nVersion: 1.0.0\n'],
    [
      'tiny-1.0.0.dist-info/WHEEL',
      'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ],
    [
      'tiny-1.0.0.dist-info/RECORD',
      'tiny.py,,\ntiny-1.0.0.dist-info/METADATA,,\ntiny-1.0.0.dist-info/WHEEL,,\ntiny-1.0.0.dist-info/RECORD,,\n',
    ],
  ]
  const zip =
    'import json, sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w") as z:\n  for name, text in json.loads(sys.argv[2]): z.writestr(name, text)\n'
  execFileSync('python3', ['-c', zip, join(folder, 'tiny-1.0.0-py3-none-any.whl'), JSON.stringify(wheel)])
  registry = await servePlain((request, response) => {
    requested.push(`${request.headers.host} ${request.url}`)
    const at = `http://${request.headers.host}`
    const file = (name: string) => response.end(readFileSync(join(folder, name)))
    if (request.url === '/tiny') {
      const integrity = `sha512-${createHash('sha512')
        .update(readFileSync(join(folder, 'tiny-1.0.0.tgz')))
        .digest('base64')}`
      const version = {
        name: 'tiny',
        version: '1.0.0',
        main: 'index.js',
        dist: { tarball: `${at}/tiny-1.0.0.tgz`, integrity },
      }
      response.setHeader('content-type', 'application/json')
      return response.end(
        JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }),
      )
    }
    if (request.url?.startsWith('/simple/tiny'))
      return response
        .setHeader('content-type', 'text/html')
        .end(`<a href="${at}/tiny-1.0.0-py3-none-any.whl">tiny-1.0.0-py3-none-any.whl</a>`)
    if (/^\/tiny-1\.0\.0[\w.-]*$/.test(request.url ?? '')) return file(request.url ?? '')
    response.writeHead(404).end()
  })
})
afterAll(() => registry[Symbol.asyncDispose]())

it("npm and pip install from the operator's mirrors by the configuration of their sandbox, private addresses or not, and from no other host", async () => {
  const at = (path: string) => new URL(`http://registry.example:${registry.port}${path}`)
  await using egress = await startEgress({
    rules: [],
    names: { 'registry.example': ['127.0.0.1'] },
    mirrors: [
      { kind: 'npm', url: at('/') },
      { kind: 'pypi', url: at('/simple') },
    ],
  })
  const npm = await egress.run('command -v npm >/dev/null || echo none')
  if (npm !== 'none\n')
    expect(
      await egress.run(
        'npm install --no-audit --no-fund --no-update-notifier tiny >log 2>&1 || cat log; node -p "require(\'tiny\')"',
      ),
    ).toBe('tiny indeed\n')
  const pip = await egress.run('/usr/bin/python3 -m pip --version >/dev/null 2>&1 || echo none')
  if (pip !== 'none\n')
    expect(
      await egress.run(
        '/usr/bin/python3 -m pip install --disable-pip-version-check -q --target lib tiny >log 2>&1 || cat log; PYTHONPATH=lib /usr/bin/python3 -c "import tiny; print(tiny.word)"',
      ),
    ).toBe('tiny indeed\n')
  expect(npm === 'none\n' && pip === 'none\n').toBe(false)
  expect(new Set(requested.map(line => line.split(' ')[0]))).toEqual(
    new Set([`registry.example:${registry.port}`]),
  )
  expect(egress.refusals).toEqual([])
  // Another port of the same host is not a mirror.
  expect(
    await egress.run("curl -sS --noproxy '' -o /dev/null -w '%{http_code}' http://registry.example:1/"),
  ).toBe('403')
})

it('git, curl and fetch go by the proxy by themselves', async () => {
  const repository = makeRepository()
  gitIn(repository, 'update-server-info')
  await using server = await servePlain((request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://x').pathname)
    try {
      response.end(readFileSync(join(repository, path.replace('/r.git', '.git'))))
    } catch {
      response.writeHead(404).end()
    }
  })
  await using secure = await serveSecure((_, response) => response.end('fetched'))
  await using egress = await startEgress({
    rules: [
      { host: 'code.example', port: server.port, methods: ['GET'] },
      { host: 'code.example', port: secure.port },
    ],
    names: { 'code.example': ['127.0.0.1'] },
    allow_private: true,
  })
  const url = `http://code.example:${server.port}`
  expect(await egress.run(`git clone -q ${url}/r.git && cat r/README.md; curl -sS ${url}/r.git/HEAD`)).toBe(
    '# Counter\nref: refs/heads/main\n',
  )
  const fetching = `fetch("https://code.example:${secure.port}/").then(async answer => console.log(answer.status, await answer.text()))`
  expect(await egress.run(`NODE_TLS_REJECT_UNAUTHORIZED=0 node --no-warnings -e '${fetching}'`)).toBe(
    '200 fetched\n',
  )
  expect(egress.refusals).toEqual([])
})
