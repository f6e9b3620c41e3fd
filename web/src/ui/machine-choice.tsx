/** Which machine is meant, where there is more than one. */
import type { Machine } from "@/model/fleet";
import { useText } from "@/store/text";

export interface MachineChoiceProps {
  machines: readonly Machine[];
  chosen: number | undefined;
  choose: (deviceId: number) => void;
}

export function MachineChoice({ machines, chosen, choose }: MachineChoiceProps) {
  const text = useText();
  if (machines.length < 2) return null;
  return (
    <label className="flex flex-col gap-1.5 text-[13px] text-muted">
      {text.create.machine}
      <select
        value={chosen}
        onChange={(event) => choose(Number(event.target.value))}
        className="min-h-11 rounded-md border border-line-strong bg-bg px-3 text-[15px] text-ink"
      >
        {machines.map((machine) => (
          <option key={machine.deviceId} value={machine.deviceId}>
            {machine.icon} {machine.name}
          </option>
        ))}
      </select>
    </label>
  );
}
