/** Skills of the organization for its agents. `list`: all by name; `read`: the whole SKILL.md, null when there is none of that name. */
export type OrganizationSkills = {
  list(): Promise<{ name: string; description: string }[]>
  read(name: string): Promise<string | null>
}
