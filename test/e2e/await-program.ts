import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { inject } from "vitest";

// Waits until `install-program.ts` has installed the program.
const installation = inject("installation");
if (!installation) throw new Error("install-program.ts did not run");
while (!existsSync(installation.result)) await delay(50);
const failure = readFileSync(installation.result, "utf8");
if (failure) throw new Error(failure);
