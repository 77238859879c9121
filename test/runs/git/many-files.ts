import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testFolder } from '../../temporary-folder.ts'
import { gitIn } from '../coding-app.ts'

/** A repository of one commit with 20 folders of files, by default more than any run clones. */
export function makeManyFiles(files_per_folder = 30): string {
  const folder = testFolder()
  gitIn(folder, 'init', '--quiet', '--initial-branch=main')
  for (let part = 0; part < 20; part++) {
    mkdirSync(join(folder, 'src', `part-${part}`), { recursive: true })
    for (let file = 0; file < files_per_folder; file++)
      writeFileSync(join(folder, 'src', `part-${part}`, `file-${file}.js`), `export const n = ${file}\n`)
  }
  writeFileSync(join(folder, '.gitignore'), '*.log\n')
  gitIn(folder, 'add', '.')
  gitIn(folder, 'commit', '--quiet', '-m', 'all at once')
  return folder
}
