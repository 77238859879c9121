import { errorText, type Log } from '../../core/log.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { parsePrograms, programsCommand } from '../../setup-detection/installed-programs.ts'

/**
 * Lists the programs that the sandboxes of this process have, in an open one and once: all show those of the
 * machine or of the image. Null: not known, because the sandbox ended meanwhile. Never rejects.
 */
export type InstalledPrograms = (sandbox: Pick<Sandbox, 'exec'>) => Promise<string | null>

const PROBE = { shell: 'separate', timeout_ms: 10_000, max_output_bytes: 16 * 1024 } as const

/**
 * Returns a function that detects the programs of the sandbox image once per process. Null: the detection
 * failed, and the next call repeats it.
 */
export function createInstalledPrograms(log: Log): InstalledPrograms {
  let detecting: Promise<string | null> | null = null
  const detect: InstalledPrograms = async sandbox => {
    try {
      const { status, output } = await sandbox.exec({ command: programsCommand(), ...PROBE })
      if (status === 'exited') return parsePrograms(Buffer.from(output).toString('utf8'))
    } catch (error) {
      log('info', 'the installed programs are not known yet', { error: errorText(error) })
    }
    detecting = null
    return null
  }
  return sandbox => {
    detecting ??= detect(sandbox)
    return detecting
  }
}
