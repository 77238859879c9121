/** How a repository is reached. `local`: by its path on the machine of the service. */
export type RepositoryKind = 'https' | 'http' | 'ssh' | 'local'
