/**
 * The whole configuration of our own git processes; nothing of the machine or of a user's home is read.
 * Objects are never dropped: workspaces borrow them from the mirror for as long as they live.
 */
export const OWN_CONFIG = `[core]
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	askPass =
	quotePath = false
	fsync = objects,derived-metadata,reference
	bigFileThreshold = 64m
	sharedRepository = 0640
[gc]
	auto = 0
	pruneExpire = never
[maintenance]
	auto = false
[credential]
	helper =
[http]
	followRedirects = false
	lowSpeedLimit = 500
	lowSpeedTime = 45
[pack]
	threads = 2
	windowMemory = 128m
	deltaCacheSize = 64m
[log]
	mailmap = false
[protocol]
	version = 2
[transfer]
	fsckObjects = true
	unpackLimit = 1
	bundleURI = false
[fetch]
	recurseSubmodules = no
	showForcedUpdates = false
${relaxedChecks()}[push]
	recurseSubmodules = no
	gpgSign = false
	followTags = false
[diff]
	renames = true
	renameLimit = 2000
	algorithm = histogram
[advice]
	fetchShowForcedUpdates = false
`

/**
 * Old but harmless sloppiness that well-known public repositories have in their history; git's strict check would refuse to fetch them.
 * What could fool a later checkout (bad names in trees, bad .gitmodules) stays an error.
 */
function relaxedChecks(): string {
  const ids = [
    'badTimezone',
    'missingSpaceBeforeDate',
    'missingSpaceBeforeEmail',
    'missingNameBeforeEmail',
    'missingEmail',
    'badEmail',
    'badName',
    'multipleAuthors',
    'zeroPaddedFilemode',
    'zeroPaddedDate',
    'nullSha1',
  ]
  return `[fetch "fsck"]\n${ids.map(id => `\t${id} = warn\n`).join('')}`
}

/**
 * The configuration of the other side of a local repository (`upload-pack`, `receive-pack`) when it runs as the service user:
 * that process opens one path, chosen by us, whoever owns it.
 */
export const PEER_CONFIG = `[safe]
	directory = *
[pack]
	threads = 2
	windowMemory = 128m
	deltaCacheSize = 64m
[gc]
	auto = 0
[receive]
	autogc = false
`
