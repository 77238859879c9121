import { engine_tests } from '../../scripts/engine-tests.ts'

/** What runs the tests of a file that are skipped here. */
function commandFor(file: string): string {
  if (engine_tests.some(path => file.startsWith(path)))
    return 'npm run test:engines    # as root: installs Docker, Podman and what they need'
  if (file === 'test/faults/long-waits.long.test.ts') return 'TEST_SOAK=1 npm run test:long'
  if (file === 'test/telemetry/alerts.long.test.ts')
    return 'CI=true npm run test:long    # as root: installs promtool'
  if (file === 'test/deploy/proxies.long.test.ts')
    return 'CI=true npm run test:long    # as root: installs nginx and Caddy'
  if (file === 'test/deploy/linters.long.test.ts' || file === 'test/deploy/unit.long.test.ts')
    return 'CI=true npm run test:long    # as root: installs docker-compose, shellcheck and systemd'
  if (file === 'test/runs/upgrade/upgrade.long.test.ts')
    return 'node scripts/upgrade/test-upgrade.ts    # in a clone with its history'
  return `npm test -- ${file}    # as root, on a machine with what the test needs`
}

/** Names what was skipped, grouped by the command that runs it; nothing when nothing was. */
export function skippedLines(files: { file: string; skipped: number }[]): string {
  const commands = new Map<string, { files: string[]; tests: number }>()
  for (const { file, skipped } of files) {
    if (skipped === 0) continue
    const command = commandFor(file)
    const group = commands.get(command) ?? { files: [], tests: 0 }
    commands.set(command, { files: [...group.files, file], tests: group.tests + skipped })
  }
  const lines = [...commands].map(
    ([command, group]) => `  ${group.tests} in ${group.files.sort().join(', ')}\n    ${command}\n`,
  )
  return lines.length === 0 ? '' : `\nSkipped here, and how to run it:\n${lines.sort().join('')}`
}
