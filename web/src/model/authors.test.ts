import { expect, it } from "vitest";
import { whoIs } from "./authors";

const machines = [{ deviceId: 1, name: "Selene" }];
const author = { deviceKey: "phone", name: "Pixel" };

it("what this device did is its own, whatever number its connection had", () => {
  expect(whoIs({ author, deviceId: 104 }, { myKey: "phone", machines })).toEqual({ type: "me" });
  expect(whoIs({ author, deviceId: 107 }, { myKey: "laptop", machines })).toEqual({ type: "named", name: "Pixel" });
});

it("the number of a connection names nobody later; that of a machine does", () => {
  expect(whoIs({ deviceId: 104 }, { myKey: "phone", machines })).toEqual({ type: "unknown" });
  expect(whoIs({ deviceId: 1 }, { myKey: "phone", machines })).toEqual({ type: "named", name: "Selene" });
  expect(whoIs({}, { myKey: "phone", machines })).toBeUndefined();
});
