/** Blocks the write and edit tools on `.env` files, `.git` and `node_modules`, also through links: a preset of permissions.ts. */
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { guard } from "./permissions.js";

export default function protectedPaths(pi: HookAPI): void {
	guard(pi, "protected-paths");
}
