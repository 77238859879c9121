import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { phpExtensions } from './php-extensions.ts'

test('of PHP a sandbox sees which extensions are loaded, and no other setting', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-php-'))
  try {
    for (const name of ['mods-available', 'conf.d']) mkdirSync(join(folder, name))
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, 'mods-available', name), text)
      symlinkSync(join(folder, 'mods-available', name), join(folder, 'conf.d', `20-${name}`))
    }
    write('mbstring.ini', '; configuration for php mbstring module\n; priority=20\nextension=mbstring.so\n')
    write('opcache.ini', 'zend_extension=opcache.so\nopcache.jit=off\n')
    write('newrelic.ini', 'extension=newrelic.so\nnewrelic.license = "0123"\n')
    symlinkSync(join(folder, 'gone'), join(folder, 'conf.d', '20-gone.ini'))
    expect(phpExtensions(join(folder, 'conf.d/*.ini')).sort((a, b) => (a.host < b.host ? -1 : 1))).toEqual([
      { host: join(folder, 'mods-available/mbstring.ini'), inside: join(folder, 'conf.d/20-mbstring.ini') },
      { host: join(folder, 'mods-available/opcache.ini'), inside: join(folder, 'conf.d/20-opcache.ini') },
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
