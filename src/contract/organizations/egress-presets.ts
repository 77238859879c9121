/**
 * Registries whose hosts are known (src/egress/presets.ts). The module loads no schema, so that the web page
 * can use it.
 */
export const egress_presets = [
  ...([
    'npm',
    'pypi',
    'crates',
    'golang',
    'maven',
    'gradle',
    'rubygems',
    'packagist',
    'nuget',
    'hex',
    'pub',
    'conda',
  ] as const),
  ...(['debian', 'ubuntu', 'alpine'] as const),
] as const
export type EgressPreset = (typeof egress_presets)[number]
