// A second try for a failed test, where `ESTELLE_SECOND_TRY=1` asks for it: in CI, never by hand.
// Whatever needed one is named at the end, so that it is looked into.
import type { Reporter, TestModule } from "vitest/node";

export interface SecondTry {
  retry?: number;
  reporters?: (string | Reporter)[];
}

export function secondTry(environment: Record<string, string | undefined>): SecondTry {
  return environment.ESTELLE_SECOND_TRY === "1" ? { retry: 1, reporters: ["default", retried] } : {};
}

/** Names every test that passed only when it was tried again. */
const retried: Reporter = {
  onTestRunEnd(modules) {
    for (const line of linesOf(modules)) console.log(line);
  },
};

export function linesOf(modules: readonly Pick<TestModule, "children" | "relativeModuleId">[]): string[] {
  return modules.flatMap((module) =>
    [...module.children.allTests()]
      .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
      .map((test) => `Tried again: ${module.relativeModuleId} > ${test.fullName} (${test.result().state})`),
  );
}
