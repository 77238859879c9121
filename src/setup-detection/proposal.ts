/** A command and the file of the repository that it is derived from. */
/** `needs`: packages that must not be excluded from what it installs. */
export type Suggestion = { command: string; from: string; why: string; needs?: readonly string[] }

export type ProofKind = 'test' | 'build' | 'smoke'
export type Proof = Suggestion & { kind: ProofKind }

/** A step of the setup. `optional`: it is only mentioned in a document, so a failing one may be dropped. */
export type Step = Suggestion & { optional: boolean }

/** A required program. `package`: the Debian package that contains it. */
export type Tool = { binary: string; wanted: string | null; from: string; package: string }

/** The needs of one ecosystem in one folder of the repository. `folder`: `''` is the root. */
export type Part = {
  ecosystem: string
  folder: string
  install: Suggestion[]
  /** Each list: the best first. */
  tests: Suggestion[]
  builds: Suggestion[]
  smokes: Suggestion[]
  tools: Tool[]
  /** Files that determine what is installed. */
  lockfiles: string[]
  notes: string[]
  /** The local name of a program that documents call by its common name. */
  calls?: { name: string; as: string }[]
  /** Alternatives without a reachable registry. */
  offline?: Pick<Part, 'install' | 'tests' | 'builds' | 'smokes'>
}

/** The proofs of one part: one of them must pass, the best first. */
export type ToProve = { ecosystem: string; folder: string; proofs: Proof[] }

export type Proposal = {
  ecosystems: string[]
  commands: Step[]
  to_prove: ToProve[]
  tools: Tool[]
  lockfiles: string[]
  notes: string[]
  /** The alternative without a reachable registry; null: there is none. */
  offline: { commands: Step[]; to_prove: ToProve[] } | null
}

/** The programs of the machine: name → version output. */
export type Toolchain = ReadonlyMap<string, string>
