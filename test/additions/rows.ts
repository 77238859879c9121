import { readPage } from '../documentation.ts'

/**
 * A row of the tables "To add …" of ARCHITECTURE.md. `compiler`: the files that it marks as those to which
 * the compiler points. `proofs`: commits and paths of tests.
 */
export type AdditionRow = { what: string; touch: string; compiler: string[]; proofs: string[] }

const HEADING = '\n## To add …\n'

/** Returns the rows of all tables "To add …". */
export function additionRows(): AdditionRow[] {
  const page = readPage('ARCHITECTURE.md')
  const section = page.slice(page.indexOf(HEADING) + HEADING.length).split(/\n## /)[0] ?? ''
  return section
    .split('\n')
    .filter(line => line.startsWith('| ') && !line.startsWith('| what |'))
    .map(line => {
      const [what = '', touch = '', proof = ''] = line.slice(2, -2).split(' | ')
      return {
        what,
        touch,
        compiler: [...touch.matchAll(/`([^`]+)` \(compiler\b/g)].map(([, path = '']) => path),
        proofs: [...proof.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      }
    })
}
