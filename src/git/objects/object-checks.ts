import { harmless_problems } from '../process/git-config.ts'

/** The object of an empty file. */
export const EMPTY_FILE = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
/** The empty tree. */
export const NO_FILES = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/**
 * Problems that git's strict check may report in the objects of a checkpoint without refusing them, for
 * `index-pack --strict=`: malformed commits, and files that could mislead other git programs. A checkpoint
 * stores such files as they are, and the host never follows them.
 */
export const relaxedChecks = [
  ...harmless_problems,
  'gitmodulesBlob',
  'gitmodulesLarge',
  'gitmodulesMissing',
  'gitmodulesName',
  'gitmodulesPath',
  'gitmodulesSymlink',
  'gitmodulesUpdate',
  'gitmodulesUrl',
  'gitattributesBlob',
  'gitattributesLarge',
  'gitattributesLineLength',
  'gitattributesMissing',
]
  .map(id => `${id}=warn`)
  .join(',')
