/** All keys on one sheet. */
import { useText } from "@/store/text";
import { Dialog } from "@/ui/dialog";

export function Help({ close }: { close: () => void }) {
  const text = useText();
  const rows: [string, string][] = [
    ["Ctrl K", text.help.palette],
    ["?", text.help.help],
    ["Alt I", text.help.inbox],
    ["Alt J", text.help.next],
    ["Alt K", text.help.previous],
    ["Alt F", text.help.find],
    ["Alt P", text.panel.toggle],
    ["Alt C", text.help.compose],
    ["Alt N", text.help.fresh],
    ["Alt S", text.help.stop],
    ["Alt A", text.help.allow],
    ["Alt D", text.help.deny],
    ["↑ ↓", text.help.history],
    ["Enter", text.help.send],
    ["Shift Enter", text.help.newline],
    ["Esc", text.help.leave],
  ];
  return (
    <Dialog title={text.help.title} onClose={close} width="max-w-md">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-5 gap-y-2 p-5 text-[14px]">
        {rows.map(([keys, words]) => (
          <div key={keys} className="contents">
            <dt className="flex gap-1">
              {keys.split(" ").map((key) => (
                <kbd
                  key={key}
                  className="rounded-sm border border-line-strong bg-surface px-1.5 font-mono text-[12.5px]"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd className="text-muted">{words}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
