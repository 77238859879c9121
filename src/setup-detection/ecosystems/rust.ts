import type { Part } from '../proposal.ts'
import { asText, namesOf, type Project, valueAt } from '../tree.ts'

/** Returns null when it is not a Rust project. */
export function rustPart(project: Project): Part | null {
  const manifest = project.toml('Cargo.toml')
  if (manifest === null) return null
  const from = project.at('Cargo.toml')
  const locked = project.has('Cargo.lock')
  const vendored = /replace-with|directory\s*=/.test(
    project.text('.cargo/config.toml') ?? project.text('.cargo/config') ?? '',
  )
  const needs = ['dependencies', 'dev-dependencies', 'build-dependencies', 'target', 'workspace'].some(
    key => namesOf(manifest[key]).length > 0,
  )
  const flags = `${valueAt(manifest, 'workspace') === null ? '' : ' --workspace'}${locked ? ' --locked' : ''}${vendored ? ' --offline' : ''}`
  const fetch = {
    command: `cargo fetch${locked ? ' --locked' : ''}`,
    from: locked ? project.at('Cargo.lock') : from,
    why: locked ? 'Cargo.lock is there' : 'there is no lockfile',
  }
  return {
    ecosystem: 'rust',
    folder: project.folder,
    install: needs && !vendored ? [fetch] : [],
    tests: [{ command: `cargo test${flags}`, from, why: 'the tests of all its packages' }],
    builds: [
      { command: `cargo build${flags}`, from, why: 'all its packages' },
      { command: `cargo check${flags}`, from, why: 'all its packages' },
    ],
    smokes: [],
    tools: [
      {
        binary: 'cargo',
        wanted: asText(valueAt(manifest, 'package', 'rust-version')) ?? channelOf(project),
        from,
        package: 'cargo',
      },
    ],
    lockfiles: ['Cargo.toml', 'Cargo.lock', 'rust-toolchain.toml', 'rust-toolchain', '.cargo/config.toml']
      .filter(project.has)
      .map(project.at),
    notes: vendored ? ['Its dependencies are in the repository.'] : [],
  }
}

const channelOf = (project: Project) =>
  asText(valueAt(project.toml('rust-toolchain.toml'), 'toolchain', 'channel')) ??
  asText(project.text('rust-toolchain')?.split('\n')[0])
