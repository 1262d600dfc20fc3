import { expect, test } from "vitest";
import { parseArgs } from "../../../src/cli/args.js";
import { run } from "../../cli/subcommands/run.js";
import { startSession } from "../../helpers/session.js";

test("/context bench names the command that plays this session, and that works", async () => {
	const { session, provider, agentDir, cwd } = await startSession({ session: { kind: "new" } });
	provider.reply("hello");
	await session.prompt("hi");
	const result = await session.prompt("/context bench");
	const [, line = ""] = /^(pi context bench .*)$/m.exec((result as { status?: string }).status ?? "") ?? [];
	expect(line).toBe(`pi context bench --sessions ${session.stats().sessionId.slice(0, 8)} pi:clear`);
	const parsed = parseArgs(line.split(" ").slice(1));
	if (parsed.kind !== "subcommand") throw new Error(`${line} is no command`);
	const { code, stdout } = await run(parsed.command, { ...parsed.options, agentDir, cwd });
	expect(code).toBe(0);
	expect(stdout).toMatch(/^pi:clear /m);
});

test("/context bench of a session in memory says why there is no command", async () => {
	const { session } = await startSession();
	expect(await session.prompt("/context bench")).toMatchObject({
		status: expect.stringContaining("This session is not saved"),
	});
});
