/** A menu that opens at its button: arrow keys move, Escape and a click elsewhere close. */
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

export interface MenuItem {
  label: string;
  help?: string;
  icon?: ReactNode;
  isChosen?: boolean;
  isDanger?: boolean;
  isDisabled?: boolean;
  act: () => void;
}

export interface MenuProps {
  /** Draws the button; it gets what makes it open the menu. */
  button: (props: { onClick: () => void; "aria-haspopup": "menu"; "aria-expanded": boolean }) => ReactNode;
  items: MenuItem[];
  label: string;
  /** A word above the items, about all of them. */
  note?: string;
  side?: "up" | "down";
  align?: "left" | "right";
}

export function Menu({ button, items, label, note, side = "down", align = "right" }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    box.current?.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
    const leave = (event: PointerEvent) => box.current?.contains(event.target as Node) || setOpen(false);
    addEventListener("pointerdown", leave);
    return () => removeEventListener("pointerdown", leave);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    box.current?.querySelector("button")?.focus();
  };
  const place = `${side === "up" ? "bottom-full mb-1" : "top-full mt-1"} ${align === "left" ? "left-0" : "right-0"}`;
  return (
    <div ref={box} className="relative">
      {button({ onClick: () => setOpen(!isOpen), "aria-haspopup": "menu", "aria-expanded": isOpen })}
      {isOpen && (
        <div
          role="menu"
          aria-label={label}
          onKeyDown={(event) => onKey(event, close)}
          className={`rise absolute z-30 max-h-[60dvh] w-72 max-w-[85vw] overflow-y-auto rounded-md border border-line-strong bg-raised p-1 ${place}`}
        >
          {note && <p className="px-3 py-2 text-[12.5px] text-amber">{note}</p>}
          {items.map((item) => (
            <MenuRow key={item.label} item={item} close={close} />
          ))}
        </div>
      )}
    </div>
  );
}

function MenuRow({ item, close }: { item: MenuItem; close: () => void }) {
  const role =
    item.isChosen === undefined ? { role: "menuitem" } : { role: "menuitemradio", "aria-checked": item.isChosen };
  return (
    <button
      type="button"
      {...role}
      aria-disabled={item.isDisabled}
      onClick={() => {
        if (item.isDisabled) return;
        close();
        item.act();
      }}
      className={`flex min-h-11 w-full items-start gap-2.5 rounded-sm px-3 py-2 text-left text-[14px] leading-snug hover:bg-hover lg:min-h-9 ${item.isDanger ? "text-red" : ""} ${item.isDisabled ? "cursor-default opacity-55" : ""}`}
    >
      {item.icon && <span className="mt-0.5 shrink-0">{item.icon}</span>}
      <span className="min-w-0 flex-1">
        <span className={item.isChosen ? "font-semibold" : ""}>{item.label}</span>
        {item.help && <span className="mt-0.5 block text-[12.5px] text-muted">{item.help}</span>}
      </span>
      {item.isChosen && <span className="mt-1.5 size-2 shrink-0 rounded-full bg-accent" />}
    </button>
  );
}

function onKey(event: KeyboardEvent<HTMLDivElement>, close: () => void): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[role^=menuitem]")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const focus = (index: number) => items[(index + items.length) % items.length]?.focus();
  if (event.key === "ArrowDown") focus(at + 1);
  else if (event.key === "ArrowUp") focus(at - 1);
  else if (event.key === "Home") focus(0);
  else if (event.key === "End") focus(-1);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
