/** Plan first: in plan mode the model can only read, and ends its answer with a plan. A preset of permissions.ts. */
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { guard } from "./permissions.js";

export default function planMode(pi: HookAPI): void {
	guard(pi, "plan-mode");
}
