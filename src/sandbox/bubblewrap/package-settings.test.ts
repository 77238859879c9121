import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageSettings } from './package-settings.ts'

const md5 = (text: string) => createHash('md5').update(text).digest('hex')

test('only settings with the content of their package are shown: none that was changed, added, removed or left out', () => {
  const root = mkdtempSync(join(tmpdir(), 'agentrun-settings-'))
  try {
    const [status, folder, other] = [join(root, 'status'), join(root, 'chromium.d/'), join(root, 'other/')]
    for (const path of [folder, other]) mkdirSync(path)
    for (const name of ['kept', 'changed', 'added', 'obsolete'])
      writeFileSync(join(folder, name), name === 'changed' ? 'key = "0123"' : name)
    writeFileSync(join(other, 'kept'), 'kept')
    const record = ['kept', 'changed', 'removed'].map(name => ` ${folder}${name} ${md5(name)}\n`)
    const rest = ` ${folder}obsolete ${md5('obsolete')} obsolete\n ${other}kept ${md5('kept')}\n`
    writeFileSync(status, `Package: chromium\nConffiles:\n${record.join('')}${rest}Description: a browser\n`)
    const kept = { host: `${folder}kept`, inside: `${folder}kept` }
    expect(packageSettings([folder], status)).toEqual([kept])

    // A package was installed meanwhile.
    writeFileSync(
      status,
      `Package: chromium\nConffiles:\n${record.join('')} ${folder}added ${md5('added')}\n`,
    )
    utimesSync(status, 0, 1)
    expect(packageSettings([folder], status)).toEqual([
      kept,
      { host: `${folder}added`, inside: `${folder}added` },
    ])
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

test('on a system without a record of packages there are none', () => {
  expect(packageSettings(['/etc/'], '/nonexistent/status')).toEqual([])
})
