import type { ModelApi } from '../../contract/model-settings.ts'

/**
 * The model of a run, as a program in its sandbox calls it. `gateway`: the address of the model gateway,
 * without a path.
 */
export type CalledModel = {
  gateway: string
  api: ModelApi
  name: string
  context_tokens: number | null
  max_output_tokens: number | null
}

/** How a program starts: a bash command, its variables, and files in its home folder by their path there. */
export type AgentStart = {
  command: string
  environment: Record<string, string>
  files?: Record<string, string>
}

/**
 * An agent whose settings the service knows, so that an operator states its folder only: that of `npm install
 * --prefix FOLDER PACKAGE`.
 */
export type AgentPreset = {
  label: string
  /** Its package in npm, and the version that its tests install. */
  npm: { package: string; verified: string }
  apis: readonly ModelApi[]
  /** False: its sessions are not continued by a later process, whatever it reports. */
  continues?: false
  /** `asks`: it requests a permission for what changes something; otherwise for nothing. */
  start(model: CalledModel, asks: boolean): AgentStart
}

/** What a program gets where it requires a key: the gateway has the real one. */
export const NO_KEY = 'none'
