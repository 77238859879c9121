/** The protocol by which a repository is reached. `local`: a path on the machine of the service. */
export type RepositoryKind = 'https' | 'http' | 'ssh' | 'local'
