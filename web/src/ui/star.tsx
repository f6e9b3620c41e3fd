/** The star of Estelle, drawn; it carries the state: still, pulsing while something works, with a dot when you are needed. */
export interface StarProps {
  state?: "still" | "working" | "needed";
  size?: number;
}

export function Star({ state = "still", size = 22 }: StarProps) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" className="shrink-0">
      <path
        d="M16 2.5c1 8.1 4.4 11.5 13.5 13.5C20.4 18 17 21.4 16 29.5 15 21.4 11.6 18 2.5 16 11.6 14 15 10.6 16 2.5Z"
        className={`fill-accent ${state === "working" ? "breathe" : ""}`}
      />
      {state === "needed" && <circle cx="25.5" cy="6.5" r="5" className="fill-amber-fill stroke-bg" strokeWidth="2" />}
    </svg>
  );
}
