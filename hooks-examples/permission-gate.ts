/** Asks before every bash command that is not clearly harmless: a preset of permissions.ts. */
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { guard } from "./permissions.js";

export default function permissionGate(pi: HookAPI): void {
	guard(pi, "permission-gate");
}
