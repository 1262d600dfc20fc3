import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit } from "./support.js";

const REFUSE = "cat > /dev/null; echo 'not here' >&2; exit 2";

test("pi import asks, shows the changes and writes, and pi then uses all of it", async () => {
	const provider = await startProvider();
	const [agentDir, cwd, home] = [agentDirFor(provider), tempDir("pi-project-"), tempDir("pi-user-")];
	writeFiles(join(home, ".claude"), {
		"commands/review.md": "Review $1 with care.",
		"commands/other.md": "Other.",
		"settings.json": { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: REFUSE }] }] } },
	});
	const at = { agentDir, cwd, env: { HOME: home } };
	const asking = startPi({ ...at, args: ["import", "claude"] });
	await asking.waitForText("Take over which?");
	asking.type("9\r");
	await asking.waitForText(
		/Take over which\?[\s\S]*9 is not in the list, whose numbers are 1 to 3[\s\S]*Take over which\?/,
	);
	asking.type("2-3\r");
	const shown = await asking.waitForText("Write this? y/n");
	expect(shown).toMatch(/\+ +1 Review \$1 with care\.[\s\S]*settings\.json: turns pi:claude-hooks on/);
	expect(existsSync(join(agentDir, "prompts"))).toBe(false);
	asking.type("y\r");
	await asking.waitForText("Took over 2 items in 2 files");
	await asking.exited;
	expect(existsSync(join(agentDir, "prompts", "other.md"))).toBe(false);
	expect(readFileSync(join(agentDir, "prompts", "review.md"), "utf8")).toBe("Review $1 with care.");

	provider.reply([toolCall("bash", { command: "touch a" })], "I see.");
	const pi = await openPi(at);
	await submit(pi, "/review a.ts");
	await pi.waitForText("blocked by claude-hooks");
	await pi.waitForText("I see.");
	expect(conversation(provider, 1).join("\n")).toMatch(/Review a\.ts with care\.[\s\S]*not here/);
	expect(existsSync(join(cwd, "a"))).toBe(false);

	const again = await runPi(["import", "claude"], at);
	expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("--yes takes over 1 item") });
	expect(again.stdout.match(/taken over before/g)).toHaveLength(2);
});

test("Enter takes over nothing", async () => {
	const [agentDir, home] = [agentDirFor(await startProvider()), tempDir("pi-user-")];
	writeFiles(home, { ".codex/prompts/a.md": "A.", ".codex/config.toml": '[mcp_servers.a]\ncommand = "a"\n' });
	const pi = startPi({ agentDir, env: { HOME: home }, args: ["import", "codex"] });
	await pi.waitForText("Take over which?");
	pi.type("\r");
	await pi.exited;
	expect(existsSync(join(agentDir, "prompts"))).toBe(false);
	expect(existsSync(join(agentDir, "mcp.json"))).toBe(false);
});
