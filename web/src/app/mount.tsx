/** Starts the app on a page, over a given way to connect. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import type { Connect } from "@/api/socket";
import { start } from "@/store/app";
import { shareSettings } from "@/store/settings";
import { followLanguage } from "@/store/text";
import { Boundary } from "@/ui/boundary";
import { App } from "./app";
import { broken } from "./broken";
import { followPush } from "./push-words";
import { followBadge, followTheme } from "./surroundings";

export async function mount(root: HTMLElement, connect: Connect): Promise<void> {
  shareSettings();
  followTheme();
  await followLanguage();
  followBadge();
  start(connect);
  followPush();
  createRoot(root).render(
    <StrictMode>
      <Boundary broken={broken}>
        <App />
      </Boundary>
    </StrictMode>,
  );
}
