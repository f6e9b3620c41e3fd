/** What becomes of a call, as a word in its colour. */
import type { RuleEffect } from "@/gen";
import { useText } from "@/store/text";

const COLOURS: Record<string, string> = { allow: "text-green", ask: "text-amber", deny: "text-red" };

export function EffectWords({ effect, className = "" }: { effect: RuleEffect; className?: string }) {
  const text = useText();
  const words = text.rules[effect as "allow" | "ask" | "deny"] ?? effect;
  return <span className={`text-[13px] font-medium ${COLOURS[effect] ?? ""} ${className}`}>{words}</span>;
}
