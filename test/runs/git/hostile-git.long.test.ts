import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../temporary-folder.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { calls, gitIn, responses, shell, startCodingApp } from '../coding-app.ts'

/**
 * What an agent can do to the .git of its workspace, by the number of the attack. PAYLOAD is a program that
 * it wrote there.
 */
const hostile: Record<string, string> = {
  'D57–D60, D64, D65, D68–D70: configuration that names programs': `for key in core.fsmonitor core.editor core.pager core.sshCommand core.gitProxy core.askPass diff.external gpg.program
      diff.x.textconv diff.x.command merge.x.driver uploadpack.packObjectsHook core.alternateRefsCommand credential.helper sequence.editor; do git config $key PAYLOAD; done
    git config commit.gpgsign true; git config push.gpgsign true; git config core.hooksPath h; mkdir -p h; for h in pre-commit commit-msg post-commit pre-push; do cp PAYLOAD h/$h; done
    printf '* diff=x merge=x\\n' > .gitattributes; printf '[include]\\n\\tpath = /workspace/evil.cfg\\n[core]\\n\\tfsmonitor = PAYLOAD\\n' > evil.cfg; git config include.path /workspace/evil.cfg`,
  'D61–D63: filters and hooks': `git config filter.x.clean PAYLOAD; git config filter.x.smudge PAYLOAD; git config filter.x.process PAYLOAD; echo '* filter=x' > .gitattributes
    for h in pre-commit commit-msg post-commit pre-push post-index-change reference-transaction post-checkout post-merge pre-receive update post-receive; do cp PAYLOAD .git/hooks/$h; done`,
  'D66, D67: remotes that are programs': `git remote add evil 'ext::PAYLOAD'; git config protocol.ext.allow always; git config protocol.allow always
    git config url.'ext::PAYLOAD %S '.insteadOf https://; git config url.'ext::PAYLOAD %S /'.insteadOf /; git config remote.origin.uploadpack PAYLOAD; git config remote.origin.receivepack PAYLOAD`,
  'D71: a .git that is a file': `mv .git x; echo 'gitdir: x' > .git; git config core.fsmonitor PAYLOAD; cp PAYLOAD x/hooks/pre-commit`,
  'D72: a bare repository within': `git init -q --bare sub; git -C sub config core.fsmonitor PAYLOAD; git -C sub config core.bare false; git -C sub config core.worktree ..; cp PAYLOAD sub/hooks/pre-commit`,
  'D76: a submodule that is a program': `printf '[submodule "x"]\\n\\tpath = x\\n\\turl = ext::PAYLOAD\\n\\tupdate = !PAYLOAD\\n[submodule "y"]\\n\\tpath = y\\n\\turl = -u./payload\\n' > .gitmodules
    mkdir x; git -C x init -q; git -C x commit -q --allow-empty -m x; git config submodule.x.update '!PAYLOAD'; git config submodule.recurse true; git config fetch.recurseSubmodules true`,
}

/** Writes next to the canary if it can see it: only on the host, where every user may write there. */
const payload = (canary: string) =>
  `#!/bin/sh\nif [ -e ${canary} ]; then id > ${canary}.$$; fi\ncat 2>/dev/null || true\n`

test.each(Object.entries(hostile))(
  'the host runs nothing of the agent: %s',
  async (what, attack) => {
    const refused = what.startsWith('D76')
    using outside = temporaryFolder()
    chmodSync(outside.path, 0o777)
    const canary = join(outside.path, 'canary')
    writeFileSync(canary, '')
    const arm = `cat > payload <<'END'\n${payload(canary)}END\nchmod 755 payload\n${attack.replaceAll('PAYLOAD', '/workspace/payload')}\necho one > one.txt; echo armed`
    await using app = await startCodingApp(
      responses(
        calls(shell(arm)),
        calls(shell('echo two > two.txt')),
        { text: 'the first turn' },
        calls(shell('echo three > three.txt; rm -f one.txt')),
        { text: 'the second turn' },
      ),
    )
    const call = async (method: string, path: string, body?: unknown) => {
      const response = await app.call(method, `/v1/organizations/${app.org_id}${path}`, body)
      expect(response.status, path).toBe(200)
      return response.body
    }
    const { id } = await createRun(app, { prompt: 'be hostile' })
    const ended = await awaitEnd(app, id)
    const logs = await allLogs(app, id)
    expect(JSON.stringify(logs)).toContain('armed')
    const { seq } = logs.find(entry => entry.tool_name === 'shell')
    await call('GET', `/agent/run/${id}/diff?from_seq=1&to_seq=${seq + 1}`)
    // The check of objects refuses a commit with such a submodule, so it is not exported.
    if (refused) expect(ended.error, JSON.stringify(logs.at(-1))).toMatchObject({ code: 'bundle_corrupt' })
    else {
      expect(ended, JSON.stringify(logs.at(-1))).toMatchObject({
        status: 'completed',
        result: 'the first turn',
      })
      await call('POST', '/agent/run/resume', { agent_run_id: id, prompt: 'again' })
      const { branch } = await awaitRun(app, id, run => run.terminal && run.turn === 2)
      for (const path of [`/agent/run/${id}/diff`, '/prs']) await call('GET', path)
      expect(gitIn(app.repository, 'show', `${branch}:three.txt`)).toBe('three\n')
    }
    expect(readdirSync(outside.path)).toEqual(['canary'])
  },
  60_000,
)

test('the payload of these tests leaves a trace when the host executes it', async () => {
  using outside = temporaryFolder()
  const canary = join(outside.path, 'canary')
  writeFileSync(canary, '')
  const repository = join(outside.path, 'repository')
  gitIn(outside.path, 'init', '--quiet', repository)
  const program = join(outside.path, 'payload')
  writeFileSync(program, payload(canary), { mode: 0o755 })
  gitIn(repository, 'config', 'core.fsmonitor', program)
  gitIn(repository, 'status')
  expect(readdirSync(outside.path).filter(name => name.startsWith('canary.')).length).toBeGreaterThan(0)
})

test('D138: named pipes and files of the kernel instead of the files that git reads do not block a run, and its work is pushed', async () => {
  const pipes = [
    'rm -f .git/index; mkfifo .git/index',
    'mkfifo .gitignore .gitattributes .gitmodules; mkdir sub; mkfifo sub/.gitignore',
    'rm .git/HEAD .git/config .git/objects/info/alternates; mkfifo .git/HEAD .git/config .git/objects/info/alternates .git/info/exclude .git/shallow',
    'mkfifo /tmp/pipe; ln -sf /tmp/pipe .git/index; ln -sf /tmp/pipe .git/packed-refs',
    // Of the kernel, and without an end.
    'ln -sf /proc/self/pagemap .git/packed-refs; rm -rf .git/refs/heads/*',
    'for f in index config objects/info/alternates info/exclude shallow; do ln -sf /proc/self/pagemap .git/$f; done',
  ]
  await using app = await startCodingApp(
    responses(...pipes.flatMap(making => [calls(shell(`${making}; echo one >one.txt`)), { text: 'Done.' }])),
  )
  for (const making of pipes) {
    const { id } = await createRun(app, { prompt: 'be hostile' })
    const ended = await awaitEnd(app, id)
    expect(ended, making).toMatchObject({ status: 'completed', github_pull_requests: [expect.anything()] })
    expect(gitIn(app.repository, 'show', `${ended.branch}:one.txt`)).toBe('one\n')
  }
}, 120_000)
