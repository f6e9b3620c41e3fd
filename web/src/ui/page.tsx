/** A view that scrolls, also by the keyboard when nothing in it can be focused. */
import type { ReactNode } from "react";

export function Page({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} tabIndex={0} className="h-full overflow-y-auto outline-none">
      <div className="mx-auto flex w-full max-w-[740px] flex-col gap-5 px-4 py-5">
        <h1 className="text-[20px] font-semibold">{title}</h1>
        {children}
      </div>
    </section>
  );
}
