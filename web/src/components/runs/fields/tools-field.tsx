import { optionalTools } from '../../../../../src/contract/runs/action-tools.ts'
import { Switch } from '../../../ui/field.tsx'

type Props = { tools_off: string[]; on_change: (tools_off: string[]) => void; problem: string | undefined }

/** The tools of the agent, each of which can be turned off for the run. */
export function ToolsField({ tools_off, on_change, problem }: Props) {
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-xs font-medium text-muted">
        Tools of the agent{tools_off.length > 0 && `: without ${tools_off.join(', ')}`}
      </summary>
      <fieldset className="mt-2 grid grid-cols-2 gap-2 sm:grid-cols-3">
        <legend className="sr-only">Tools of the agent</legend>
        {optionalTools.map(name => (
          <Switch
            key={name}
            label={name}
            checked={!tools_off.includes(name)}
            onChange={event =>
              on_change(
                event.target.checked ? tools_off.filter(other => other !== name) : [...tools_off, name],
              )
            }
          />
        ))}
      </fieldset>
      {problem && <p className="mt-1 text-bad text-xs">{problem}</p>}
    </details>
  )
}
