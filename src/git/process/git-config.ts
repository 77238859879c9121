/**
 * Old but harmless problems in the history of well-known public repositories; git's strict check would refuse
 * to fetch them. Problems that could mislead a later checkout (bad names in trees, bad .gitmodules) stay
 * errors.
 */
export const harmless_problems = [
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
const relaxedChecks = () => `[fetch "fsck"]\n${harmless_problems.map(id => `\t${id} = warn\n`).join('')}`

/**
 * The whole configuration of the service's own git processes; the system's and users' configurations are
 * ignored. Objects are never dropped: workspaces borrow them from the mirror for their whole life.
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
 * The configuration of the peer process of a local repository (`upload-pack`, `receive-pack`) as the service
 * user: it opens one path, chosen by the service, regardless of its owner.
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
