import { makeRepository } from './make-repository.ts'
import { addSample, report, type Samples } from './measure.ts'
import { startService } from './start-service.ts'

const RUNS = 15
const FOLDERS = 400
const FILES = 50
/** 200 MB in 20,000 files, as a dependency folder has it. */
const INSTALL = `for i in $(seq ${FOLDERS}); do mkdir -p node_modules/p$i; head -c ${FILES * 10_486} /dev/zero | split -b 10486 -a 3 - node_modules/p$i/f; done`
const PROMPT = 'Look.\n```playbook\n- run: ls node_modules | wc -l\n- answer: Done.\n```'
const warm = 'create to first action, warm'

/**
 * From the create of a run to its agent's first action: with 200 MB of dependencies prepared by an earlier
 * run, recreated, and without a setup.
 */
export async function environments(): Promise<string> {
  using repository = makeRepository()
  const env = { AGENTRUN_INIT_REPO_URL: repository.path, AGENTRUN_DEFAULT_MODEL: 'scripted/playbook' }
  await using service = await startService(env)
  const [repo] = (await service.call('GET', '/repos')).items as { id: number }[]
  const samples: Samples = new Map()
  const setUpBy = (commands: string[]) =>
    service.call('PUT', `/repos/${repo?.id}/setup-commands`, { commands })
  const start = async (name: string | null) => {
    const run = await service.call('POST', '/agent/run', {
      prompt: PROMPT.replace('ls node_modules', name?.startsWith('base') ? 'ls .' : 'ls node_modules'),
    })
    await service.ended(Number(run.id))
    const { first_action_ms, setup_ms } = await service.call('GET', `/agent/run/${run.id}/startup`)
    if (name === null) return
    addSample(samples, name, Number(first_action_ms))
    if (name === warm) addSample(samples, 'of it: finding and checking the environment', Number(setup_ms))
  }
  await setUpBy([INSTALL])
  await start('the same for the first run, which sets it up')
  await start(null)
  for (let n = 0; n < RUNS; n++) await start(warm)
  await setUpBy([])
  for (let n = 0; n < RUNS; n++) await start('baseline: the same without a setup')
  return report(
    `environments: ${RUNS} runs one after another on ${FOLDERS * FILES} prepared files of 200 MB`,
    samples,
    {
      name: warm,
      median_ms: 500,
    },
  )
}
