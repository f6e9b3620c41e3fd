/** The whole input of a call that history has cut: asked of the machine when somebody wants to see it. */
import { useEffect, useState } from "react";
import type { ToolEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { toolDetail } from "./acts";

export function useWholeInput(place: Place | undefined, tool: ToolEntry | undefined): unknown {
  const [found, setFound] = useState<{ id: string; input: unknown } | null>(null);
  const id = tool?.isShortened ? tool.toolUseId : undefined;
  useEffect(() => {
    if (!id || !place) return;
    let isCurrent = true;
    toolDetail(place, id)
      .then((detail) => isCurrent && setFound({ id, input: JSON.parse(detail.input) as unknown }))
      .catch(() => undefined);
    return () => {
      isCurrent = false;
    };
  }, [id, place]);
  return found !== null && found.id === id ? found.input : undefined;
}
