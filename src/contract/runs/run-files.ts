import { z } from 'zod'
import { decimal } from '../decimal.ts'
import { text } from '../text.ts'
import { exampleRun } from './example-run.ts'

/** Characters. Percent-encoded, each has up to twelve, and an address has at most `limits.url_chars`. */
const MAX_PATH = 500
const MAX_TEXT = 100
const MAX_ENTRIES = 1_000
const DEFAULT_ENTRIES = 200

const not_a_name = ['', '.', '..', '.git']
const isInside = (path: string): boolean =>
  path.split('/').every(name => !not_a_name.includes(name.toLowerCase()))
const path = (min: 0 | 1) =>
  text(min, MAX_PATH).refine(
    value => value === '' || isInside(value),
    'must be a path in the repository: names separated by `/`, none of them `.`, `..` or `.git`',
  )
const seq = decimal(0, 2_147_483_647)
  .optional()
  .describe('After this entry; 0: at the start; default: the newest whose files are available')

export const RunFilesQuery = z.object({
  path: path(0).default('').describe('The folder; default: the root of the repository'),
  seq,
  q: text(1, MAX_TEXT)
    .optional()
    .describe(
      'Only files, links and submodules below the folder, at any depth, whose path in it has this text; the case does not matter',
    ),
  skip: decimal(0, 10_000_000).optional().describe('Number of entries to skip, default 0'),
  limit: decimal(1, MAX_ENTRIES)
    .default(DEFAULT_ENTRIES)
    .describe(`Largest number of entries returned, default ${DEFAULT_ENTRIES}`),
})
export type RunFilesQuery = z.output<typeof RunFilesQuery>

export const RunFileQuery = z.object({
  path: path(1).describe('The file, as `path` of an entry of its folder'),
  seq,
})
export type RunFileQuery = z.output<typeof RunFileQuery>

const entry = {
  path: z
    .string()
    .describe('Path in the repository; one that is not UTF-8 as git quotes it: `"caf\\351.txt"`'),
  kind: z.enum(['folder', 'file', 'link', 'submodule']).describe('A link is never followed'),
  executable: z.boolean().describe('Whether it is a file that can be executed'),
  size: z.int().nullable().describe('Bytes of a file; null for everything else'),
  target: z
    .string()
    .nullable()
    .describe('Target of a link, as it is stored; null for everything else, and above 4,096 bytes'),
  commit: z.string().nullable().describe('Commit of a submodule; null for everything else'),
}

const RunFileEntry = z
  .object({ name: z.string().describe('Last part of the path'), ...entry })
  .meta({ id: 'AgentRunFileEntry' })
export type RunFileEntry = z.infer<typeof RunFileEntry>

const at = {
  agent_run_id: z.int().describe('The run'),
  seq: z.int().describe('The entry after which the files were like this; 0: at the start'),
}
const example = { executable: false, size: 113, target: null, commit: null }

export const RunFiles = z
  .object({
    ...at,
    path: z.string().describe('The folder; empty for the root'),
    items: z.array(RunFileEntry).describe('Folders first, then all others, each by name'),
    total: z.int().describe('Number of entries of the folder, or of those that match `q`'),
    complete: z.boolean().describe('False: the repository has more paths than were searched for `q`'),
    left_out: z
      .array(
        z.object({
          path: z.string().describe('Path in the repository'),
          reason: z.enum(['too_large', 'unreadable']).describe('Reason for its absence'),
        }),
      )
      .describe('Files of the whole workspace that were not kept, and are therefore missing'),
  })
  .meta({
    id: 'AgentRunFiles',
    examples: [
      {
        agent_run_id: exampleRun.id,
        seq: 4,
        path: 'src',
        items: [{ name: 'invoice.js', path: 'src/invoice.js', kind: 'file', ...example }],
        total: 1,
        complete: true,
        left_out: [],
      },
    ],
  })
export type RunFiles = z.infer<typeof RunFiles>

/** Encodings of text files, by their names in the Encoding Standard. */
const file_encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const

export const RunFile = z
  .object({
    ...at,
    ...entry,
    binary: z.boolean().describe('Whether it is a file that is not text'),
    encoding: z.enum(file_encodings).nullable().describe('Encoding of a text file; null for everything else'),
    text: z
      .string()
      .nullable()
      .describe('Its text, without byte order mark and secrets; null when it is not a text file'),
    text_truncated: z
      .boolean()
      .describe('Whether `text` is only the beginning, because the file has more than 1 MiB'),
  })
  .meta({
    id: 'AgentRunFile',
    examples: [
      {
        agent_run_id: exampleRun.id,
        seq: 4,
        path: 'src/invoice.js',
        kind: 'file',
        ...example,
        size: 45,
        binary: false,
        encoding: 'utf-8',
        text: 'export const total = lines => sum(lines) * tax\n',
        text_truncated: false,
      },
    ],
  })
export type RunFile = z.infer<typeof RunFile>
