/** What stands in the place of a view that could not be drawn or loaded: what is the matter, and a way on. */
import { RefreshCw, Unplug } from "lucide-react";
import type { ReactNode } from "react";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Plain } from "@/ui/plain";
import { EmptyState } from "@/ui/states";

/** Browsers say it each in their own words: a file of the app did not come, for want of a network or after a deploy. */
const NOT_LOADED = /dynamically imported module|importing a module script|preload css|loading (css )?chunk/i;

function isNotLoaded(error: unknown): boolean {
  return error instanceof Error && NOT_LOADED.test(error.message);
}

export function broken(error: unknown): ReactNode {
  return <Broken error={error} />;
}

function Broken({ error }: { error: unknown }) {
  const text = useText();
  const isPart = isNotLoaded(error);
  return (
    <div role="alert" className="h-full">
      <EmptyState
        icon={<Unplug size={30} />}
        title={isPart ? text.broken.part : text.broken.view}
        help={isPart ? text.broken.partHelp : text.broken.help}
      >
        <Button kind="main" onClick={() => location.reload()}>
          <RefreshCw size={16} /> {text.broken.reload}
        </Button>
        <details className="w-full text-[13px] text-muted">
          <summary className="cursor-pointer py-2">{text.broken.details}</summary>
          <code dir="auto" className="[overflow-wrap:anywhere]">
            <Plain text={error instanceof Error ? `${error.name}: ${error.message}` : String(error)} />
          </code>
        </details>
      </EmptyState>
    </div>
  );
}

/** The same in a window of its own, which can be closed. */
export function BrokenWindow({ error, close }: { error: unknown; close: () => void }) {
  const text = useText();
  return (
    <Dialog title={text.app.name} onClose={close}>
      <Broken error={error} />
    </Dialog>
  );
}

/** One line in the place of a small part, for which a whole view would be too much. */
export function brokenPart(error: unknown): ReactNode {
  return <BrokenPart error={error} />;
}

function BrokenPart({ error }: { error: unknown }) {
  const text = useText();
  return (
    <p role="alert" className="flex flex-wrap items-center gap-x-3 px-4 py-1 text-[13px] text-muted">
      {isNotLoaded(error) ? text.broken.part : text.broken.view}
      <Button kind="quiet" onClick={() => location.reload()}>
        {text.broken.reload}
      </Button>
    </p>
  );
}
