/** Buttons: one main act per view, quiet ones beside it, and icon buttons that always have a name. */
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

type Kind = "main" | "plain" | "quiet" | "danger" | "amber";

const KINDS: Record<Kind, string> = {
  main: "bg-accent text-accent-ink font-semibold hover:brightness-110",
  amber: "bg-amber-fill text-amber-ink font-semibold hover:brightness-110",
  plain: "border border-line-strong bg-raised text-ink hover:bg-hover",
  quiet: "text-muted hover:bg-hover hover:text-ink",
  danger: "border border-red/50 text-red hover:bg-red-soft",
};

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind;
}

export function Button({ kind = "plain", className = "", type = "button", ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      className={`inline-flex min-h-11 items-center justify-center gap-2 rounded-md px-4 text-[14px] leading-tight transition-colors duration-100 disabled:opacity-50 lg:min-h-9 ${KINDS[kind]} ${className}`}
      {...rest}
    />
  );
}

export interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
  children: ReactNode;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ label, className = "", type = "button", ...rest }: IconButtonProps) {
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      className={`inline-flex size-11 shrink-0 items-center justify-center rounded-md text-muted transition-colors duration-100 hover:bg-hover hover:text-ink disabled:opacity-40 lg:size-9 ${className}`}
      {...rest}
    />
  );
}
