import type { Shape } from './shape.ts'

/** Credentials that the presets of secretlint do not know, or only in forms that ordinary text has too. */
export const extra_shapes: Shape[] = [
  // Installation tokens of GitHub Apps since 2026: a number, then a JSON web token.
  {
    name: 'github_token',
    marks: ['ghs_'],
    pattern:
      /(?<![A-Za-z0-9])ghs_[0-9]{1,20}_[A-Za-z0-9_-]{10,400}\.[A-Za-z0-9_-]{10,1200}\.[A-Za-z0-9_-]{10,600}/g,
  },
  {
    name: 'gitlab_token',
    marks: [
      'glptt-',
      'gldt-',
      'glrt-',
      'glrtr-',
      'glcbt-',
      'gloas-',
      'glft-',
      'glsoat-',
      'glimt-',
      'glagent-',
      'glffct-',
    ],
    pattern: /(?<![A-Za-z0-9])gl(?:ptt|dt|rtr|rt|cbt|oas|ft|soat|imt|agent|ffct)-[A-Za-z0-9_-]{20,250}/g,
  },
  {
    name: 'pypi_token',
    marks: ['pypi-AgE'],
    pattern: /(?<![A-Za-z0-9])pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{50,400}/g,
  },
  {
    name: 'rubygems_key',
    marks: ['rubygems_'],
    pattern: /(?<![A-Za-z0-9])rubygems_[a-f0-9]{48}(?![A-Za-z0-9])/g,
  },
  {
    name: 'sendgrid_key',
    marks: ['SG.'],
    pattern: /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g,
  },
  {
    name: 'webhook_secret',
    marks: ['whsec_'],
    pattern: /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/]{24,100}={0,2}/g,
  },
  { name: 'xai_key', marks: ['xai-'], pattern: /(?<![A-Za-z0-9])xai-[A-Za-z0-9]{70,100}(?![A-Za-z0-9])/g },
  {
    name: 'perplexity_key',
    marks: ['pplx-'],
    pattern: /(?<![A-Za-z0-9])pplx-[A-Za-z0-9]{48,64}(?![A-Za-z0-9])/g,
  },
  { name: 'replicate_token', marks: ['r8_'], pattern: /(?<![A-Za-z0-9])r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])/g },
  {
    name: 'google_oauth_secret',
    marks: ['GOCSPX-'],
    pattern: /(?<![A-Za-z0-9])GOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])/g,
  },
  { name: 'google_access_token', marks: ['ya29.'], pattern: /(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{40,512}/g },
  { name: 'azure_key', marks: ['AccountKey='], pattern: /(?<=AccountKey=)[A-Za-z0-9+/]{86}==/g },
  { name: 'azure_key', marks: ['SharedAccessKey='], pattern: /(?<=SharedAccessKey=)[A-Za-z0-9+/]{43}=/g },
  {
    name: 'azure_signature',
    marks: ['&sig=', '?sig='],
    pattern: /(?<=[?&]sig=)[A-Za-z0-9%+/]{40,80}(?:%3[Dd]|=)/g,
  },
  {
    name: 'digitalocean_token',
    marks: ['dop_v1_', 'doo_v1_', 'dor_v1_'],
    pattern: /(?<![A-Za-z0-9])do[opr]_v1_[a-f0-9]{64}(?![A-Za-z0-9])/g,
  },
  {
    name: 'doppler_token',
    marks: ['dp.'],
    pattern: /(?<![A-Za-z0-9])dp\.(?:ct|pt|st|sa|scim|audit)\.[A-Za-z0-9_.-]{40,80}/g,
  },
  {
    name: 'postman_key',
    marks: ['PMAK-'],
    pattern: /(?<![A-Za-z0-9])PMAK-[a-f0-9]{24}-[a-f0-9]{34}(?![A-Za-z0-9])/g,
  },
  { name: 'newrelic_key', marks: ['NRAK-'], pattern: /(?<![A-Za-z0-9])NRAK-[A-Z0-9]{27}(?![A-Za-z0-9])/g },
  { name: 'pulumi_token', marks: ['pul-'], pattern: /(?<![A-Za-z0-9])pul-[a-f0-9]{40}(?![A-Za-z0-9])/g },
  { name: 'atlassian_token', marks: ['ATATT3'], pattern: /(?<![A-Za-z0-9])ATATT3[A-Za-z0-9_=-]{100,300}/g },
  { name: 'supabase_token', marks: ['sbp_'], pattern: /(?<![A-Za-z0-9])sbp_[a-f0-9]{40}(?![A-Za-z0-9])/g },
  { name: 'supabase_key', marks: ['sb_secret_'], pattern: /(?<![A-Za-z0-9])sb_secret_[A-Za-z0-9_-]{30,60}/g },
  {
    name: 'planetscale_token',
    marks: ['pscale_'],
    pattern: /(?<![A-Za-z0-9])pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,64}/g,
  },
  {
    name: 'sentry_token',
    marks: ['sntryu_'],
    pattern: /(?<![A-Za-z0-9])sntryu_[a-f0-9]{64}(?![A-Za-z0-9])/g,
  },
  {
    name: 'sentry_token',
    marks: ['sntrys_eyJ'],
    pattern: /(?<![A-Za-z0-9])sntrys_eyJ[A-Za-z0-9+/=_-]{60,512}/g,
  },
  {
    name: 'age_key',
    marks: ['AGE-SECRET-KEY-1'],
    pattern: /(?<![A-Za-z0-9])AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}(?![A-Za-z0-9])/g,
  },
  {
    name: 'discord_webhook',
    marks: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    pattern: /discord(?:app)?\.com\/api\/webhooks\/[0-9]{17,20}\/[A-Za-z0-9_-]{60,80}/g,
  },
]
