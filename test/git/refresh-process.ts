import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { mirrorPath, openGitHost } from '../../src/git/process/git-host.ts'
import { runText } from './repositories.ts'

/**
 * A process of its own that refreshes one mirror and reports its content: `data_dir`, `source`, `uid` of the
 * service user or ''.
 */
const [data_dir = '', source = '', uid = ''] = process.argv.slice(2)
const user = uid === '' ? null : { name: 'service', uid: Number(uid), gid: Number(uid) }
await using host = await openGitHost({ data_dir, user, allow_private: true })
const state = await refreshMirror(host, { id: 1, kind: 'local', url: source })
const branches = (await runText(mirrorPath(host, 1), 'git', ['for-each-ref', 'refs/heads'])).split(
  '\n',
).length
process.send?.({ ...state, branches })
