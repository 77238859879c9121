import type { CommandGroup } from '../command.ts'
import { admin } from './client/admin.ts'
import { completion } from './client/completion.ts'
import { doctor } from './client/doctor.ts'
import { help } from './client/help.ts'
import { login } from './client/login.ts'
import { roles } from './client/roles.ts'
import { audit } from './organization/audit.ts'
import { egress } from './organization/egress.ts'
import { integrations } from './organization/integrations.ts'
import { mcpServers } from './organization/mcp-servers.ts'
import { members } from './organization/members.ts'
import { models } from './organization/models.ts'
import { secrets } from './organization/secrets.ts'
import { settings } from './organization/settings.ts'
import { skills } from './organization/skills.ts'
import { tokens } from './organization/tokens.ts'
import { usage } from './organization/usage.ts'
import { webhooks } from './organization/webhooks.ts'
import { checks } from './repositories/checks.ts'
import { environments } from './repositories/environments.ts'
import { pr } from './repositories/pr.ts'
import { repos } from './repositories/repos.ts'
import { setup } from './repositories/setup.ts'
import { analyze } from './runs/analyze.ts'
import { fork } from './runs/fork.ts'
import { logs } from './runs/logs.ts'
import { archive, remove, rename, unarchive } from './runs/manage.ts'
import { open } from './runs/open.ts'
import { pause } from './runs/pause.ts'
import { related } from './runs/related.ts'
import { resume } from './runs/resume.ts'
import { run } from './runs/run.ts'
import { runs } from './runs/runs.ts'
import { sandboxes } from './runs/sandboxes.ts'
import { show } from './runs/show.ts'
import { stop } from './runs/stop.ts'

/**
 * Every command, in the order of the help. To add one: a file in a folder beside this one and its name in
 * this list.
 */
export const command_groups: readonly CommandGroup[] = [
  {
    heading: 'Runs:',
    commands: [run, runs, show, related, logs, resume, fork, pause, stop, open, analyze, sandboxes],
  },
  { heading: 'Managing runs:', commands: [rename, archive, unarchive, remove] },
  { heading: 'Repositories:', commands: [repos, pr, setup, environments, checks] },
  {
    heading: 'Organization:',
    commands: [
      settings,
      models,
      usage,
      members,
      tokens,
      secrets,
      skills,
      mcpServers,
      egress,
      webhooks,
      integrations,
      audit,
    ],
  },
  { heading: 'This machine:', commands: [login, doctor, completion, help] },
  { heading: 'The service, in its clone:', commands: [admin, ...roles] },
]
