import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addOrganization } from '../../api/access/second-organization.ts'
import type { App } from '../../start-app.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../coding-app.ts'
import { makeManyFiles } from './many-files.ts'

let app: CodingApp
let other: App
let script: string[] = []
beforeAll(async () => {
  const repository = makeManyFiles()
  app = await startCodingApp(
    () => {
      const next = script.shift()
      return next === undefined ? { text: 'Done.' } : calls(shell(next))
    },
    { AGENTRUN_REPO_PATHS: dirname(repository) },
    repository,
  )
  const { org_id, token } = await addOrganization(app, 'Beta')
  const call: App['call'] = (method, path, body, headers) =>
    app.call(method, path, body, { ...headers, authorization: `Bearer ${token}` })
  const { status, body } = await call('POST', `/v1/organizations/${org_id}/repos`, { url: repository })
  expect(status).toBe(200)
  other = { ...app, org_id, token, call, repo_id: body.id }
})
afterAll(() => app[Symbol.asyncDispose]())

async function run(of: App, ...commands: string[]) {
  script = commands
  const { id } = await createRun(of, { prompt: 'Go.', repo_id: of.repo_id })
  const ended = await awaitEnd(of, id)
  const outputs = (await allLogs(of, id)).flatMap(entry =>
    entry.tool_name === 'shell' ? [entry.tool_output.output as string] : [],
  )
  return { id, ended, outputs }
}

/** The full content of a template: names, kinds, modes, times and contents. */
const templatesNow = () => {
  const root = join(app.data_dir, 'templates')
  const contents = execFileSync(
    'sh',
    ['-c', 'find . -path "*/tree/*" -printf "%p %y %m %T@ %s %l\\n" -type f -exec sha256sum {} + | sort'],
    {
      cwd: root,
    },
  )
  return { names: readdirSync(root).toSorted(), contents: contents.toString() }
}

const poll =
  'cat .git/config; cat .git/HEAD .git/packed-refs .git/objects/info/alternates; ls -A .git .git/hooks 2>/dev/null; git status --short; git log --format=%s; git ls-files -v | cut -c1 | sort | uniq -c; getfattr -dR . 2>/dev/null'
const poison = `exec 2>&1
echo poison | tee src/part-0/*.js src/part-1/file-1.js >/dev/null; rm -r src/part-2; mkdir src/part-2; ln -s /etc src/part-3/link
chmod 4777 src/part-4/file-4.js; touch -d 2001-01-01 src/part-5/file-5.js; mv src/part-6 moved; ln src/part-7/file-7.js hard; echo more >>hard
setfattr -n user.overlay.opaque -v y src/part-8; setfattr -n user.overlay.redirect -v /etc src/part-8; setfattr -n user.x -v y src/part-9
mknod src/part-10/file-10.js c 0 0; rm .gitignore; mkdir .gitignore
printf '#!/bin/sh\\necho pwned\\n' >payload; chmod 755 payload; mkdir -p .git/hooks; for h in pre-commit post-checkout post-index-change reference-transaction; do cp payload .git/hooks/$h; done
git config core.fsmonitor /workspace/payload; git config core.hooksPath /workspace; git config filter.x.smudge /workspace/payload; echo '* filter=x' >>.git/info/attributes
echo /workspace/evil >>.git/objects/info/alternates; mkdir -p .git/worktrees/x; echo /nowhere >.git/worktrees/x/gitdir; git config extensions.worktreeConfig true
git update-index --assume-unchanged src/part-11/file-1.js; git update-index --skip-worktree src/part-11/file-2.js
for i in $(seq 50); do git update-ref refs/remotes/origin/evil-$i HEAD; done; git pack-refs --all; git replace HEAD HEAD^{commit} || true
echo evil >/mirror/evil; echo evil >/mirror/objects/info/alternates; chmod -R u+w /mirror; touch /mirror/refs/heads/evil; echo done`

test('C135: regardless of what an agent does to its files and its git, the next run of the same commit begins like the first', async () => {
  const clean = await run(app, poll)
  const before = templatesNow()
  expect(before.names).toHaveLength(1)
  const { outputs, ended } = await run(app, poison)
  expect(outputs[0]).toContain('done\n')
  expect(ended.terminal).toBe(true)
  expect(templatesNow()).toEqual(before)
  const again = await run(app, poll)
  // Only the branch of the run and the branch that the previous run pushed differ.
  const own = (text = '', id: number) =>
    text.replaceAll(/^[0-9a-f]{40} refs\/remotes\/origin\/agent\/.*\n/gm, '').replaceAll(`run-${id}-`, 'run-')
  expect(own(again.outputs[0], again.id)).toBe(own(clean.outputs[0], clean.id))
  expect(templatesNow()).toEqual(before)
})

test('D136: two organizations with the same repository share nothing of it on the machine: no mirror, no template, no commit, no branch that was not pushed', async () => {
  const hidden =
    'git checkout -q -b private; echo "only of Alpha" >secret.txt; git add -A; git commit -qm "only of Alpha"; git rev-parse HEAD HEAD^{tree} HEAD:secret.txt; git checkout -q -; echo x >x'
  const mine = await run(app, hidden)
  const shas = mine.outputs[0]?.trim().split('\n') ?? []
  expect(shas).toHaveLength(3)
  const find = shas.map(sha => `git cat-file -t ${sha}; git --git-dir=/mirror cat-file -t ${sha}`).join('; ')
  const seen = await run(app, `{ ${find}; } 2>&1`)
  const theirs = await run(
    other,
    `{ ${find}; } 2>&1; git --git-dir=/mirror for-each-ref --format='%(refname)' refs/agentrun refs/kept; grep -rl "only of Alpha" /workspace /mirror /run /tmp ~ 2>/dev/null; ls /`,
  )
  expect(theirs.ended.status).toBe('completed')
  expect(theirs.outputs[0]).not.toMatch(/^(commit|tree|blob)$/m)
  expect(theirs.outputs[0]).not.toContain('refs/')
  // The next run of the same organization does not have the unpushed objects either.
  expect(seen.outputs[0]).not.toMatch(/^(commit|tree|blob)$/m)
  const { names } = templatesNow()
  expect(new Set(names.map(name => name.split('-')[0]))).toEqual(
    new Set([`${app.repo_id}`, `${other.repo_id}`]),
  )
  const mirrors = readdirSync(join(app.data_dir, 'mirrors'))
  expect(mirrors.filter(name => name.startsWith(`${other.repo_id}`))).not.toEqual([])
  // And the API reports neither of them.
  for (const path of [
    `/agent/run/${mine.id}`,
    `/agent/run/${mine.id}/logs`,
    `/agent/run/${mine.id}/diff`,
    `/repos/${app.repo_id}`,
  ])
    expect((await other.call('GET', `/v1/organizations/${other.org_id}${path}`)).status, path).toBe(404)
})
