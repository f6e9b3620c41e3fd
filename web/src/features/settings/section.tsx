/** A titled part of the settings. */
import type { ReactNode } from "react";

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2.5 border-t border-line pt-5">
      <h2 className="text-[14px] font-semibold">{title}</h2>
      {children}
    </section>
  );
}
