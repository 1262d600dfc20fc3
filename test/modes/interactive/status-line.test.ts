import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, onTestFinished, test } from "vitest";
import { QueueView } from "../../../src/modes/interactive/queue-view.js";
import { StatusLine } from "../../../src/modes/interactive/status-line.js";
import { SessionActivity } from "../../../src/session/activity.js";
import type { AgentSessionEvent } from "../../../src/session/events.js";
import { plainStyle } from "./plain-style.js";
import { reply, Script } from "./script.js";

/** A status line with a clock that the test sets. */
function createStatus() {
	const clock = { now: 0 };
	const status = new StatusLine(plainStyle(), () => clock.now);
	onTestFinished(() => status.stop());
	const line = (width = 80) => status.render(width)[0]?.slice(2);
	const activity = new SessionActivity();
	activity.subscribe((current) => status.handle({ type: "activity_changed", activity: current }));
	return { clock, status, line, activity };
}

test("an idle session shows no status line and runs no timer", () => {
	const { status, activity } = createStatus();
	const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
	const before = timers();
	expect(status.render(80)).toEqual([]);
	const run = activity.begin("run", { phase: "requesting" });
	expect(timers()).toBe(before + 1);
	run.enter("ending");
	expect(timers()).toBe(before);
	run.end();
	expect(timers()).toBe(before);
	expect(status.render(80)).toEqual([]);
});

test("an open dialog hides the status line and stops its timer until it closes", () => {
	const { status, line, activity } = createStatus();
	const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
	const before = timers();
	const command = activity.begin("command", { name: "pop" });
	expect(line()).toBe("/pop · 0 s · esc cancels");
	status.hide(true);
	expect(timers()).toBe(before);
	const run = activity.begin("run", { phase: "requesting" });
	expect(line()).toBe(undefined);
	expect(timers()).toBe(before);
	status.hide(false);
	expect(timers()).toBe(before + 1);
	expect(line()).toBe("thinking · 0 s · esc stops");
	run.end();
	command.end();
	expect(timers()).toBe(before);
});

test("a reply shows its phase, elapsed time and received tokens", () => {
	const { clock, status, line, activity } = createStatus();
	const script = new Script();
	const message = reply([{ thinking: "t".repeat(2000) }, { text: "w".repeat(2800) }]);
	activity.begin("run", { phase: "requesting" });
	for (const event of script.replyStart(message)) status.handle(event);
	clock.now = 12_000;
	expect(line()).toBe("thinking · 12 s · esc stops");
	for (const event of script.updates(message, 100)) status.handle(event);
	expect(line()).toBe("writing · 12 s · ↓ 1.2k · esc stops");
});

test("a reply that is silent for 20 s is said to be, until more of it arrives", () => {
	const { clock, status, line, activity } = createStatus();
	const script = new Script();
	activity.begin("run", { phase: "requesting" });
	const message = reply([{ text: "w".repeat(400) }]);
	for (const event of script.replyStart(message)) status.handle(event);
	clock.now = 19_000;
	expect(line()).toBe("thinking · 19 s · esc stops");
	clock.now = 21_000;
	expect(line()).toBe("thinking · 21 s · no data for 21 s · esc stops");
	for (const event of script.updates(message, 100)) status.handle(event);
	expect(line()).toBe("writing · 21 s · ↓ 100 · esc stops");
	clock.now = 41_000;
	expect(line()).toBe("writing · 41 s · ↓ 100 · no data for 20 s · esc stops");
});

test("tools are shown with their main argument, and parallel tools are counted", () => {
	const { clock, status, line, activity } = createStatus();
	activity.begin("run", { phase: "tools" });
	const start = (toolCallId: string, args: Record<string, unknown>): AgentSessionEvent => {
		return { type: "tool_execution_start", toolCallId, toolName: "read", args };
	};
	status.handle(start("a", { path: "src/price.ts" }));
	status.handle(start("b", { path: "\u001b[2Jb.ts" }));
	clock.now = 3000;
	expect(line()).toBe("read src/price.ts +1 · 3 s · esc stops");
	const result = { content: [] };
	status.handle({ type: "tool_execution_end", toolCallId: "a", toolName: "read", result, isError: false });
	expect(line()).not.toContain("\u001b");
	expect(line()).toContain("b.ts · 3 s");
});

test("a retry counts down", () => {
	const { clock, status, line, activity } = createStatus();
	const run = activity.begin("run", { phase: "requesting" });
	const retry = { attempt: 2, maxAttempts: 3, delayMs: 4000, errorMessage: "529 overloaded" };
	run.enter("retrying");
	status.handle({ type: "auto_retry_start", ...retry });
	expect(line()).toBe("retry 2/3 in 4 s · 529 overloaded · esc stops");
	clock.now = 3500;
	expect(line()).toBe("retry 2/3 in 1 s · 529 overloaded · esc stops");
	run.enter("requesting");
	expect(line()).toBe("thinking · 3 s · esc stops");
});

test("compaction, shell commands and slash commands are shown while they run", () => {
	const { status, line, activity } = createStatus();
	const command = activity.begin("command", { name: "compact" });
	expect(line()).toBe("/compact · 0 s · esc cancels");
	const compacting = activity.begin("compacting", { name: "manual" });
	expect(line()).toBe("compacting · 0 s · esc cancels");
	compacting.end();
	command.end();
	const shell = activity.begin("shell", { name: "sleep 9" });
	expect(line()).toBe("! sleep 9 · 0 s · esc stops");
	status.handle({ type: "bash_start", command: "sleep 9", excludeFromContext: true });
	expect(line()).toBe("!! sleep 9 · 0 s · esc stops");
	shell.end();
	const next = activity.begin("shell", { name: "true" });
	expect(line()).toBe("! true · 0 s · esc stops");
	next.end();
	expect(status.render(80)).toEqual([]);
});

test("a slow handler is shown with its hook, and no key when nothing can be stopped", () => {
	const { clock, status, line, activity } = createStatus();
	const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
	const before = timers();
	const slow = { hookPath: "/x/hooks/stack.ts", event: "tool_call" };
	const run = activity.begin("run", { phase: "tools" });
	status.handle({ type: "tool_execution_start", toolCallId: "a", toolName: "bash", args: { command: "npm test" } });
	clock.now = 1250;
	status.handle({ type: "hook_running", ...slow, ms: 250 });
	clock.now = 4000;
	expect(line()).toBe("hook stack · tool_call · 3 s · esc stops");
	status.handle({ type: "hook_done", ...slow });
	expect(line()).toBe("bash npm test · 4 s · esc stops");
	run.end();
	status.handle({ type: "hook_running", ...slow, event: "session", ms: 250 });
	expect(line()).toBe("hook stack · session · 0 s");
	status.handle({ type: "hook_done", ...slow, event: "session" });
	expect(status.render(80)).toEqual([]);
	expect(timers()).toBe(before);
});

test("on a narrow screen the command is cut, and time and key remain as long as they fit", () => {
	const { status, line, activity, clock } = createStatus();
	activity.begin("shell", { name: "npm run something with a long name" });
	clock.now = 12_000;
	expect(line(40)).toBe("! npm run somethin… · 12 s · esc stops");
	expect(line(30)).toBe("! npm ru… · 12 s · esc stops");
	expect(line(24)).toBe("! npm run some… · 12 s");
	expect(line(12)).toBe("! npm r… …");
	for (let width = 1; width < 60; width++) {
		expect(status.render(width).every((text) => visibleWidth(text) <= width)).toBe(true);
	}
});

test("queued prompts show when they are sent and how to edit them", () => {
	const queue = new QueueView(plainStyle());
	expect(queue.render(80)).toEqual([]);
	queue.queue = { steering: ["also fix the tests"], followUps: ["then\ncommit", "2", "3", "4", "5"] };
	expect(queue.render(80)).toEqual([
		"→ next: also fix the tests",
		"⇥ after: then ↵ commit",
		"⇥ after: 2",
		"⇥ after: 3",
		"         … 2 more",
		"  alt+↑ edits",
	]);
	for (let width = 1; width < 40; width++) {
		expect(queue.render(width).every((text) => visibleWidth(text) <= width)).toBe(true);
	}
});
