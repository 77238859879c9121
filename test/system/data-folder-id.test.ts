import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderId, ownFolderId } from '../../src/system/data-folder-id.ts'
import { temporaryFolder } from '../temporary-folder.ts'

test('a data folder keeps one name, and no two have the same', () => {
  using folder = temporaryFolder()
  const [one, two] = [join(folder.path, 'one'), join(folder.path, 'two')]
  for (const path of [one, two]) mkdirSync(path)
  expect(folderId(one)).toBeNull()
  const id = ownFolderId(one)
  expect([ownFolderId(one), folderId(one)]).toEqual([id, id])
  expect(ownFolderId(two)).not.toBe(id)
  expect(readdirSync(one)).toEqual(['id'])
})

test('a truncated id is recreated', () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'id'), '')
  expect(folderId(folder.path)).toBeNull()
  expect(ownFolderId(folder.path)).toBe(folderId(folder.path))
})
