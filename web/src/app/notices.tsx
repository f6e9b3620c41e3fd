/** Problems that belong to no place of their own: shown for a while, at the edge, over nothing that can be pressed. */
import { X } from "lucide-react";
import { useEffect } from "react";
import { dismissNotice } from "@/store/acts";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { refusalText } from "@/ui/label";
import { Plain } from "@/ui/plain";

const SHOWN_MS = 8_000;

export function Notices() {
  const text = useText();
  const notices = useApp((app) => app.world.notices);
  const first = notices[0]?.id;
  useEffect(() => {
    if (first === undefined) return;
    const timer = setTimeout(() => dismissNotice(first), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [first]);
  return (
    <div role="status" className="pointer-events-none fixed top-14 right-3 z-40 flex w-80 max-w-[90vw] flex-col gap-2">
      {notices.map((one) => (
        <div
          key={one.id}
          className="rise pointer-events-auto flex items-start gap-2 rounded-md border border-line-strong bg-raised py-1.5 pr-1 pl-4 text-[14px]"
        >
          <span dir="auto" className="min-w-0 flex-1 py-1.5 [overflow-wrap:anywhere]">
            <Plain text={refusalText(text, one)} />
          </span>
          <IconButton label={text.nav.close} onClick={() => dismissNotice(one.id)}>
            <X size={15} />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
