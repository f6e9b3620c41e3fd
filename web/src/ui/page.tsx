/** A view that scrolls, also by the keyboard when nothing in it can be focused. */
import type { ReactNode } from "react";
import { useBeside } from "./beside";

export function Page({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} tabIndex={0} className="h-full overflow-y-auto outline-none">
      <div className="mx-auto flex w-full max-w-[740px] flex-col gap-5 px-4 py-5">
        <Title>{title}</Title>
        {children}
      </div>
    </section>
  );
}

/** The name of a view. In the panel its tab says it, for those who see it. */
export function Title({ children }: { children: string }) {
  if (useBeside()) return <h2 className="sr-only">{children}</h2>;
  return <h1 className="text-[20px] font-semibold">{children}</h1>;
}
