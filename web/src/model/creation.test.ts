import { expect, it } from "vitest";
import type { Workspace } from "@/gen";
import { grantedSince, idsOf } from "./creation";
import type { Fleet } from "./fleet";

function fleet(...spaces: [id: string, name: string, conversations: Record<string, string>][]): Fleet {
  const workspaces = spaces.map(
    ([workspaceId, name, conversations]): Workspace => ({
      workspaceId,
      name,
      workingDir: `/home/${name}`,
      tasks: [],
      workerStatus: { running: false },
      conversations: Object.entries(conversations).map(([conversationId, name]) => ({
        conversationId,
        name,
        skillType: "general",
        status: "idle",
        claudeSessionId: null,
        updatedAt: 0,
      })),
    }),
  );
  return [{ deviceId: 1, name: "M", icon: "", isOnline: true, workspaces, activeConversationId: null, listedAt: 1 }];
}

it("knows a conversation that was made although its answer was lost", () => {
  const before = idsOf(fleet(["w", "garden", { a: "Seeds" }]), 1);
  const wish = { deviceId: 1, workspaceId: "w", name: "Seeds" };
  expect(grantedSince(before, fleet(["w", "garden", { a: "Seeds" }]), wish)).toBeUndefined();
  expect(grantedSince(before, fleet(["w", "garden", { a: "Seeds", b: "Other" }]), wish)).toBeUndefined();
  expect(grantedSince(before, fleet(["w", "garden", { a: "Seeds", c: "Seeds" }]), wish)).toBe("c");
  expect(grantedSince(before, fleet(["v", "garden", { c: "Seeds" }]), wish)).toBeUndefined();
});

it("knows a workspace that was made by the conversation it begins with", () => {
  const before = idsOf(fleet(["w", "garden", { a: "Seeds" }]), 1);
  const wish = { deviceId: 1, name: "thesis" };
  expect(grantedSince(before, fleet(["w", "garden", { a: "Seeds", b: "x" }]), wish)).toBeUndefined();
  expect(grantedSince(before, fleet(["w", "garden", { a: "Seeds" }], ["n", "thesis", { z: "New" }]), wish)).toBe("z");
  expect(grantedSince(before, fleet(["n", "thesis", { z: "New" }]), { ...wish, deviceId: 2 })).toBeUndefined();
});
