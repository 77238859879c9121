/** The object of a file without content. */
export const EMPTY_FILE = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
/** The tree of no files. */
export const NO_FILES = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/**
 * What git's strict check may find in the objects of a checkpoint without refusing them, for `index-pack --strict=`: sloppiness of commits,
 * and files by which other programs of git could be misled. A checkpoint keeps such files as they are, and nobody follows them on the host.
 */
export const relaxedChecks = [
  ...['badTimezone', 'missingSpaceBeforeDate', 'missingSpaceBeforeEmail', 'missingNameBeforeEmail', 'missingEmail', 'badEmail', 'badName'],
  ...['multipleAuthors', 'zeroPaddedFilemode', 'zeroPaddedDate', 'nullSha1'],
  ...[
    'gitmodulesBlob',
    'gitmodulesLarge',
    'gitmodulesMissing',
    'gitmodulesName',
    'gitmodulesPath',
    'gitmodulesSymlink',
    'gitmodulesUpdate',
  ],
  ...['gitmodulesUrl', 'gitattributesBlob', 'gitattributesLarge', 'gitattributesLineLength', 'gitattributesMissing'],
]
  .map(id => `${id}=warn`)
  .join(',')
