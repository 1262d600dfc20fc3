/**
 * Asks before you clear, switch or branch the session while the work tree has uncommitted changes, because the new
 * conversation does not know about them. Without a screen it does not ask or block: no file is at risk.
 */
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

const QUESTIONS: Record<string, string> = {
	before_clear: "Start a new session?",
	before_switch: "Switch to the other session?",
	before_branch: "Branch from the earlier message?",
};

export default function confirmDestructive(pi: HookAPI): void {
	pi.on("session", async (event, ctx) => {
		const question = QUESTIONS[event.reason];
		if (question === undefined || !ctx.hasUI) return undefined;
		const { code, stdout } = await ctx.exec("git", ["-c", "core.fsmonitor=false", "status", "--porcelain"], {
			onHost: true,
		});
		const files = stdout.split("\n").filter(Boolean).length;
		if (code !== 0 || files === 0) return undefined;
		const changes = `${files} ${files === 1 ? "file has" : "files have"} uncommitted changes.`;
		return (await ctx.ui.confirm(question, changes)) ? undefined : { cancel: true };
	});
}
