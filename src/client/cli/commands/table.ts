import type { Command } from '../command.ts'
import { admin } from './admin.ts'
import { analyze } from './analyze.ts'
import { checks } from './checks.ts'
import { completion } from './completion.ts'
import { doctor } from './doctor.ts'
import { egress } from './egress.ts'
import { environments } from './environments.ts'
import { fork } from './fork.ts'
import { help } from './help.ts'
import { integrations } from './integrations.ts'
import { login } from './login.ts'
import { logs } from './logs.ts'
import { members } from './members.ts'
import { open } from './open.ts'
import { pause } from './pause.ts'
import { pr } from './pr.ts'
import { related } from './related.ts'
import { repos } from './repos.ts'
import { resume } from './resume.ts'
import { roles } from './roles.ts'
import { run } from './run.ts'
import { runs } from './runs.ts'
import { sandboxes } from './sandboxes.ts'
import { setup } from './setup.ts'
import { show } from './show.ts'
import { stop } from './stop.ts'
import { tokens } from './tokens.ts'
import { webhooks } from './webhooks.ts'

/** Every command, in the order of the help. To add one: a file here and its name in this list. */
export const commands: Command[] = [
  run,
  runs,
  show,
  related,
  logs,
  resume,
  fork,
  pause,
  stop,
  pr,
  repos,
  tokens,
  members,
  egress,
  setup,
  environments,
  checks,
  sandboxes,
  analyze,
  webhooks,
  integrations,
  open,
  login,
  doctor,
  completion,
  admin,
  ...roles,
  help,
]
