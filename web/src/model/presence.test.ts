import { expect, it } from "vitest";
import type { Phase } from "./connection";
import { isUnsure } from "./presence";

const devices = [{ deviceId: 100, deviceType: "app" as const, name: "Phone", icon: "", connectedAt: "" }];
const none = { devices: [] };
const online = { name: "online", failures: 0, since: 0, heardAt: 0, pingedAt: 0, device: null, rights: [] } as Phase;

it("says nothing of machines until the first connection stands and has named them", () => {
  for (const name of ["connecting", "authenticating"] as const)
    expect(isUnsure({ name, failures: 0, since: 0 }, none)).toBe(true);
  expect(isUnsure(online, none)).toBe(true);
  expect(isUnsure(online, { devices } as never)).toBe(false);
});

it("knows that they are out of reach once a try has failed or a connection was lost", () => {
  expect(isUnsure({ name: "connecting", failures: 1, since: 0 }, none)).toBe(false);
  expect(isUnsure({ name: "waiting", failures: 1, until: 0, lostAt: 0 }, none)).toBe(false);
  expect(isUnsure({ name: "fallback", lostAt: 0 }, none)).toBe(false);
  expect(isUnsure({ name: "connecting", failures: 0, since: 0 }, { devices } as never)).toBe(false);
});
