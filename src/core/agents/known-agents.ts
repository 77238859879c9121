import type { AgentPreset } from './agent-preset.ts'
import { claudeCode } from './presets/claude-code.ts'
import { codex } from './presets/codex.ts'
import { gemini } from './presets/gemini.ts'
import { opencode } from './presets/opencode.ts'

export const KNOWN_AGENTS: Record<string, AgentPreset> = { claude_code: claudeCode, codex, gemini, opencode }
