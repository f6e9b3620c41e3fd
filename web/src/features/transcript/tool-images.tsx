/** The pictures that a call gave. */
import { useCallback } from "react";
import type { ToolEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { toolDetail } from "@/store/acts";
import { useText } from "@/store/text";
import { Picture } from "@/ui/picture";

export function ToolImages({ tool, place }: { tool: ToolEntry; place: Place }) {
  const text = useText();
  const images = tool.end?.images ?? [];
  if (!tool.toolUseId) return null;
  return images.map(({ mimeType }, index) => (
    <One
      key={index}
      place={place}
      call={tool.toolUseId as string}
      index={index}
      mimeType={mimeType}
      label={text.tool.picture(index + 1, images.length)}
    />
  ));
}

interface OneProps {
  place: Place;
  call: string;
  index: number;
  mimeType: string;
  label: string;
}

function One({ place, call, index, mimeType, label }: OneProps) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the place is another object with every change of the list.
  const load = useCallback(async () => (await toolDetail(place, call, index)).image, [call, index]);
  return <Picture label={label} mimeType={mimeType} load={load} />;
}

/** The words of the output without the names of the pictures that are shown beside them. */
export function withoutMarks(output: string, images: number): string {
  let left = images;
  return output.replace(/^\[image: image\/(?:png|jpeg|gif|webp), \d+ KiB\]\n?/gm, (mark) => (left-- > 0 ? "" : mark));
}
