/** Starts the app on a page, over a given way to connect. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import type { Connect } from "@/api/socket";
import { start } from "@/store/app";
import { followLanguage } from "@/store/text";
import { App } from "./app";
import { followBadge, followTheme } from "./surroundings";

export async function mount(root: HTMLElement, connect: Connect): Promise<void> {
  followTheme();
  await followLanguage();
  followBadge();
  start(connect);
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
