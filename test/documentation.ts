import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clone } from './source-tree.ts'

/** Every page of the documentation, as a path from the clone's folder. */
export const documentationPages = execFileSync('git', ['ls-files', '*.md'], { cwd: clone, encoding: 'utf8' })
  .split('\n')
  .filter(path => path !== '' && !path.startsWith('test/') && !path.startsWith('src/'))

export const readPage = (page: string) => readFileSync(join(clone, page), 'utf8')
