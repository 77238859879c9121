import type { Random } from '../../chaos/random.ts'

const FOLDERS = ['.', 'src', 'src/deep/er', 'lib', 'ignored', 'out', 'odd é', 'a', 'a/b', 'new/one', 'linked']
const NAMES = ['a', 'b', 'c.js', 'd.log', 'e.tmp', '-n', 'f g', "q'uote", 'ü', 'a.b', 'a-b', 'B', 'b.js', '0']
/** Names that git refuses, or that lead it to a repository. */
const ODD_NAMES = [
  'git~1',
  '.git ',
  '.GIT',
  '.gitmodules',
  '.gitattributes',
  '.github',
  'g\u200cit',
  '.g\u200cit',
]
const RULES = [
  '*.log',
  '*.tmp',
  'out/',
  '/ignored',
  '!c.log',
  'b*',
  'er/',
  '!b.js',
  'src/*',
  '\\!x',
  'a/b',
  '',
]
const PATTERNS_IN = ['.gitignore', 'src/.gitignore', 'a/.gitignore', 'lib/.gitignore']

/** A file that is larger is left out of snapshots. */
export const MAX_FILE_BYTES = 60_000

/** Returns a command of bash that changes files of the working directory in a few ways; none may fail it. */
export function randomChanges(random: Random): string {
  const count = 1 + Math.floor(random.between(0, 4) ** 2 / 3)
  return Array.from({ length: count }, () => `{ ${change(random)}; } >/dev/null 2>&1 || true`).join('\n')
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function change(random: Random): string {
  const folder = random.of(FOLDERS)
  const file = quote(`./${folder}/${random.of(NAMES)}`)
  const other = quote(`./${random.of(FOLDERS)}/${random.of(NAMES)}`)
  const into = quote(`./${folder}`)
  const text = String(Math.floor(random.between(0, 50)))
  const write = `mkdir -p ${into}; echo ${text} >${file}`
  const usual = [
    write,
    write,
    write,
    `echo ${text} >>${file}`,
    `echo ${text} >>${file}`,
    `rm -f ${file}`,
    `rm -rf ${file} ${other}`,
    `mv -T ${file} ${other}`,
    `mkdir -p ${into}; cp -a ${file} ${other}`,
    `chmod +x ${file}`,
    `chmod -x ${file}`,
    `touch ${file}`,
    `mkdir -p ${into}; ln -sfn ${random.of(['../src', 'nowhere', 'a', '/etc/passwd'])} ${file}`,
    `ln -f ${file} ${other}`,
    `mkdir -p ${into}; for i in {1..30}; do echo $i >${into}/many-$i; done`,
    `truncate -s ${text} ${file}`,
    `sed -i s/1/2/ ${file}`,
  ]
  const rare = [
    `rm -rf ${into}`,
    `rm -rf ${into}; mkdir -p ${into}; echo ${text} >${file}`,
    `mv -T ${into} ${other}`,
    `rm -rf ${file}; mkdir -p ${file}; echo ${text} >${file}/inside`,
    `rm -rf ${into}; mkdir -p "$(dirname ${into})"; ln -sfn src ${into}`,
    `echo ${quote(random.of(RULES))} >>${random.of(PATTERNS_IN)}`,
    `echo ${quote(random.of(RULES))} >${random.of(PATTERNS_IN)}`,
    `rm -f ${random.of(PATTERNS_IN)}`,
    `git add -A; git commit -qm change`,
    `git add -f ${file}; git commit -qm forced`,
    `git checkout -q -B other; git commit -q --allow-empty -m empty`,
    `git status; git add -A`,
    `git reset -q --hard; git clean -qfd`,
  ]
  const strange = [
    `mkdir -p ${into}; head -c ${MAX_FILE_BYTES + 1} /dev/zero >${file}`,
    `mkdir -p ${into}; head -c ${MAX_FILE_BYTES} /dev/zero >${file}`,
    `chmod 000 ${file}`,
    `chmod 000 ${into}`,
    `chmod -R u+rwX .`,
    `rm -rf ${file}; mkfifo ${file}`,
    `git init -q ${into}; echo ${text} >${file}`,
    `mv ${into}/.git ${into}/no-git`,
    `rm -rf ${into}/.git`,
    `mkdir -p ${into}; echo ${text} >${into}/${quote(random.of(ODD_NAMES))}`,
    `mkdir -p ${into}/${quote(random.of(ODD_NAMES))}; echo x >${into}/${quote(random.of(ODD_NAMES))}/config`,
    `rm -rf ${ODD_NAMES.map(name => quote(`./${folder}/${name}`)).join(' ')}`,
    `echo ${text} >${into}/$'new\\nline'; echo ${text} >${into}/$'\\xff\\xfe'`,
    `find . -name .git -prune -o -type p -exec rm -f {} +; find . -mindepth 2 -name .git -exec rm -rf {} +; chmod -R u+rwX .; rm -rf */.git ./*/*/.git`,
  ]
  const kind = random.between(0, 1)
  const from = kind < 0.88 ? usual : kind < 0.97 ? rare : strange
  // `.git` of the workspace itself stays.
  return random.of(from).replaceAll("rm -rf './.'", 'true')
}
