import { afterAll, expect, test } from 'vitest'
import { type Storing, startHistories } from './two-snapshots.ts'

/** Each list: commands of the agent, with a snapshot after each. */
const CASES: Record<string, string[]> = {
  'an ignored folder that becomes a file': [
    "echo 'gone/' >.gitignore",
    'mkdir gone; echo x >gone/a; echo 1 >b',
    'rm -rf gone; echo hello >gone',
    'echo 2 >b',
  ],
  'a character device instead of a file': ['echo 1 >c', 'rm -f b; mknod b c 0 0', 'echo 2 >c'],
  'names that git could read as patterns': [
    "printf '/foo\\n/:bar\\n' >.gitignore",
    "echo 1 >':foo'; mkdir ':'; echo 2 >':/foo'; echo 3 >':bar'; echo 4 >'bar'; echo 5 >foo",
    "echo 6 >':foo'; echo 7 >':/foo'",
  ],
  'names that git refuses': [
    'echo 1 >c',
    "mkdir 'w\\.git'; echo x >'w\\.git/config'; echo x >'a\\.git'; ln -s c gi7eba~1; ln -s c gitmod~1; echo 2 >c",
    'echo 3 >c',
  ],
  'a folder that is made again without the rules that it had': [
    'echo 1 >rules/a.log; echo 1 >rules/kept',
    'rm -rf rules; mkdir rules; echo 2 >rules/a.log; echo 2 >rules/kept',
    'echo 3 >rules/a.log',
  ],
  'a folder that comes back with rules': [
    'mkdir again; echo 1 >again/a.log',
    'rm -rf again',
    'mkdir again; echo "*.log" >again/.gitignore; echo 2 >again/a.log; echo 2 >again/kept',
    'rm again/.gitignore',
  ],
  'pipes as rules': [
    'mkdir -p p/q/r; mkfifo p/.gitignore; echo 1 >p/q/r/a',
    'echo 2 >p/q/r/a',
    'rm p/.gitignore; echo 3 >p/q/r/a',
  ],
}
/** A folder of the base with rules of its own. */
const RULES = `mkdir rules; echo '*.log' >rules/.gitignore; echo x >rules/file; git add rules; git commit -qm rules`

const lines = (end: string) => `for i in {1..200}; do echo "line $i of a file ${end}"; done >b`

/** Each list: commands of the agent, and whether the checkpoint of the files afterwards is stored. */
const STORED: Record<string, [command: string, storing: Storing][]> = {
  'the database fails once': [
    [`touch .gitignore; ${lines('one')}`, 'lost'],
    ['echo 2 >>b', true],
    ['echo 3 >>b', true],
  ],
  'the database fails, and the files are as before': [
    ['cp b was', true],
    ['touch .gitignore; echo x >>b', 'lost'],
    ['cat was >b', true],
    ['echo 3 >>lib/a', true],
  ],
  'the database fails for files that the service has written': [
    ['echo 1 >lib/b', true],
    [lines('one'), 'lost'],
    [`${lines('one')}; echo 2 >>b`, false],
    [lines('one'), true],
    ['echo 3 >>b', true],
  ],
  'another run has had the same files': [
    [`touch .gitignore; ${lines('one')}`, false],
    ['echo 2 >>b', false],
    ['echo 3 >>b', true],
    ['echo 4 >>b', true],
    ['touch .gitignore; echo 5 >>b', true],
  ],
}

const histories = await startHistories(RULES)
afterAll(() => histories[Symbol.asyncDispose]())

test.each(Object.entries(CASES))(
  '%s: both snapshots are equal',
  async (name, commands) => {
    for (const layered of name.includes('device') ? [true, false] : [true]) {
      await using history = await histories.start(layered)
      for (const command of commands) {
        const taken = await history.after(command)
        expect(taken?.from_changes.tree, command).toBe(taken?.from_git.tree ?? 'none')
      }
      expect(await history.finish()).toBe(null)
    }
  },
  120_000,
)

test.each(Object.entries(STORED))(
  '%s: another machine restores the last snapshot from what is stored',
  async (_name, steps) => {
    await using another = await histories.start(true)
    await another.after(lines('one'))
    await using history = await histories.start(true)
    for (const [command, storing] of steps) {
      const taken = await history.after(command, storing)
      expect(taken?.from_changes.tree, command).toBe(taken?.from_git.tree ?? 'none')
    }
    expect(await history.finish()).toBe(null)
  },
  120_000,
)
