/** A command and the file of the repository that it is for or that says so. */
/** `needs`: packages that nobody may leave out of what it installs. */
export type Said = { command: string; from: string; why: string; needs?: readonly string[] }

export type ProofKind = 'test' | 'build' | 'smoke'
export type Proof = Said & { kind: ProofKind }

/** A step of the setup. `optional`: the repository only says so somewhere, so one that fails may be left out. */
export type Step = Said & { optional: boolean }

/** A program that is needed. `package`: what Debian calls the package that has it. */
export type Tool = { binary: string; wanted: string | null; from: string; package: string }

/** What one ecosystem needs in one folder of the repository. `folder`: `''` is the root. */
export type Part = {
  ecosystem: string
  folder: string
  install: Said[]
  /** Each list: the best first. */
  tests: Said[]
  builds: Said[]
  smokes: Said[]
  tools: Tool[]
  /** Files that decide what is installed. */
  lockfiles: string[]
  notes: string[]
  /** How what its documents call by its usual name is called here. */
  calls?: { name: string; as: string }[]
  /** What may be tried where no registry can be reached. */
  offline?: Pick<Part, 'install' | 'tests' | 'builds' | 'smokes'>
}

/** What is to be proved of one part: one of these, the best first. */
export type ToProve = { ecosystem: string; folder: string; proofs: Proof[] }

export type Proposal = {
  ecosystems: string[]
  commands: Step[]
  to_prove: ToProve[]
  tools: Tool[]
  lockfiles: string[]
  notes: string[]
  /** The same where no registry can be reached; null: there is no other way. */
  offline: { commands: Step[]; to_prove: ToProve[] } | null
}

/** What programs there are where the commands run: name → what it says of its version. */
export type Toolchain = ReadonlyMap<string, string>
