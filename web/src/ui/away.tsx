/** Instead of what only a machine knows, while it is not connected. Before that is known, nothing is said of it. */
import type { ReactNode } from "react";
import { useUnsure } from "@/store/presence";
import { useText } from "@/store/text";
import { EmptyState, Skeleton } from "./states";

export function MachineAway({ help, icon, children }: { help: string; icon?: ReactNode; children?: ReactNode }) {
  const text = useText();
  const isUnsure = useUnsure();
  if (isUnsure) {
    return (
      <div className="mx-auto w-full max-w-[740px] p-5">
        <Skeleton label={text.connection.connecting} />
      </div>
    );
  }
  return (
    <EmptyState icon={icon} title={text.talk.offline} help={help}>
      {children}
    </EmptyState>
  );
}
