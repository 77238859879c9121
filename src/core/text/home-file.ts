import { shellQuote } from './shell-quote.ts'

/**
 * Returns a bash command that creates a file in the home folder of a sandbox with the output of `source`, and
 * its folders. A kept home folder has what an agent left there: what is not a folder is replaced by one, the
 * file is removed first, and no link is followed.
 */
export function homeFileCommand(path: string, source: string): string {
  const names = path.split('/').slice(0, -1)
  const folders = ['"$HOME"', ...names.map((_, i) => inHome(names.slice(0, i + 1).join('/')))]
  const steps = [
    'umask 077',
    ...folders.map(folder => `own ${folder}`),
    `file=${inHome(path)}`,
    '{ [[ ! -d $file || -L $file ]] || chmod -R u+rwx -- "$file"; }',
    '{ [[ ! -e $file && ! -L $file ]] || rm -rf -- "$file"; }',
    'set -C',
    `${source} >"$file"`,
  ]
  return `(${OWN}\n${steps.join(' && ')})`
}

const inHome = (path: string) => `"$HOME"/${shellQuote(path)}`

const OWN = `own() {
  { [[ -d $1 && ! -L $1 ]] || { rm -f -- "$1" && mkdir -- "$1"; }; } && { [[ -r $1 && -w $1 && -x $1 ]] || chmod u+rwx -- "$1"; }
}`
