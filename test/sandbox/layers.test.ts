import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Layer } from '../../src/sandbox/port.ts'
import { removeWorkspace } from '../../src/sandbox/workspaces/workspaces.ts'
import { isAlive, waitUntil } from '../../src/system/processes.ts'
import { limits, makeDriver, sandbox_user, startSandbox, type TestSandbox } from './start-sandbox.ts'

const created = makeDriver()
const { layers } = created.driver
afterAll(() => created[Symbol.asyncDispose]())

/** An unchanged template: some folders with files, one of them closed to writers. */
function makeBase(name: string): string {
  const base = created.makeWorkspace(name)
  for (const folder of ['one', 'two', 'three']) mkdirSync(join(base, folder))
  const files = ['one/a', 'one/b', 'two/a', 'three/a', 'top', 'set-user-id']
  for (const file of files) writeFileSync(join(base, file), `${file} of the template\n`)
  if (sandbox_user)
    for (const file of ['one', 'two', 'three', ...files])
      chownSync(join(base, file), sandbox_user.uid, sandbox_user.gid)
  chmodSync(join(base, 'set-user-id'), 0o755)
  return base
}

/** Everything that is visible of a folder from outside. */
const stateOf = (folder: string) =>
  execFileSync(
    '/bin/sh',
    [
      '-c',
      `cd "${folder}" && find . -printf '%p %m %U %G %n %s %T@ %C@ %i\\n' | sort; find . -type f -exec sha256sum {} + | sort`,
    ],
    {
      encoding: 'utf8',
    },
  )

async function open(folder: string, base: string): Promise<Layer> {
  const layer = await layers?.open([{ folder, base }])
  if (layer === undefined) throw new Error('the driver has no layers')
  return layer
}

/** A sandbox in a layer of its own, and one beside it that sees the files read-only. */
async function openBoth(
  folder: string,
  base: string,
): Promise<AsyncDisposable & { layer: Layer; box: TestSandbox; beside: TestSandbox }> {
  const stack = new AsyncDisposableStack()
  const layer = stack.use(await open(folder, base))
  const box = stack.use(await startSandbox(created.driver, folder, { within: layer }))
  const shadow = created.makeWorkspace(`shadow-${readdirSync(join(created.folder, 'workspaces')).length}`)
  const beside = stack.use(
    await startSandbox(created.driver, shadow, {
      within: layer,
      read_only: [{ host: folder, inside: '/files' }],
    }),
  )
  return { layer, box, beside, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

it('proves by its self-test that this machine has layers, leaves nothing behind, and reports in one line why there are none', async () => {
  const folder = join(created.folder, 'proof')
  mkdirSync(folder, { mode: 0o711 })
  expect(await layers?.selfTest(folder)).toEqual({ ok: true })
  expect(readdirSync(folder)).toEqual([])
  // No space for the changes of an overlay: there are no attributes of users.
  const refused = (await layers?.selfTest('/proc')) ?? { ok: true }
  expect(refused).toMatchObject({ ok: false, reason: expect.stringMatching(/^[^\n]+$/) })
})

it('shows both sandboxes of a run the same files immediately, also those that were missing at an earlier lookup', async () => {
  await using set = await openBoth(created.makeWorkspace('both'), makeBase('both-base'))
  const polls = 'cat /files/one/a /files/new 2>&1; ls /files/two; stat -c %i /files/one/a'
  expect((await set.beside.shell(polls)).text).toContain('No such file')
  await set.box.shell(
    'echo changed >one/a; echo new >new; rm -r two; mkdir two; touch two/fresh; mv three elsewhere; chmod 700 top',
  )
  expect((await set.beside.shell(polls)).text).toMatch(/^changed\nnew\nfresh\n\d+\n$/)
  expect(
    (
      await set.beside.shell(
        'ls /files /files/elsewhere; stat -c %a /files/top; touch /files/x 2>&1 | grep -o Read-only',
      )
    ).text,
  ).toBe('/files:\nelsewhere\nnew\none\nset-user-id\ntop\ntwo\n\n/files/elsewhere:\na\n700\nRead-only\n')
})

it('keeps what was deleted, renamed and recreated for the next owner, under another name of the folder', async () => {
  const base = makeBase('next-base')
  const folder = created.makeWorkspace('next-1')
  const state = 'find . -printf "%p %m %s\\n" | sort; cat one/a'
  let left: string
  {
    await using first = await openBoth(folder, base)
    await first.box.shell(
      'echo more >>one/a; rm -r two; mkdir two; touch two/fresh; mv three elsewhere; rm top; ln one/a linked; ln -s one link; chmod 0 one/b',
    )
    left = (await first.box.shell(state)).text
  }
  renameSync(folder, join(created.folder, 'workspaces', 'next-2'))
  await using second = await openBoth(join(created.folder, 'workspaces', 'next-2'), base)
  expect((await second.box.shell(state)).text).toBe(left)
  expect(left).toContain('./two/fresh')
  expect(left).not.toMatch(/\.\/(two\/a|three|top) /)
})

it('A: a hostile run leaves the template as it was and reaches nothing beyond it by attributes of overlays', async () => {
  const base = makeBase('hostile-base')
  const before = stateOf(base)
  const folder = created.makeWorkspace('hostile')
  const other = created.makeWorkspace('hostile-other')
  const set = await openBoth(folder, base)
  await using beside = await openBoth(other, base)
  const { text } = await set.box.shell(String.raw`
export CALL=${process.arch === 'arm64' ? 5 : 188}
exec 3<>one/a; echo x >&3; exec 3>&-
chmod 4777 set-user-id; chmod 0 one; chmod 700 one; ln one/b hard; echo x >>hard; touch -d @1 top; truncate -s 0 two/a; mv one/a two/b; rm -r three
perl -e '
  my $set = $ENV{CALL};
  for my $name (qw(user.overlay.redirect user.overlay.opaque user.overlay.metacopy user.overlay.origin trusted.overlay.redirect security.capability)) {
    for my $path ("/workspace/two", "/workspace/two/b") {
      my ($p, $n, $v) = ($path, $name, $name =~ /redirect/ ? "/../../../../../etc" : "y");
      syscall($set, $p, $n, $v, length $v, 0);
    }
  }'
mknod whiteout c 0 0 2>&1 | grep -o 'Operation not permitted'
ls -a / | tr '\n' ' '; find / -xdev -name lower 2>/dev/null; cat /proc/self/mountinfo | grep -c -e ${created.folder}.*overlay
grep ' /workspace ' /proc/self/mountinfo | grep -o 'lowerdir.*'`)
  expect(text.replace(/,(redirect_dir|uuid|index|xino|nouserxattr|metacopy)=\w+/g, '')).toBe(
    'Operation not permitted\n. .. bin dev etc home lib lib64 opt proc run sbin tmp usr workspace 0\nlowerdir=lower,upperdir=upper,workdir=work,userxattr\n',
  )
  const files = 'ls -R two; cat two/b'
  const left = (await set.box.shell(files)).text
  expect(left).toBe('two:\na\nb\nx\ne/a of the template\n')
  // What one could set there would count when it is mounted again.
  await set[Symbol.asyncDispose]()
  await using again = await openBoth(folder, base)
  expect((await again.box.shell(files)).text).toBe(left)
  expect(stateOf(base)).toBe(before)
  expect((await beside.box.shell('cat one/a; ls; stat -c %a set-user-id')).text).toBe(
    'one/a of the template\none\nset-user-id\nthree\ntop\ntwo\n755\n',
  )
})

it('is gone with the process that opened it: killed, or ended by its name', async () => {
  const base = makeBase('ended-base')
  const folder = created.makeWorkspace('ended')
  const layer = await open(folder, base)
  const box = await startSandbox(created.driver, folder, { within: layer })
  await created.driver.end([layer.identity, box.sandbox.identity].join('\n'))
  await box.sandbox.ended
  await expect(
    created.driver.start({ workspace: folder, within: layer, read_only: [], limits }),
  ).rejects.toThrow(/./)
  await layer[Symbol.asyncDispose]()

  const input = JSON.stringify({
    runtime_dir: join(created.folder, 'runtime'),
    workspace: folder,
    base,
    command: 'sleep 1000 &',
  })
  const owner = spawn(process.execPath, [join(import.meta.dirname, 'owner-process.ts'), input], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await once(owner.stdout, 'data')
  const pids = String(printed).trim().split(' ').slice(1).map(Number)
  expect(pids).toHaveLength(2)
  expect(pids.every(isAlive)).toBe(true)
  owner.kill('SIGKILL')
  expect(await waitUntil(() => !pids.some(isAlive), 5_000)).toBe(true)
  await using again = await open(folder, base)
  expect(again.identity).not.toBe(layer.identity)
})

it('is removed whole, the closed folders that an overlay works in included', async () => {
  const folder = created.makeWorkspace('removed')
  {
    await using set = await openBoth(folder, makeBase('removed-base'))
    await set.box.shell('rm -r one; mkdir -p closed/inner; touch closed/inner/x; chmod 0 closed')
  }
  await removeWorkspace(folder, sandbox_user)
  expect(existsSync(folder)).toBe(false)
})

it('renames no folder of the template in one step, which mv and git know how to live with, and every folder of its own', async () => {
  await using set = await openBoth(created.makeWorkspace('renames'), makeBase('renames-base'))
  const { shell } = set.box
  await shell('git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one')
  expect((await shell('git mv one uno 2>&1')).text).toContain('Invalid cross-device link')
  expect((await shell('mv one uno && git add -A && git status --short')).text).toBe(
    'R  one/a -> uno/a\nR  one/b -> uno/b\n',
  )
  const rename = `perl -e 'rename($ARGV[0], $ARGV[1]) or die "$!\\n"'`
  expect(
    await shell(
      `mkdir -p two/own/deep && ${rename} two/own two/mine && ${rename} uno ein && ls -d two/mine/deep ein/a`,
    ),
  ).toMatchObject({
    text: 'ein/a\ntwo/mine/deep\n',
  })
})

it('shows from outside that something has changed in a layer, and that nothing has', {
  timeout: 60_000,
}, async () => {
  await using both = await openBoth(created.makeWorkspace('state'), makeBase('state-base'))
  const { box } = both
  const look = () => created.driver.filesState?.(join(created.folder, 'workspaces', 'state'), true)
  await box.shell(
    'echo one >new; mkdir -p deep/er; ln -s /etc link; git init -q . && git commit -q --allow-empty -m first',
  )
  const harmless = [
    'true',
    'cat new top one/a; ls -R . >/dev/null; stat link',
    'echo x >/tmp/other',
    'git log >/dev/null',
  ]
  // Git refreshes its index once.
  await box.shell(harmless.join('; '))
  for (const command of harmless) {
    const before = await look()
    await box.shell(command)
    expect({ command, same: (await look()) === before, known: before !== null }).toEqual({
      command,
      same: true,
      known: true,
    })
  }
  const changes = [
    'echo two >new',
    'touch -r top stamp; echo six >new; touch -r stamp new',
    'printf X | dd of=new conv=notrunc bs=1 seek=0 status=none',
    'chmod 600 new',
    'mv new deep/er/newer',
    'rm link',
    'ln -s /usr link',
    'ln deep/er/newer hard',
    'rm one/b',
    'echo more >>two/a',
    'mv top bottom',
    'rm -r three && mkdir three',
    'git commit -q --allow-empty -m second',
    'git checkout -q -b other',
    `perl -e 'open(F,"+<","hard");seek(F,0,0);print F "z"'`,
    'setfattr -n user.note -v x hard 2>/dev/null || chmod 640 hard',
  ]
  for (const command of changes) {
    const before = await look()
    await box.shell(command)
    expect({ command, same: (await look()) === before }).toEqual({ command, same: false })
  }
  await box.shell('mkdir a; head -c 70000 /dev/zero >a/large')
  expect(await look()).toMatch(/^70000 /)
  await box.shell('mkdir many; for i in {1..1000}; do : >many/$i; done')
  expect(await look()).toBe(null)
  await box.shell('rm -r many; mkdir shut; : >shut/file; mv shut elsewhere; ln -s /proc shut')
  expect(await look()).not.toBe(null)
})
