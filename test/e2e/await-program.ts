import { existsSync, readFileSync } from "node:fs";
import { inject, vi } from "vitest";

// Waits until `install-program.ts` has installed the program.
const installation = inject("installation");
if (!installation) throw new Error("install-program.ts did not run");
await vi.waitUntil(() => existsSync(installation.result), { timeout: 600_000, interval: 50 });
const failure = readFileSync(installation.result, "utf8");
if (failure) throw new Error(failure);
