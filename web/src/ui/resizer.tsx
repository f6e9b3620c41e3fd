/** The edge of a part of the page, to be drawn or moved with the arrow keys. */
export interface ResizerProps {
  label: string;
  /** Which edge of the part it is; the part is at the other side of the page. */
  side: "left" | "right";
  width: number;
  narrowest: number;
  widest: number;
  set: (width: number) => void;
}

const STEP_PX = 16;

export function Resizer({ label, side, width, narrowest, widest, set }: ResizerProps) {
  const move = (next: number) => set(Math.round(Math.min(widest, Math.max(narrowest, next))));
  const outward = side === "right" ? 1 : -1;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule that can be moved is exactly this role.
    <div
      role="separator"
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={narrowest}
      aria-valuemax={widest}
      tabIndex={0}
      onKeyDown={({ key }) => {
        if (key === "ArrowLeft") move(width - STEP_PX * outward);
        if (key === "ArrowRight") move(width + STEP_PX * outward);
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        move(side === "right" ? event.clientX : innerWidth - event.clientX);
      }}
      className={`absolute inset-y-0 z-10 w-2 cursor-col-resize touch-none hover:bg-accent/30 ${side === "right" ? "-right-1" : "-left-1"}`}
    />
  );
}
