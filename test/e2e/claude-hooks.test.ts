import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, answer, openPi, submit, untilGone } from "./support.js";

const LOG = 'cat >> "$CLAUDE_PROJECT_DIR"/log.jsonl';
const hooks = (command: string) => ({
	hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command }] }] },
});
const TOUCH = [toolCall("bash", { command: "touch a" })];

test("a hook of Claude Code blocks a call on the screen, and Escape ends one that runs", async () => {
	const provider = await startProvider();
	provider.reply(TOUCH, "I see.", TOUCH);
	const command = "test -e wait && { touch started; exec sleep 60; }; echo 'no touching' >&2; exit 2";
	const agentDir = agentDirFor(provider, {
		settings: { hooks: ["pi:claude-hooks"] },
		files: { "claude-hooks/settings.json": JSON.stringify(hooks(command)) },
	});
	const cwd = tempDir();
	const pi = await openPi({ agentDir, cwd });
	await submit(pi, "go");
	await pi.waitForText(/blocked by claude-hooks/);
	await pi.waitForText(/I see\./);
	writeFiles(cwd, { wait: "" });
	await submit(pi, "again");
	await expect.poll(() => existsSync(join(cwd, "started")), { timeout: 15_000 }).toBe(true);
	await pi.press("escape");
	await pi.waitForText(/[Ss]topped|canceled|interrupted/);
	expect(existsSync(join(cwd, "a"))).toBe(false);
	expect(provider.requests[1]?.messages.at(-1)?.text).toBe("no touching");
});

test("Escape ends a Stop hook that hangs, and a prompt typed meanwhile returns to the editor", async () => {
	const provider = await startProvider();
	provider.reply("The answer.");
	const agentDir = agentDirFor(provider, {
		settings: { hooks: ["pi:claude-hooks"] },
		files: {
			"claude-hooks/settings.json": JSON.stringify({
				hooks: { Stop: [{ hooks: [{ type: "command", command: "echo $$ > pid; exec sleep 430" }] }] },
			}),
		},
	});
	const cwd = tempDir();
	const pi = await openPi({ agentDir, cwd });
	await submit(pi, "go");
	await pi.waitForText("agent_settled");
	await expect.poll(() => existsSync(join(cwd, "pid")), { timeout: 15_000 }).toBe(true);
	await submit(pi, "and now this");
	await pi.waitForText("→ next: and now this");
	await pi.press("escape");
	const pid = Number(readFileSync(join(cwd, "pid"), "utf8"));
	await untilGone(pid);
	await pi.waitForText(/^ +and now this/m);
	expect(provider.requests).toHaveLength(1);
});

test("the question about a project lists its hooks of Claude Code and their scripts, and runs them after yes", async () => {
	const provider = await startProvider();
	provider.reply(TOUCH, "Done.");
	const cwd = tempDir();
	writeFiles(cwd, {
		".pi/claude-hooks/settings.json": hooks('sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/log.sh'),
		".claude/hooks/log.sh": LOG,
	});
	const agentDir = agentDirFor(provider, { settings: { hooks: ["pi:claude-hooks"] } });
	const pi = await openPi({ agentDir, cwd });
	expect(await pi.waitForText("Run it?")).toMatch(/\.claude\/hooks\/log\.sh[\s\S]*\.pi\/claude-hooks\/settings\.json/);
	await answer(pi, "y");
	await pi.waitForGone("Run it?");
	await submit(pi, "go");
	await pi.waitForText(/Done\./);
	expect(JSON.parse(readFileSync(join(cwd, "log.jsonl"), "utf8"))).toMatchObject({
		...{ hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "touch a" } },
		transcript_path: expect.stringMatching(/\.jsonl$/),
	});
});

test("pi -p names a malformed file on stderr and runs no tool", async () => {
	const provider = await startProvider();
	provider.reply(TOUCH, "I cannot.");
	const agentDir = agentDirFor(provider, {
		settings: { hooks: ["pi:claude-hooks"] },
		files: { "claude-hooks/settings.json": "{" },
	});
	const cwd = tempDir();
	const { stdout, stderr, code } = await runPi(["-p", "go"], { agentDir, cwd });
	expect({ stdout, code }).toEqual({ stdout: "I cannot.\n", code: 0 });
	expect(stderr).toContain(
		"settings.json: it is not valid JSON in line 1, column 2 · correct it, or turn pi:claude-hooks off in /hooks",
	);
	expect(existsSync(join(cwd, "a"))).toBe(false);
});
