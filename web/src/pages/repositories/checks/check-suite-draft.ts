import type { Body, Result } from '../../../../../src/contract/calls.ts'

export type CheckSuite = Result<'getCheckSuiteSettings'>

/** How failures of one check are treated. `attempts` '': as many as for the others. */
export type CheckRule = { ignored: boolean; attempts: string; prompt: string }

/** The settings as the form edits them: one rule for each known check. */
type CheckSuiteDraft = { attempts: string; apps: string; rules: Record<string, CheckRule> }

export const no_rule: CheckRule = { ignored: false, attempts: '', prompt: '' }

/** `names`: checks that are known although nothing is set for them, such as the commands of the service. */
export function draftOf(suite: CheckSuite, names: string[]): CheckSuiteDraft {
  const {
    check_retry_count,
    ignored_checks,
    check_retry_counts,
    custom_prompts,
    high_priority_apps,
    available_check_suite_names,
  } = suite
  const counts = new Map(Object.entries(check_retry_counts))
  const prompts = new Map(Object.entries(custom_prompts))
  const known = new Set([
    ...names,
    ...available_check_suite_names,
    ...ignored_checks,
    ...counts.keys(),
    ...prompts.keys(),
  ])
  const ruleOf = (name: string): CheckRule => ({
    ignored: ignored_checks.includes(name),
    attempts: String(counts.get(name) ?? ''),
    prompt: prompts.get(name) ?? '',
  })
  return {
    attempts: String(check_retry_count),
    apps: high_priority_apps.join(', '),
    rules: Object.fromEntries([...known].sort().map(name => [name, ruleOf(name)])),
  }
}

/** The request for a draft. */
export function bodyOf({ attempts, apps, rules }: CheckSuiteDraft): Body<'updateCheckSuiteSettings'> {
  const entries = Object.entries(rules)
  return {
    check_retry_count: Number(attempts),
    ignored_checks: entries.flatMap(([name, { ignored }]) => (ignored ? [name] : [])),
    check_retry_counts: Object.fromEntries(
      entries.flatMap(([name, rule]) => (rule.attempts === '' ? [] : [[name, Number(rule.attempts)]])),
    ),
    custom_prompts: Object.fromEntries(
      entries.flatMap(([name, { prompt }]) => (prompt.trim() === '' ? [] : [[name, prompt]])),
    ),
    high_priority_apps: apps
      .split(',')
      .map(app => app.trim())
      .filter(Boolean),
  }
}
