/** A window over the page, with the browser's own focus handling and Escape. */
import { X } from "lucide-react";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { useText } from "@/store/text";
import { IconButton } from "./button";

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Leaves out the visible heading, for windows that begin with a field. */
  isBare?: boolean;
  width?: string;
  /** Sits at the lower edge of a phone, where the thumb is. Not for windows with fields: a keyboard would cover them. */
  isSheet?: boolean;
}

export function Dialog({ title, onClose, children, isBare = false, isSheet = false, width = "max-w-lg" }: DialogProps) {
  const text = useText();
  const ref = useRef<HTMLDialogElement>(null);
  // Before the picture, so that no key falls between a window that goes and the one that comes in its place.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    // Opening gives the focus to the first button, which closes; a field that is to be filled comes first.
    dialog?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the browser's; a click beside the window is a convenience.
    <dialog
      ref={ref}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
      className={`rise ${isSheet ? "max-sm:mb-3" : ""} max-h-[85dvh] w-[calc(100vw-24px)] ${width} overflow-hidden rounded-lg border border-line-strong bg-raised p-0 text-ink`}
    >
      <div className="flex max-h-[85dvh] flex-col">
        {!isBare && (
          <header className="flex items-center justify-between border-b border-line py-2 pr-2 pl-5">
            <h2 className="font-semibold">{title}</h2>
            <IconButton label={text.nav.close} onClick={onClose}>
              <X size={18} />
            </IconButton>
          </header>
        )}
        <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
      </div>
    </dialog>
  );
}
